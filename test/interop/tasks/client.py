"""Client of the Python SDK 1.x with tasks of 2025-11-25: `client.py COMMAND…`. Prints its observations as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import McpError

FINAL = {"completed", "failed", "cancelled"}


async def decline(_context, _params):
    return types.ElicitResult(action="decline")


async def code_of(awaitable) -> int | str:
    try:
        await awaitable
        return "no error"
    except McpError as error:
        return error.error.code


class Observer:
    def __init__(self, session: ClientSession, names: dict[str, str]) -> None:
        self.session = session
        self.tasks = session.experimental
        self.names = names

    async def start(self, name: str) -> str:
        return (await self.tasks.call_tool_as_task(self.names[name], {}, ttl=60000)).task.taskId

    async def status(self, task_id: str) -> str:
        while True:
            status = (await self.tasks.get_task(task_id)).status
            if status in FINAL:
                return status
            await asyncio.sleep(0.05)

    async def whole(self, name: str) -> dict:
        task_id = await self.start(name)
        result = await self.tasks.get_task_result(task_id, types.CallToolResult)
        related = (result.meta or {}).get("io.modelcontextprotocol/related-task", {}).get("taskId")
        return {
            "text": result.content[0].text,
            "isError": bool(result.isError),
            "status": await self.status(task_id),
            "isRelated": related == task_id,
        }

    async def cancelled(self) -> dict:
        task_id = await self.start("waits")
        await self.tasks.cancel_task(task_id)
        again = await code_of(self.tasks.cancel_task(task_id))
        listed = [task.taskId for task in (await self.tasks.list_tasks()).tasks]
        return {"status": await self.status(task_id), "again": again, "isListed": task_id in listed}

    async def plain(self) -> str:
        try:
            result = await self.session.call_tool(self.names["slow"], {})
            return result.content[0].text
        except McpError as error:
            return f"error {error.error.code}"


async def main() -> None:
    command, *args = sys.argv[1:]
    async with stdio_client(StdioServerParameters(command=command, args=args)) as (read, write):
        async with ClientSession(read, write, elicitation_callback=decline) as session:
            opened = await session.initialize()
            listed = (await session.list_tools()).tools
            names = {tool.name.split("__")[-1]: tool.name for tool in listed}
            observer = Observer(session, names)
            observed = {
                "hasTasks": opened.capabilities.tasks is not None,
                "support": listed[[tool.name for tool in listed].index(names["slow"])].execution.taskSupport,
                "slow": await observer.whole("slow"),
                "asks": await observer.whole("asks"),
                "fails": await observer.whole("fails"),
                "cancelled": await observer.cancelled(),
                "unknown": await code_of(observer.tasks.get_task("none")),
                "plain": await observer.plain(),
            }
            print(json.dumps(observed))


asyncio.run(main())
