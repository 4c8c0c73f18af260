"""The partner client on fastmcp 4: `client.py TARGET`, the target as JSON (see `scenario.py`)."""

import asyncio
import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))

import mcp_types as types
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from mcp.client.subscriptions import listen
from scenario import Person, Target, capabilities, run, within

MODERN = "2026-07-28"


class Partner:
    def __init__(self, client: Client, changed: asyncio.Event) -> None:
        self.client = client
        self.changed = changed

    def opened(self):
        client = self.client
        return {
            "version": client.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "instructions": client.instructions,
            "capabilities": capabilities(client.server_capabilities.model_dump(by_alias=True)),
        }

    async def tools(self):
        return [tool.name for tool in await self.client.list_tools()]

    async def call(self, name, arguments, progress=None):
        async def on_progress(value, _total, _message):
            progress(value)

        result = await self.client.call_tool(
            name, arguments, progress_handler=on_progress if progress else None, raise_on_error=False
        )
        text = " ".join(block.text for block in result.content)
        return f"tool error: {text}" if result.is_error else text

    async def read(self, uri):
        return (await self.client.read_resource(uri))[0].text

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    async def hang(self, begun):
        call = asyncio.create_task(self.call("hang", {}, lambda _value: begun.set()))
        await within(begun, 5)
        call.cancel()
        try:
            return await call
        except asyncio.CancelledError:
            return "left"


@asynccontextmanager
async def connect(target: Target, person: Person):
    changed = asyncio.Event()

    async def elicit(message, _response_type, _params, _context):
        return {"answer": await person.answer(message)}

    async def sample(messages, _params, _context):
        return person.model(messages[0].content.text)

    async def message(received):
        if isinstance(received, types.ToolListChangedNotification):
            changed.set()

    mode = "legacy" if target.era == "legacy" else "auto"
    client = Client(
        transport(target), mode=mode, elicitation_handler=elicit, sampling_handler=sample, message_handler=message
    )
    async with client, AsyncExitStack() as stack:
        if client.protocol_version == MODERN:
            await stack.enter_async_context(listening(client, changed))
        yield Partner(client, changed)


@asynccontextmanager
async def listening(client: Client, changed: asyncio.Event):
    """Uses the subscription of the underlying SDK, because fastmcp has none."""

    async def follow(subscription):
        async for _event in subscription:
            changed.set()

    async with AsyncExitStack() as stack:
        try:
            subscription = await asyncio.wait_for(
                stack.enter_async_context(listen(client.session, tools_list_changed=True)), 5
            )
        except Exception as error:
            print(f"listen: {error}", file=sys.stderr)
            yield
            return
        following = asyncio.create_task(follow(subscription))
        try:
            yield
        finally:
            following.cancel()


def transport(target: Target):
    if target.url:
        return target.url
    command, *args = target.command
    return StdioTransport(command, args, env=dict(os.environ), keep_alive=False)


run(connect)
