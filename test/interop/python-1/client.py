"""The partner client on the Python SDK 1.x: `client.py TARGET`, the target as JSON (see `scenario.py`)."""

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from scenario import Person, Target, capabilities, run, within


class Partner:
    def __init__(self, session: ClientSession, changed: asyncio.Event) -> None:
        self.session = session
        self.changed = changed

    async def open(self) -> None:
        self.initialized = await self.session.initialize()

    def opened(self):
        result = self.initialized
        return {
            "version": str(result.protocolVersion),
            "server": result.serverInfo.name,
            "instructions": result.instructions,
            "capabilities": capabilities(result.capabilities.model_dump()),
        }

    async def tools(self):
        return [tool.name for tool in (await self.session.list_tools()).tools]

    async def call(self, name, arguments, progress=None):
        async def on_progress(value, _total, _message):
            progress(value)

        result = await self.session.call_tool(name, arguments, progress_callback=on_progress if progress else None)
        text = " ".join(block.text for block in result.content)
        return f"tool error: {text}" if result.isError else text

    async def read(self, uri):
        return (await self.session.read_resource(uri)).contents[0].text

    async def prompt(self, name, arguments):
        return (await self.session.get_prompt(name, arguments)).messages[0].content.text

    async def hang(self, begun):
        # This library cannot cancel a request, so the notification names the id that it uses next.
        request_id = self.session._request_id
        call = asyncio.create_task(self.call("hang", {}, lambda _value: begun.set()))
        await within(begun, 5)
        params = types.CancelledNotificationParams(requestId=request_id, reason="enough")
        await self.session.send_notification(types.ClientNotification(types.CancelledNotification(params=params)))
        return await call


@asynccontextmanager
async def connect(target: Target, person: Person):
    changed = asyncio.Event()

    async def elicit(_context, params):
        return types.ElicitResult(action="accept", content={"answer": await person.answer(params.message)})

    async def sample(_context, params):
        text = person.model(params.messages[0].content.text)
        return types.CreateMessageResult(
            role="assistant", content=types.TextContent(type="text", text=text), model="none"
        )

    async def message(received):
        if isinstance(received, types.ServerNotification) and isinstance(
            received.root, types.ToolListChangedNotification
        ):
            changed.set()

    async with transport(target) as (read, write, *_):
        async with ClientSession(
            read, write, elicitation_callback=elicit, sampling_callback=sample, message_handler=message
        ) as session:
            partner = Partner(session, changed)
            await partner.open()
            yield partner


def transport(target: Target):
    if target.url:
        return streamablehttp_client(target.url)
    command, *args = target.command
    return stdio_client(StdioServerParameters(command=command, args=args, env=dict(os.environ)))


run(connect)
