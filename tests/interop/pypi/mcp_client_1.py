"""An MCP client on version 1 of the PyPI SDK: `mcp_client_1.py http|sse|resume URL`, or with `stdio`, `… stdio COMMAND…`.

It does what mcp_client.py does, in a session that begins with `initialize`.
"""

import asyncio
import sys
from datetime import timedelta

import mcp_steps
from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CancelledNotification, CancelledNotificationParams, ClientNotification


class Session(ClientSession):
    """A session that can tell the server of a call which is given up: this version does not do so by itself."""

    async def give_up(self) -> None:
        params = CancelledNotificationParams(requestId=self._request_id - 1)
        await self.send_notification(ClientNotification(CancelledNotification(params=params)))


async def main() -> None:
    kind, target, *arguments = sys.argv[1:]
    transport = {
        "stdio": lambda: stdio_client(StdioServerParameters(command=target, args=arguments)),
        "sse": lambda: sse_client(target),
    }.get(kind, lambda: streamable_http_client(target))
    async with transport() as (read, write, *_):
        limit = timedelta(seconds=20)
        async with Session(read, write, limit, list_roots_callback=mcp_steps.list_roots) as session:
            initialized = await session.initialize()
            print(f"ok connect ({initialized.protocolVersion})", flush=True)
            await mcp_steps.run(session, kind)


asyncio.run(main())
