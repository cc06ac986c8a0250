"""An MCP server on the PyPI SDK, with a tool of each kind that a client should cope with.

`mcp_server.py [stdio|http|sse]`. It runs on version 2 of the SDK and on version 1, which knows sessions only. Over
`http`, sessions keep their events, so that a client can take up a stream again.
"""

import sys
from typing import Any

import anyio
from mcp.server.streamable_http import EventMessage, EventStore
from pydantic import BaseModel

try:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp_types import InputRequiredResult, ListRootsRequest
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer

    InputRequiredResult = None


class Events(EventStore):
    """Events in memory; their ids count up."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Any]] = []

    async def store_event(self, stream_id: str, message: Any) -> str:
        self.all.append((stream_id, message))
        return str(len(self.all))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        after = int(last_event_id)
        print(f"resumed after {after}", file=sys.stderr, flush=True)
        stream = self.all[after - 1][0]
        for number, (other, message) in enumerate(self.all[after:], after + 1):
            # A priming event has no message, and is nothing to repeat.
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


options: dict[str, Any] = {"port": 0, "host": "127.0.0.1"}
resumable: dict[str, Any] = {"event_store": Events(), "retry_interval": 100}
if InputRequiredResult:
    server = MCPServer("interop")
else:
    server = MCPServer("interop", **options, **resumable)
cancelled = 0


class Sum(BaseModel):
    sum: int


@server.tool()
def echo(message: str) -> str:
    """Say it back"""
    return message


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two numbers"""
    return Sum(sum=a + b)


@server.tool()
def fail() -> str:
    """Always fail"""
    raise ValueError("as asked")


@server.tool()
async def slow(seconds: float, steps: int, ctx: Context) -> str:
    """Take a while, and report each step"""
    global cancelled
    try:
        for step in range(steps):
            await anyio.sleep(seconds / steps)
            await ctx.report_progress(step + 1, steps)
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        print("cancelled", file=sys.stderr, flush=True)
        raise
    return "done"


@server.tool(name="cancelled-count")
def cancelled_count() -> str:
    """How many calls were cancelled"""
    return str(cancelled)


@server.tool()
def burst(n: int) -> str:
    """Answer with n lines"""
    return "\n".join(str(line) for line in range(n))


def stateless(ctx: Context) -> bool:
    """Whether this request belongs to no session."""
    return getattr(ctx, "protocol_version", None) == "2026-07-28"


@server.tool(structured_output=False)
async def ask(ctx: Context) -> Any:
    """Ask the client something, and say what it answered"""
    if stateless(ctx):
        return InputRequiredResult(input_requests={"roots": ListRootsRequest()})
    # It goes out on the stream that the client opens for what we say by ourselves, and is lost before that is open.
    for _ in range(10):
        with anyio.move_on_after(1):
            await ctx.session.send_ping()
            return "pong"
    raise TimeoutError("no answer to a ping")


@server.tool(name="hang-up")
async def hang_up(ctx: Context) -> str:
    """End the stream of this call, and answer all the same"""
    await ctx.report_progress(1, 2)
    await ctx.close_sse_stream()
    await anyio.sleep(0.3)
    await ctx.report_progress(2, 2)
    return "found again"


@server.tool()
def revision(ctx: Context) -> str:
    """The revision of this very request"""
    return str(getattr(ctx, "protocol_version", None) or ctx.session.client_params.protocolVersion)


@server.resource("memo://greeting")
def greeting() -> str:
    """A short text"""
    return "Hello."


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody"""
    return f"Please greet {name}."


transport = {"http": "streamable-http", "sse": "sse"}.get((sys.argv[1:] or ["stdio"])[0], "stdio")
if not InputRequiredResult or transport == "stdio":
    server.run(transport)
elif transport == "sse":
    server.run(transport, **options)
else:
    server.run(transport, **options, **resumable)
