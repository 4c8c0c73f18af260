"""The Python SDK 1.x."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from calls import ask_all, report, value_of


async def main():
    command, *args = json.loads(sys.argv[1])
    server = StdioServerParameters(command=command, args=args, env={**os.environ, **json.loads(sys.argv[2])})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()

        async def call(name, arguments):
            result = await session.call_tool(name, arguments)
            return {"failed": name} if result.isError else value_of(result.content[0].text, result.structuredContent)

        async def safely(name, arguments):
            try:
                return await call(name, arguments)
            except Exception as error:
                return {"failed": name} if type(error).__name__ == "McpError" else {"raised": repr(error)}

        report([tool.name for tool in (await session.list_tools()).tools], await ask_all(safely))


asyncio.run(main())
