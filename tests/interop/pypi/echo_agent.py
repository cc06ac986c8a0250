"""The smallest ACP agent on the PyPI SDK: it says back what it was sent."""

import asyncio
from itertools import count
from typing import Any

import acp
from acp.schema import AgentCapabilities, AgentMessageChunk


class EchoAgent(acp.Agent):
    numbers = count(1)

    def on_connect(self, conn: acp.Client) -> None:
        self.client = conn

    async def initialize(self, protocol_version: int, **kwargs: Any) -> acp.InitializeResponse:
        return acp.InitializeResponse(protocol_version=acp.PROTOCOL_VERSION, agent_capabilities=AgentCapabilities())

    async def new_session(self, cwd: str, **kwargs: Any) -> acp.NewSessionResponse:
        return acp.NewSessionResponse(session_id=f"echo-{next(self.numbers)}")

    async def prompt(self, session_id: str, prompt: list[Any], **kwargs: Any) -> acp.PromptResponse:
        for block in prompt:
            update = AgentMessageChunk(session_update="agent_message_chunk", content=block, field_meta={"echo": True})
            await self.client.session_update(session_id=session_id, update=update)
        return acp.PromptResponse(stop_reason="end_turn")


asyncio.run(acp.run_agent(EchoAgent()))
