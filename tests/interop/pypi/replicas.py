"""Clients on version 2 of the PyPI SDK for `cargo xtask replicas`: `replicas.py URL TOKEN PREFIX MODE COUNT`.

MODE is `auto` or `legacy`. Each calls a tool until standard input ends, and prints a line for each call: its key, and
`done`, `refused`, `gone` or `unknown` with the reason.
"""

import asyncio
import re
import sys
import threading

from mcp import Client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

url, token, prefix, mode, count = sys.argv[1:]
ended = threading.Event()


def wait_for_end() -> None:
    sys.stdin.read()
    ended.set()


def outcome(error: BaseException) -> str:
    text = f"{type(error).__name__} {error}"
    for inner in getattr(error, "exceptions", ()):
        text += f" {outcome(inner)} {inner}"
    if re.search(r"\b(503|429)\b", text):
        return "refused"
    if re.search(r"\b404\b|Session terminated", text):
        return "gone"
    return "unknown"


async def calls(client: Client, number: int, call: int) -> int:
    """Calls until one fails otherwise than by a refusal."""
    while not ended.is_set():
        call += 1
        key = f"{prefix}{number}-{call}"
        arguments = {"key": key, "steps": 5, "pause": 20} if call % 3 == 0 else {"key": key}
        name = "slow" if call % 3 == 0 else "count"
        try:
            result = await client.call_tool(name, arguments)
            said = result.content[0].text
            print(f"{key} done" if said == f"done {key}" else f"{key} wrong {said}", flush=True)
        except Exception as error:
            print(f"{key} {outcome(error)} {type(error).__name__} {error}".split("\n")[0], flush=True)
            if outcome(error) != "refused":
                return call
        await asyncio.sleep(0.02)
    return call


async def run(number: int) -> None:
    call = 0
    while not ended.is_set():
        try:
            async with create_mcp_http_client(headers={"authorization": f"Bearer {token}"}) as http:
                server = streamable_http_client(url, http_client=http)
                async with Client(server, mode=mode, read_timeout_seconds=30) as client:
                    call = await calls(client, number, call)
        except Exception as error:
            print(f"connect: {type(error).__name__} {error}", file=sys.stderr)
        await asyncio.sleep(0.1)


async def main() -> None:
    threading.Thread(target=wait_for_end, daemon=True).start()
    await asyncio.gather(*(run(number) for number in range(int(count))))


asyncio.run(main())
