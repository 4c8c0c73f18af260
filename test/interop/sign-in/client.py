"""Client of the Python SDK: `client.py URL` prints the address for the user's browser, and the result of a call."""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata


class MemoryStorage:
    def __init__(self) -> None:
        self.tokens = None
        self.client_info = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens) -> None:
        self.tokens = tokens

    async def get_client_info(self):
        return self.client_info

    async def set_client_info(self, client_info) -> None:
        self.client_info = client_info


async def listen(returned: asyncio.Future) -> asyncio.Server:
    """Listens for the browser that returns from the sign-in."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target = (await reader.readline()).decode().split(" ")[1]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\nconnection: close\r\n\r\nSigned in.")
        await writer.drain()
        writer.close()
        query = parse_qs(urlsplit(target).query)
        if "code" in query and not returned.done():
            returned.set_result(query)

    return await asyncio.start_server(answer, "127.0.0.1", 0)


async def main(url: str) -> None:
    returned: asyncio.Future = asyncio.get_running_loop().create_future()
    server = await listen(returned)
    port = server.sockets[0].getsockname()[1]

    async def open_browser(address: str) -> None:
        print(f"open {address}", flush=True)

    async def wait_for_code() -> AuthorizationCodeResult:
        query = await returned
        first = {name: values[0] for name, values in query.items()}
        return AuthorizationCodeResult(code=first["code"], state=first.get("state"), iss=first.get("iss"))

    provider = OAuthClientProvider(
        url,
        OAuthClientMetadata(client_name="Python SDK", redirect_uris=[f"http://127.0.0.1:{port}/callback"]),
        MemoryStorage(),
        redirect_handler=open_browser,
        callback_handler=wait_for_code,
    )
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http_client:
        async with Client(streamable_http_client(url, http_client=http_client)) as client:
            result = await client.call_tool("meta.ping", {})
            print("result", result.content[0].text, flush=True)
    server.close()


asyncio.run(main(sys.argv[1]))
