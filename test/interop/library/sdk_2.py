"""The Python SDK 2.x, in the era that it chooses by itself."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

from calls import ask_all, report, value_of


async def main():
    command, *args = json.loads(sys.argv[1])
    server = StdioServerParameters(command=command, args=args, env={**os.environ, **json.loads(sys.argv[2])})
    async with Client(server) as client:

        async def call(name, arguments):
            try:
                result = await client.call_tool(name, arguments)
            except Exception as error:
                return {"failed": name} if type(error).__name__ == "MCPError" else {"raised": repr(error)}
            return {"failed": name} if result.is_error else value_of(result.content[0].text, result.structured_content)

        report([tool.name for tool in (await client.list_tools()).tools], await ask_all(call))


asyncio.run(main())
