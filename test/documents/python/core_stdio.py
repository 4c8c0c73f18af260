"""A client of the core's JSON-RPC on stdio in Python, line by line: it sends all requests first, and matches
answers by id."""

import json
import subprocess
import sys

SENT = [
    b"",
    b"   ",
    b'{"jsonrpc": "2.0", "meth',
    {"jsonrpc": "2.0", "id": "no-method"},
    {"jsonrpc": "1.0", "id": "old", "method": "mcp/discover"},
    {"jsonrpc": "2.0", "id": "slow", "method": "peat.burn", "params": {"seconds": 1}},
    {"jsonrpc": "2.0", "id": "caps", "method": "mcp/discover"},
    {"jsonrpc": "2.0", "id": 11, "method": "get_mcp_server_capabilities"},
    {"jsonrpc": "2.0", "id": "plain", "method": "peat.weigh"},
    {"jsonrpc": "2.0", "id": 0, "method": "peat.cut", "params": {"metres": 3}},
    {"jsonrpc": "2.0", "id": "wrong", "method": "peat.cut", "params": {"metres": "three"}},
    {"jsonrpc": "2.0", "id": "soil", "method": "peat.cut", "params": {"metres": 3, "soil": "clay"}},
    {"jsonrpc": "2.0", "id": "lacking", "method": "peat.cut", "params": {}},
    {"jsonrpc": "2.0", "id": "failed", "method": "peat.cut", "params": {"metres": 99}},
    {"jsonrpc": "2.0", "id": "nothing", "method": "peat.rest"},
    {"jsonrpc": "2.0", "id": "unknown", "method": "peat.drain", "params": {}},
    {"jsonrpc": "2.0", "id": "bog", "method": "resource/get", "params": {"uri": "bog://allen/7"}},
    {"jsonrpc": "2.0", "id": "dry", "method": "resource/get", "params": {"uri": "bog://dry/7"}},
    {"jsonrpc": "2.0", "id": "no-uri", "method": "resource/get", "params": {}},
    {"jsonrpc": "2.0", "id": "no-bog", "method": "resource/get", "params": {"uri": "fen://allen"}},
    {"jsonrpc": "2.0", "id": "status", "method": "meta.get_server_status"},
    {"jsonrpc": "2.0", "id": "full", "method": "meta.get_full_capabilities"},
    {"jsonrpc": "2.0", "id": "module", "method": "meta.get_module_info", "params": {"module_name": "src.peat.mcp"}},
    {"jsonrpc": "2.0", "id": "none", "method": "meta.get_module_info", "params": {"module_name": "src.turf.mcp"}},
    {"jsonrpc": "2.0", "id": "ping", "method": "meta.ping"},
    {"jsonrpc": "2.0", "method": "peat.weigh"},
]

lines = [message if isinstance(message, bytes) else json.dumps(message).encode() for message in SENT]
done = subprocess.run(sys.argv[1:], input=b"\n".join(lines) + b"\n", capture_output=True, check=False)
answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
print(
    json.dumps(
        {
            "code": done.returncode,
            "stderr": done.stderr.decode(),
            "order": [answer["id"] for answer in answers],
            "versions": sorted({answer["jsonrpc"] for answer in answers}),
            "answers": {str(answer["id"]): answer.get("error", answer.get("result")) for answer in answers},
            "members": {str(answer["id"]): sorted(answer) for answer in answers},
        }
    )
)
