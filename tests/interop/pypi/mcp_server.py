"""An MCP server on the PyPI SDK, with a tool of each kind that a client should cope with."""

import anyio
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("interop")
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


@server.resource("memo://greeting")
def greeting() -> str:
    """A short text"""
    return "Hello."


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody"""
    return f"Please greet {name}."


server.run()
