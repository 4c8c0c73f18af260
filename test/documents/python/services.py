"""Two services in Python on one port: plain HTTP under `/tools` and `/execute/…`, and MCP at `/mcp`, by key."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCHEMA = {"type": "object", "properties": {"reed": {"type": "string"}}, "required": ["reed"]}


def cut(params):
    if params["reed"] == "rare":
        raise PermissionError("the reed is protected")
    return {"cut": params["reed"]}


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_words):
        pass

    def reply(self, status, value, kind="application/json"):
        body = value.encode() if isinstance(value, str) else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/tools":
            return self.reply(200, [{"name": "cut", "description": "Cuts reed", "input_schema": SCHEMA}])
        return self.reply(405, "Method not allowed", "text/plain")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/execute/cut":
            try:
                return self.reply(200, cut(body))
            except PermissionError as error:
                return self.reply(403, str(error), "text/plain")
        if self.path != "/mcp":
            return self.reply(404, "Tool not found", "text/plain")
        if self.headers.get("X-Reed-Key") != "marsh-key":
            return self.reply(401, "the key is wrong", "text/plain")
        if "id" not in body:
            return self.reply(202, "", "text/plain")
        answer = self.answer(body["method"], body.get("params", {}))
        return self.reply(200, {"jsonrpc": "2.0", "id": body["id"], **answer})

    def answer(self, method, params):
        if method == "initialize":
            about = {"name": "reeds", "version": "2"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": about}}
        if method == "tools/list":
            return {"result": {"tools": [{"name": "cut", "description": "Cuts reed", "inputSchema": SCHEMA}]}}
        if method == "tools/call":
            try:
                return {"result": {"content": [{"type": "text", "text": json.dumps(cut(params["arguments"]))}]}}
            except PermissionError as error:
                return {"result": {"content": [{"type": "text", "text": str(error)}], "isError": True}}
        return {"error": {"code": -32601, "message": "Method not found"}}


server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
