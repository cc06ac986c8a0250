"""What our PyPI clients ask of a server, the same on both versions of the SDK; one line is printed for each step.

A client is given as an object with the methods of the SDK's sessions whose answers are plain JSON; see `Plain`.
"""

from typing import Any

import anyio

try:
    from mcp_types import ListRootsResult
except ImportError:
    from mcp.types import ListRootsResult

Json = dict[str, Any]

# The folders that our clients work in.
ROOTS = [{"uri": "file:///projects/here", "name": "Here"}, {"uri": "file:///projects/there"}]


class Plain:
    """A client of either version, whose answers are what came over the wire."""

    def __init__(self, client: Any) -> None:
        self.client = client

    async def ask(self, method: str, *arguments: Any, **options: Any) -> Json:
        result = await getattr(self.client, method)(*arguments, **options)
        return result.model_dump(by_alias=True, mode="json", exclude_none=True)

    async def call(self, name: str, arguments: Json, **options: Any) -> Json:
        return await self.ask("call_tool", name, arguments, **options)


def expect(condition: object, what: str, seen: object) -> None:
    """Fails unless `condition` holds, and shows what was seen instead."""
    if not condition:
        raise AssertionError(f"{what}; saw {seen!r}")


def text(result: Json) -> str:
    """The text of a tool's result."""
    return "".join(block["text"] for block in result["content"] if block["type"] == "text")


async def listing(client: Plain) -> None:
    tools = {tool["name"]: tool for tool in (await client.ask("list_tools"))["tools"]}
    wanted = {"echo", "add", "fail", "slow", "cancelled-count", "burst"}
    expect(wanted <= tools.keys(), "the tools are listed", sorted(tools))
    expect(tools["echo"]["inputSchema"]["type"] == "object", "a tool has a schema", tools["echo"])


async def echo(client: Plain) -> None:
    result = await client.call("echo", {"message": "grüß dich 👋\n"})
    expect("grüß dich 👋\n" in text(result), "echo answers", result)


async def add(client: Plain) -> None:
    result = await client.call("add", {"a": 2, "b": 40})
    expect(result.get("structuredContent", {}).get("sum") == 42, "the result is structured", result)
    expect("42" in text(result), "the result is also text", result)


async def fail(client: Plain) -> None:
    result = await client.call("fail", {})
    expect(result["isError"], "a failed tool says so", result)


async def wrong(client: Plain) -> None:
    try:
        result = await client.call("no-such-tool", {})
    except Exception as error:
        # The two versions name their error differently, but both hold the answer.
        expect(error.error.code in (-32601, -32602), "an unknown tool is refused", error)
    else:
        expect(result["isError"], "an unknown tool is refused", result)


async def slow(client: Plain, seconds: float, steps: int) -> None:
    """A call of which each step must be reported once, and in order."""
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    result = await client.call("slow", {"seconds": seconds, "steps": steps}, progress_callback=note)
    expect(not result.get("isError"), "the call succeeds", result)
    expect(seen == list(range(1, steps + 1)), "each step is reported once, in order", seen)


async def progress(client: Plain) -> None:
    await slow(client, 0.4, 4)


async def resume(client: Plain) -> None:
    """The stream of this call is cut. Its result must arrive whole."""
    await slow(client, 2, 10)


async def cancel(client: Plain) -> None:
    async def count() -> str:
        return text(await client.call("cancelled-count", {}))

    before = await count()
    started = anyio.current_time()
    with anyio.move_on_after(0.5):
        await client.call("slow", {"seconds": 30, "steps": 30})
    if hasattr(client.client, "give_up"):
        await client.client.give_up()
    with anyio.move_on_after(5):
        while await count() == before:
            await anyio.sleep(0.05)
    expect(anyio.current_time() - started < 5, "the server hears of the cancellation", await count())


async def list_roots(_: Any) -> ListRootsResult:
    """What our clients answer."""
    return ListRootsResult.model_validate({"roots": ROOTS})


async def roots(client: Plain) -> None:
    result = await client.call("roots", {})
    expect(result.get("structuredContent") == {"roots": ROOTS}, "the server hears of our folders", result)


async def resource(client: Plain) -> None:
    resources = (await client.ask("list_resources"))["resources"]
    expect(resources, "a resource is listed", resources)
    contents = (await client.ask("read_resource", resources[0]["uri"]))["contents"]
    expect(contents and contents[0]["text"], "a resource has text", contents)


async def prompt(client: Plain) -> None:
    prompts = [prompt["name"] for prompt in (await client.ask("list_prompts"))["prompts"]]
    expect("greet" in prompts, "the prompt is listed", prompts)
    result = await client.ask("get_prompt", "greet", {"name": "Ada"})
    expect("Ada" in result["messages"][0]["content"]["text"], "the prompt greets by name", result)


async def run(client: Any, names: str) -> None:
    """Runs the steps `names`, or all of them for `all`."""
    steps = (listing, echo, add, fail, wrong, progress, cancel, roots, resource, prompt)
    for step in (resume,) if names == "resume" else steps:
        await step(Plain(client))
        print(f"ok {step.__name__}", flush=True)
