"""The partner server on the Python SDK 2.x, which speaks both eras: `server.py [--http]`."""

import os
import socket
import sys
import time

time.sleep(int(os.environ.get("PARTNER_START_MS", "0")) / 1000)

from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, Elicit, ElicitationResult, MCPServer, Resolve, Sample
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel

server = MCPServer("python-2", instructions="Notes of python-2.", log_level="ERROR")
cancelled = 0


class Answer(BaseModel):
    answer: str


def message_of(text: str) -> SamplingMessage:
    return SamplingMessage(role="user", content=TextContent(type="text", text=text))


@server.tool()
def quick(text: str) -> str:
    return f"quick: {text}"


@server.tool()
async def ask(question: str, ctx: Context) -> str:
    result = await ctx.elicit(question, Answer)
    return f"answer: {result.data.answer}" if result.action == "accept" else f"answer: {result.action}"


async def question_of(question: str) -> Elicit[Answer]:
    return Elicit(question, Answer)


@server.tool()
async def ask_modern(question: str, reply: Annotated[ElicitationResult[Answer], Resolve(question_of)]) -> str:
    return f"answer: {reply.data.answer}" if reply.action == "accept" else f"answer: {reply.action}"


@server.tool()
async def sample(text: str, ctx: Context) -> str:
    result = await ctx.session.create_message([message_of(text)], max_tokens=10, related_request_id=ctx.request_id)
    return f"sampled: {result.content.text}"


async def sampling_of(text: str) -> Sample:
    return Sample([message_of(text)], max_tokens=10)


@server.tool()
async def sample_modern(text: str, reply: Annotated[CreateMessageResult, Resolve(sampling_of)]) -> str:
    return f"sampled: {reply.content.text}"


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


@server.tool()
async def change_modern(ctx: Context) -> str:
    server.add_tool(extra, name="extra")
    await ctx.notify_tools_changed()
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
        port = probe.getsockname()[1]
    print(f"url http://127.0.0.1:{port}/mcp", flush=True)
    server.run("streamable-http", port=port)
else:
    server.run("stdio")
