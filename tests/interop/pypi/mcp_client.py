"""An MCP client on the PyPI SDK that puts a server through its paces: `mcp_client.py MODE SERVER…`.

MODE is `auto` (the newest revision that both know) or `legacy` (the `initialize` handshake). The server
must know the tools of `agentwire server`. One line is printed for each step; the first that fails ends the
program with 1.
"""

import asyncio
import sys
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters


def expect(condition: object, what: str, seen: object) -> None:
    """Fails unless `condition` holds, and shows what was seen instead."""
    if not condition:
        raise AssertionError(f"{what}; saw {seen!r}")


def text(result: Any) -> str:
    """The text of a tool's result."""
    return "".join(block.text for block in result.content if block.type == "text")


async def listing(client: Client) -> None:
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    wanted = {"echo", "add", "fail", "slow", "cancelled-count", "burst"}
    expect(wanted <= tools.keys(), "the tools are listed", sorted(tools))
    expect(tools["echo"].input_schema["type"] == "object", "a tool has a schema", tools["echo"])


async def echo(client: Client) -> None:
    result = await client.call_tool("echo", {"message": "grüß dich 👋\n"})
    expect("grüß dich 👋\n" in text(result), "echo answers", result)


async def add(client: Client) -> None:
    result = await client.call_tool("add", {"a": 2, "b": 40})
    expect((result.structured_content or {}).get("sum") == 42, "the result is structured", result)
    expect("42" in text(result), "the result is also text", result)


async def fail(client: Client) -> None:
    result = await client.call_tool("fail", {})
    expect(result.is_error, "a failed tool says so", result)


async def wrong(client: Client) -> None:
    try:
        result = await client.call_tool("no-such-tool", {})
    except MCPError as error:
        expect(error.error.code in (-32601, -32602), "an unknown tool is refused", error.error)
    else:
        expect(result.is_error, "an unknown tool is refused", result)


async def progress(client: Client) -> None:
    seen: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total))

    await client.call_tool("slow", {"seconds": 0.4, "steps": 4}, progress_callback=note)
    expect(len(seen) >= 4, "progress for each step", seen)
    expect(seen == sorted(seen, key=lambda pair: pair[0]), "progress only grows", seen)


async def cancel(client: Client) -> None:
    async def count() -> str:
        return text(await client.call_tool("cancelled-count", {}))

    before = await count()
    started = anyio.current_time()
    with anyio.move_on_after(0.5):
        await client.call_tool("slow", {"seconds": 30, "steps": 30})
    with anyio.move_on_after(5):
        while await count() == before:
            await anyio.sleep(0.05)
    expect(anyio.current_time() - started < 5, "the server hears of the cancellation", await count())


async def resource(client: Client) -> None:
    resources = (await client.list_resources()).resources
    expect(resources, "a resource is listed", resources)
    contents = (await client.read_resource(str(resources[0].uri))).contents
    expect(contents and contents[0].text, "a resource has text", contents)


async def prompt(client: Client) -> None:
    prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    expect("greet" in prompts, "the prompt is listed", prompts)
    result = await client.get_prompt("greet", {"name": "Ada"})
    expect("Ada" in result.messages[0].content.text, "the prompt greets by name", result)


async def main() -> None:
    mode, command, *arguments = sys.argv[1:]
    server = StdioServerParameters(command=command, args=arguments)
    async with Client(server, mode=mode, read_timeout_seconds=20) as client:
        print(f"ok connect ({client.protocol_version})", flush=True)
        for step in (listing, echo, add, fail, wrong, progress, cancel, resource, prompt):
            await step(client)
            print(f"ok {step.__name__}", flush=True)


asyncio.run(main())
