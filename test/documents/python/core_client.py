"""A client of the core's JSON-RPC over HTTP in Python: a tool's name is a method."""

import json
import sys
import urllib.error
import urllib.request

ADDRESS = sys.argv[1]


def post(message, path="/jsonrpc"):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    request = urllib.request.Request(ADDRESS + path, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request) as response:
            return [response.status, json.load(response)]
    except urllib.error.HTTPError as error:
        with error:
            return [error.code, json.load(error)]


def ask(method, identity, **params):
    return post({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


capabilities = ask("mcp/discover", "first")[1]["result"]
print(
    json.dumps(
        {
            "version": capabilities["mcp_version"],
            "tools": [tool["name"] for tool in capabilities["tools"] if not tool["name"].startswith("meta.")],
            "resources": [resource["uri_template"] for resource in capabilities["resources"]],
            "count": ask("marsh.count", 7, birds=["heron", "bittern"]),
            "wrong": ask("marsh.count", "w", birds="heron"),
            "lacking": ask("marsh.count", "l"),
            "unknown": ask("marsh.drain", 0),
            "failed": ask("marsh.count", "f", birds=[]),
            "resource": ask("resource/get", 9, uri="marsh://camargue"),
            "broken": post(b'{"jsonrpc"'),
        }
    )
)
