"""An MCP client on version 2 of the PyPI SDK that logs in, and then puts a server through its paces.

`mcp_client_auth.py URL PERSON…`. The login is the SDK's own; the program PERSON agrees to it.
"""

import asyncio
import sys
from urllib.parse import parse_qs, urlsplit

import mcp_steps
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken


class Storage:
    """Credentials in memory."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens
        print("ok login", flush=True)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def main() -> None:
    url, *person = sys.argv[1:]
    redirected: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        path = (await reader.readline()).decode().split()[1]
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        redirected.set_result(path)

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    redirect_uri = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/callback"

    async def go_to(address: str) -> None:
        await asyncio.create_subprocess_exec(*person, address)

    async def come_back() -> AuthorizationCodeResult:
        query = parse_qs(urlsplit(await redirected).query)
        return AuthorizationCodeResult(**{name: query[name][0] for name in ("code", "state", "iss")})

    metadata = OAuthClientMetadata(
        client_name="interop",
        redirect_uris=[redirect_uri],
        application_type="native",
        token_endpoint_auth_method="none",
    )
    auth = OAuthClientProvider(url, metadata, Storage(), go_to, come_back)
    async with create_mcp_http_client(auth=auth) as http:
        server = streamable_http_client(url, http_client=http)
        async with Client(
            server, mode="auto", read_timeout_seconds=20, list_roots_callback=mcp_steps.list_roots
        ) as client:
            print(f"ok connect ({client.protocol_version})", flush=True)
            await mcp_steps.run(client, "auto")
    listener.close()


asyncio.run(main())
