"""A server on stdio that uses only the standard library."""

import json
import os
import sys

NUMBERS = {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}, "required": ["a", "b"]}
NAMES = ("multiply", "divide")
TOOLS = [{"name": name, "description": name + " two numbers", "inputSchema": NUMBERS} for name in NAMES]


def answer(method, params):
    if method == "initialize":
        about = {"name": "calc", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "ping":
        return {}
    a, b = params["arguments"]["a"], params["arguments"]["b"]
    try:
        value = a * b if params["name"] == "multiply" else a / b
    except ZeroDivisionError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    value = {"value": value, "unit": os.environ.get("UNIT"), "at": os.path.basename(os.getcwd())}
    return {"content": [{"type": "text", "text": json.dumps(value)}], "structuredContent": value}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    print(message["method"], file=sys.stderr, flush=True)
    result = answer(message["method"], message.get("params", {}))
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
