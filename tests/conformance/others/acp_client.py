"""One prompt of an ACP client on the PyPI SDK: `acp_client.py AGENT TEXT`. It allows what it is asked for."""

import asyncio
import os
import shlex
import sys
from typing import Any

import acp
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    FileSystemCapabilities,
    Implementation,
    TextContentBlock,
)


class Files(acp.Client):
    """Reads and writes files, and shows nothing."""

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        pass

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **kwargs: Any) -> Any:
        chosen = AllowedOutcome(outcome="selected", option_id=options[0].option_id)
        return acp.RequestPermissionResponse(outcome=chosen)

    async def write_text_file(self, content: str, path: str, session_id: str, **kwargs: Any) -> Any:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        return acp.WriteTextFileResponse()

    async def read_text_file(self, path: str, session_id: str, **kwargs: Any) -> Any:
        with open(path, encoding="utf-8", newline="") as file:
            lines = file.read().splitlines(keepends=True)
        first = (kwargs.get("line") or 1) - 1
        count = kwargs.get("limit")
        return acp.ReadTextFileResponse(content="".join(lines[first:][:count]))


async def main() -> None:
    command, *arguments = shlex.split(sys.argv[1])
    async with acp.spawn_agent_process(Files(), command, *arguments) as (agent, _):
        await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(fs=FileSystemCapabilities(read_text_file=True, write_text_file=True)),
            client_info=Implementation(name="conformance-steps", version="1.0.0"),
        )
        session = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        response = await agent.prompt(session_id=session.session_id, prompt=[TextContentBlock(type="text", text=sys.argv[2])])
        print(response.stop_reason)


asyncio.run(main())
