"""An MCP server on the PyPI SDK, with a tool of each kind that a client should cope with.

`mcp_server.py [stdio|http|sse]`. It runs on version 2 of the SDK and on version 1, which knows sessions only. Over
`http`, sessions keep their events, so that a client can take up a stream again.
"""

import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from mcp.server.streamable_http import EventMessage, EventStore
from pydantic import BaseModel

try:
    from mcp.server.mcpserver import Context, MCPServer
    from mcp_types import InputRequiredResult, ListRootsRequest, SamplingMessage, TextContent
except ImportError:
    from mcp.server.fastmcp import Context
    from mcp.server.fastmcp import FastMCP as MCPServer
    from mcp.types import SamplingMessage, TextContent

    InputRequiredResult = None


class Events(EventStore):
    """Events in memory; their ids count up."""

    def __init__(self) -> None:
        self.all: list[tuple[str, Any]] = []
        self.quiet_until = 0.0

    async def store_event(self, stream_id: str, message: Any) -> str:
        # A message between the replay and the SDK's start of the stream is lost, so this waits until then.
        while message is not None and anyio.current_time() < self.quiet_until:
            await anyio.sleep(0.01)
        self.all.append((stream_id, message))
        return str(len(self.all))

    async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str | None:
        after = int(last_event_id)
        print(f"resumed after {after}", file=sys.stderr, flush=True)
        self.quiet_until = anyio.current_time() + 5
        stream = self.all[after - 1][0]
        for number, (other, message) in enumerate(self.all[after:], after + 1):
            # A priming event has no message, and is nothing to repeat.
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        self.quiet_until = anyio.current_time() + 0.1
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
    await patiently(ctx.session.send_ping)
    return "pong"


async def patiently(ask: Callable[[], Awaitable[Any]]) -> Any:
    """Asks something that goes out on the stream which the client opens for what we say by ourselves: before that is
    open, it is lost."""
    for _ in range(10):
        with anyio.move_on_after(1):
            return await ask()
    raise TimeoutError("no answer to a question")


class Form(BaseModel):
    name: str


@server.tool(name="ask-all", structured_output=False)
async def ask_all(ctx: Context) -> str:
    """Ask for the client's folders, its model and its user"""
    roots = (await patiently(ctx.session.list_roots)).roots
    question = SamplingMessage(role="user", content=TextContent(type="text", text="What does a parrot say?"))
    sampled = await ctx.session.create_message([question], max_tokens=10, related_request_id=ctx.request_id)
    form = await ctx.elicit("Who are you?", Form)
    answers = {
        "roots": [str(root.uri) for root in roots],
        "model": sampled.content.text,
        "action": form.action,
        "form": form.data.model_dump() if form.action == "accept" else None,
    }
    return json.dumps(answers)


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
