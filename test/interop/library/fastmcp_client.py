"""The client of fastmcp. The server of the first library follows its conventions."""

import asyncio
import json
import os
import sys

from fastmcp import Client
from fastmcp.client.transports import StdioTransport

from calls import ask_all, report, value_of


async def main():
    command, *args = json.loads(sys.argv[1])
    env = {**os.environ, **json.loads(sys.argv[2])}
    async with Client(StdioTransport(command=command, args=args, env=env)) as client:

        async def call(name, arguments):
            try:
                result = await client.call_tool(name, arguments, raise_on_error=False)
            except Exception as error:
                return {"failed": name} if "MCPError" in type(error).__name__ else {"raised": repr(error)}
            return {"failed": name} if result.is_error else value_of(result.content[0].text, result.structured_content)

        report([tool.name for tool in await client.list_tools()], await ask_all(call))


asyncio.run(main())
