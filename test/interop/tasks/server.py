"""MCP server of the Python SDK 1.x with tasks of 2025-11-25, on stdio."""

import asyncio

from mcp import types
from mcp.server.experimental.task_context import ServerTaskContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server = Server("tasks-python")
server.experimental.enable_tasks()
SCHEMA = {"type": "object", "properties": {}}
TOOLS = ("slow", "asks", "fails", "waits")


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    execution = types.ToolExecution(taskSupport=types.TASK_REQUIRED)
    return [types.Tool(name=name, description=name, inputSchema=SCHEMA, execution=execution) for name in TOOLS]


def text(value: str, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=value)], isError=is_error)


@server.call_tool()
async def call_tool(name: str, _arguments: dict) -> types.CreateTaskResult:
    context = server.request_context
    context.experimental.validate_task_mode(types.TASK_REQUIRED)

    async def work(task: ServerTaskContext) -> types.CallToolResult:
        await task.update_status(f"running {name}")
        if name == "fails":
            return text("no paper", True)
        if name == "asks":
            answer = await task.elicit(message="Sure?", requestedSchema={"type": "object", "properties": {}})
            return text(f"answered {answer.action}")
        if name == "waits":
            await asyncio.sleep(60)
        return text(f"done {name}")

    return await context.experimental.run_task(work)


async def main() -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


asyncio.run(main())
