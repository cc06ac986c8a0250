"""An MCP client on version 2 of the PyPI SDK that puts a server through its paces.

`mcp_client.py MODE URL` or `mcp_client.py MODE COMMAND…`. MODE is `auto` (the newest revision that both know) or
`legacy` (the `initialize` handshake), `sse` for that transport, or `resume` for one call whose stream is cut. The server
must know the tools of `agentwire server`. One line is printed for each step; the first that fails ends the program
with 1.
"""

import asyncio
import sys

import mcp_steps
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client


async def main() -> None:
    mode, target, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=target, args=arguments)
    if target.startswith("http://"):
        server = sse_client(target) if mode == "sse" else target
    era = "auto" if mode == "auto" else "legacy"
    async with Client(
        server, mode=era, read_timeout_seconds=20, list_roots_callback=mcp_steps.list_roots
    ) as client:
        print(f"ok connect ({client.protocol_version})", flush=True)
        await mcp_steps.run(client, mode)


asyncio.run(main())
