"""The partner server on the Python SDK 1.x: `server.py [--http]`."""

import os
import socket
import sys
import time

time.sleep(int(os.environ.get("PARTNER_START_MS", "0")) / 1000)

import anyio
from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from pydantic import BaseModel

server = FastMCP("python-1", instructions="Notes of python-1.", log_level="ERROR")
cancelled = 0


class Answer(BaseModel):
    answer: str


@server.tool()
def quick(text: str) -> str:
    return f"quick: {text}"


@server.tool()
async def ask(question: str, ctx: Context) -> str:
    result = await ctx.elicit(question, Answer)
    return f"answer: {result.data.answer}" if result.action == "accept" else f"answer: {result.action}"


@server.tool()
async def sample(text: str, ctx: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    result = await ctx.session.create_message([message], max_tokens=10, related_request_id=ctx.request_id)
    return f"sampled: {result.content.text}"


@server.tool()
async def work(ctx: Context) -> str:
    for step in range(1, 7):
        await ctx.report_progress(step, 6)
        await anyio.sleep(0.5)
    return "worked"


@server.tool()
async def hang(ctx: Context) -> str:
    global cancelled
    await ctx.report_progress(1, 2)
    try:
        await anyio.sleep(60)
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        raise
    return "not cancelled"


@server.tool()
def heard() -> str:
    return f"cancelled: {cancelled}"


@server.tool()
async def change(ctx: Context) -> str:
    server.add_tool(extra, name="extra")
    await ctx.session.send_tool_list_changed()
    return "changed"


def extra() -> str:
    return "extra"


@server.resource("note://partner")
def note() -> str:
    return "a note"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}"


if "--http" in sys.argv:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server.settings.port = probe.getsockname()[1]
    print(f"url http://127.0.0.1:{server.settings.port}/mcp", flush=True)
    server.run("streamable-http")
else:
    server.run("stdio")
