"""Programs that a reader of the documents would write in Python: a client of a server on stdio, and a binding that
uses it."""

import asyncio
import json
import os
import sys


class MCPClient:
    def __init__(self, command, env=None):
        self.command, self.env, self.process, self.last = command, env or {}, None, 0

    async def start(self):
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *self.command, stdin=pipe, stdout=pipe, stderr=pipe, env={**os.environ, **self.env}, limit=1 << 24
        )
        self.logs = asyncio.create_task(self.process.stderr.read())
        about = {"name": "heron-counter", "version": "0.1.0"}
        opening = {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "clientInfo": about}
        self.server = (await self.ask("initialize", opening))["result"]
        await self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def stop(self):
        self.process.stdin.close()
        self.code = await self.process.wait()
        await self.logs

    async def write(self, message):
        self.process.stdin.write((json.dumps(message) + "\n").encode())
        await self.process.stdin.drain()

    async def ask(self, method, params=None):
        self.last += 1
        await self.write({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params or {}})
        while True:
            answer = json.loads(await self.process.stdout.readline())
            if answer.get("id") == self.last:
                return answer

    async def list_tools(self):
        return (await self.ask("tools/list"))["result"]["tools"]

    async def call_tool(self, name, arguments):
        return await self.ask("tools/call", {"name": name, "arguments": arguments})


class HubBinding:
    """The contract of bindings: `discover_tools` and `execute_tool`."""

    binding_name = "heron_hub"

    def __init__(self, client):
        self.client = client

    async def discover_tools(self, force_refresh=False, timeout_per_server=10):
        listed = await asyncio.wait_for(self.client.list_tools(), timeout_per_server)
        return [
            {"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]}
            for tool in listed
        ]

    async def execute_tool(self, tool_name, params, timeout=30):
        answer = await asyncio.wait_for(self.client.call_tool(tool_name, params), timeout)
        if "error" in answer:
            message = answer["error"]["message"]
            return {"error": message, "status_code": 404 if "Unknown tool" in message else 400}
        [content] = answer["result"]["content"]
        if answer["result"].get("isError"):
            return {"error": content["text"], "status_code": 500}
        return {"output": json.loads(content["text"]), "status_code": 200}


async def main(command):
    client = MCPClient(command, {"MARSH": "Camargue"})
    await client.start()
    try:
        binding = HubBinding(client)
        tools = await binding.discover_tools(force_refresh=True)
        told = {
            "revision": client.server["protocolVersion"],
            "tools": {tool["name"]: tool["input_schema"].get("required") for tool in tools},
            "counted": await binding.execute_tool("heron", {"species": ["grey", "purple"]}),
            "failed": await binding.execute_tool("heron", {"species": ["pink"]}),
            "lacking": await binding.execute_tool("heron", {}),
            "unknown": await binding.execute_tool("stork", {}),
        }
    finally:
        await client.stop()
    print(json.dumps({**told, "code": client.code}))


asyncio.run(main(sys.argv[1:]))
