"""A client as the library document describes it: a child process, one line per request and per reply, and the first
text parsed as JSON."""

import asyncio
import itertools
import json
import os
import subprocess
import sys

from calls import ask_all, report, value_of


class LibraryClient:
    def __init__(self, command):
        self.command = command
        self.ids = itertools.count(1)

    def start(self):
        pipe = subprocess.PIPE
        self.child = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
        about = {"name": "library-client", "version": "1.0.0"}
        params = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "clientInfo": about}
        assert "serverInfo" in self.request("initialize", params)["result"]
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})

    def send(self, message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def request(self, method, params):
        wanted = next(self.ids)
        self.send({"jsonrpc": "2.0", "id": wanted, "method": method, "params": params})
        # This client treats the next line as the reply.
        line = self.child.stdout.readline()
        if line == "":
            raise EOFError("MCP server closed connection")
        reply = json.loads(line)
        assert reply["id"] == wanted, line
        return reply

    def list_tools(self):
        return [tool["name"] for tool in self.request("tools/list", {})["result"]["tools"]]

    async def call_tool(self, name, arguments):
        reply = self.request("tools/call", {"name": name, "arguments": arguments})
        if "error" in reply or reply["result"].get("isError"):
            return {"failed": name}
        result = reply["result"]
        return value_of(result["content"][0]["text"], result.get("structuredContent"))

    def stop(self):
        self.child.terminate()
        self.child.wait()


os.environ.update(json.loads(sys.argv[2]))
client = LibraryClient(json.loads(sys.argv[1]))
client.start()
try:
    report(client.list_tools(), asyncio.run(ask_all(client.call_tool)))
finally:
    client.stop()
