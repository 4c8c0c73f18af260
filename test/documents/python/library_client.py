"""The client of the library document, as its skeleton is printed there: it writes one line and reads one line."""

import asyncio
import json
import os
import sys
from dataclasses import dataclass
from typing import Any


@dataclass
class ToolDefinition:
    name: str
    description: str
    input_schema: dict[str, Any]


class MCPClient:
    def __init__(self, server_path, env=None):
        self.server_path, self.env, self.process, self.request_id = server_path, env or {}, None, 0

    async def start(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, self.server_path, stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **self.env}
        )
        opening = {
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "clientInfo": {"name": "reading-room", "version": "0.3"},
        }
        self.opened = await self._send_request("initialize", opening)
        await self._send_notification("notifications/initialized", {})

    async def _send(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        await self.process.stdin.drain()

    async def _send_request(self, method, params):
        self.request_id += 1
        await self._send({"jsonrpc": "2.0", "id": self.request_id, "method": method, "params": params})
        line = await self.process.stdout.readline()
        response = json.loads(line.decode())
        assert response["id"] == self.request_id, response
        return response.get("result") or {"isError": True, **response["error"]}

    async def _send_notification(self, method, params):
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def list_tools(self):
        result = await self._send_request("tools/list", {})
        return [
            ToolDefinition(name=tool["name"], description=tool["description"], input_schema=tool["inputSchema"])
            for tool in result.get("tools", [])
        ]

    async def call_tool(self, tool_name, arguments):
        result = await self._send_request("tools/call", {"name": tool_name, "arguments": arguments})
        content = result.get("content", [])
        if content and content[0].get("type") == "text" and not result.get("isError"):
            return json.loads(content[0]["text"])
        return result

    async def stop(self):
        if self.process:
            self.process.terminate()
            return await self.process.wait()
        return None


async def main(server, book):
    told = {}
    await MCPClient(server).stop()
    client = MCPClient(server, env={"LIBRARY_ROOTS": os.path.dirname(book)})
    await client.start()
    try:
        tools = {tool.name: tool for tool in await client.list_tools()}
        told["revision"] = client.opened["protocolVersion"]
        told["tools"] = sorted(tools)
        told["search"] = tools["search_chunks"].input_schema
        told["parse"] = tools["parse_pdf"].input_schema["required"]
        told["parsed"] = await client.call_tool("parse_pdf", {"pdf_path": os.path.basename(book)})
        told["found"] = await client.call_tool(
            "search_chunks", {"query": "What does the engine weave?", "limit": 2, "author_filter": "Ada Lovelace"}
        )
        told["none"] = await client.call_tool("search_chunks", {"query": "engine", "author_filter": "Nobody"})
        told["wrong"] = await client.call_tool("search_chunks", {"limit": 3})
    finally:
        told["ended"] = await client.stop()
    print(json.dumps(told))


asyncio.run(main(*sys.argv[1:]))
