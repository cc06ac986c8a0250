"""An MCP server on FastMCP, with a feature of each kind: `server.py stdio|http|sse PORT`."""

import asyncio
import os
import sys

from fastmcp import Context, FastMCP

server = FastMCP("conformance")


@server.tool
def echo(message: str) -> str:
    """Say it back"""
    return message


@server.tool
async def slow(seconds: float, steps: int, ctx: Context) -> str:
    """Take a while, and report each step"""
    for step in range(steps):
        await asyncio.sleep(seconds / steps)
        await ctx.report_progress(step + 1, steps)
    return "done"


@server.tool
async def roots(ctx: Context) -> str:
    """Ask for the client's folders"""
    return str([str(root.uri) for root in await ctx.list_roots()])


@server.tool
async def ask(ctx: Context) -> str:
    """Ask the user"""
    return (await ctx.elicit("Who are you?", str)).action


@server.resource("memo://greeting")
def greeting() -> str:
    """A short text"""
    return "Hello."


@server.prompt
def greet(name: str) -> str:
    """Greet somebody"""
    return f"Please greet {name}."


if sys.argv[1] == "stdio":
    server.run(show_banner=False)
else:
    server.run(sys.argv[1], host="127.0.0.1", port=int(os.environ["PORT"]), show_banner=False)
