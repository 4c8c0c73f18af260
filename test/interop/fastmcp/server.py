"""The partner server on fastmcp 4, which speaks both eras: `server.py [--http]`."""

import os
import socket
import sys
import time

time.sleep(int(os.environ.get("PARTNER_START_MS", "0")) / 1000)

import anyio
import mcp_types as types
from fastmcp import Context, FastMCP
from pydantic import BaseModel

server = FastMCP("fastmcp", instructions="Notes of fastmcp.")
cancelled = 0


class Answer(BaseModel):
    answer: str


def message_of(text: str) -> types.SamplingMessage:
    return types.SamplingMessage(role="user", content=types.TextContent(type="text", text=text))


@server.tool
def quick(text: str) -> str:
    return f"quick: {text}"


@server.tool
async def ask(question: str, ctx: Context) -> str:
    result = await ctx.elicit(question, Answer)
    return f"answer: {result.data.answer}" if result.action == "accept" else f"answer: {result.action}"


@server.tool
async def ask_modern(question: str, ctx: Context) -> str | types.InputRequiredResult:
    reply = (ctx.input_responses or {}).get("answer")
    if reply is not None:
        return f"answer: {reply.content['answer']}" if reply.action == "accept" else f"answer: {reply.action}"
    params = types.ElicitRequestFormParams(message=question, requested_schema=Answer.model_json_schema())
    return types.InputRequiredResult(input_requests={"answer": types.ElicitRequest(params=params)})


@server.tool
async def sample(text: str, ctx: Context) -> str:
    result = await ctx.session.create_message([message_of(text)], max_tokens=10, related_request_id=ctx.request_id)
    return f"sampled: {result.content.text}"


@server.tool
async def sample_modern(text: str, ctx: Context) -> str | types.InputRequiredResult:
    reply = (ctx.input_responses or {}).get("text")
    if reply is not None:
        return f"sampled: {reply.content.text}"
    params = types.CreateMessageRequestParams(messages=[message_of(text)], max_tokens=10)
    return types.InputRequiredResult(input_requests={"text": types.CreateMessageRequest(params=params)})


@server.tool
async def work(ctx: Context) -> str:
    for step in range(1, 7):
        await ctx.report_progress(step, 6)
        await anyio.sleep(0.5)
    return "worked"


@server.tool
async def hang(ctx: Context) -> str:
    global cancelled
    await ctx.report_progress(1, 2)
    try:
        await anyio.sleep(60)
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        raise
    return "not cancelled"


@server.tool
def heard() -> str:
    return f"cancelled: {cancelled}"


@server.tool
async def change(ctx: Context) -> str:
    server.add_tool(extra)
    await ctx.send_notification(types.ToolListChangedNotification())
    return "changed"


def extra() -> str:
    return "extra"


@server.resource("note://partner")
def note() -> str:
    return "a note"


@server.prompt
def greet(name: str) -> str:
    return f"Greet {name}"


if "--http" in sys.argv:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    print(f"url http://127.0.0.1:{port}/mcp", flush=True)
    server.run("http", show_banner=False, host="127.0.0.1", port=port, log_level="error")
else:
    server.run("stdio", show_banner=False)
