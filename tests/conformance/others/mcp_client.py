"""One step of an MCP client on version 2 of the PyPI SDK: `mcp_client.py TARGET STEP [ARGUMENTS]`.

It prints the result as JSON. TARGET is a URL or a command line; a URL that ends with `/sse` means that transport.
"""

import asyncio
import json
import shlex
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, TextContent


async def roots(_: Any) -> ListRootsResult:
    return ListRootsResult.model_validate({"roots": [{"uri": "file:///projects/here", "name": "Here"}]})


async def model(*_: Any) -> CreateMessageResult:
    return CreateMessageResult(role="assistant", model="none", content=TextContent(type="text", text="hello"))


async def user(*_: Any) -> ElicitResult:
    return ElicitResult(action="decline")


def plain(result: Any) -> Any:
    return result.model_dump(by_alias=True, mode="json", exclude_none=True)


async def every(page: Any, member: str) -> list[Any]:
    """All items of all pages."""
    items: list[Any] = []
    result = await page()
    while True:
        items += plain(result)[member]
        if result.next_cursor is None:
            return items
        result = await page(cursor=result.next_cursor)


async def step(client: Client, name: str, given: list[str]) -> Any:
    lists = {
        "list_tools": (client.list_tools, "tools"),
        "list_resources": (client.list_resources, "resources"),
        "list_templates": (client.list_resource_templates, "resourceTemplates"),
        "list_prompts": (client.list_prompts, "prompts"),
    }
    if name in lists:
        return await every(*lists[name])
    if name == "call_tool":
        return plain(await client.call_tool(given[0], json.loads(given[1])))
    if name == "read_resource":
        return plain(await client.read_resource(given[0]))
    return plain(await client.get_prompt(given[0]))


async def main() -> None:
    target, name, *given = sys.argv[1:]
    if target.startswith("http"):
        server: Any = sse_client(target) if target.endswith("/sse") else target
    else:
        command, *arguments = shlex.split(target)
        server = StdioServerParameters(command=command, args=arguments)
    callbacks = {"list_roots_callback": roots, "sampling_callback": model, "elicitation_callback": user}
    async with Client(server, mode="auto", read_timeout_seconds=20, **callbacks) as client:
        print(json.dumps(await step(client, name, given)), flush=True)


asyncio.run(main())
