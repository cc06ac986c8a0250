"""An ACP client on the PyPI SDK that puts an agent through its paces: `client.py [--mcp COMMAND | --kept] AGENT…`.

The agent must know `/write`, `/read`, `/run`, `/plan` and `/slow`; with `--kept` it must keep its sessions when it
ends. One line is printed for each step; the first step that fails ends the program with 1.
"""

import asyncio
import contextlib
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import acp
from acp.schema import AllowedOutcome, ClientCapabilities, DeniedOutcome, FileSystemCapabilities, Implementation, McpServerStdio

LIMIT = 20.0


class Hands(acp.Client):
    """Does what the agent asks, and remembers it."""

    def __init__(self) -> None:
        self.updates: list[Any] = []
        self.spoke = asyncio.Event()
        self.asked: list[str] = []
        self.allow = True
        self.terminals: dict[str, tuple[asyncio.subprocess.Process, asyncio.Task[bytes]]] = {}

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        self.updates.append(update)
        if update.session_update == "agent_message_chunk":
            self.spoke.set()

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **kwargs: Any) -> Any:
        self.asked.append("permission")
        wanted = "allow" if self.allow else "reject"
        option = next(option for option in options if option.kind.startswith(wanted))
        return acp.RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option.option_id))

    async def write_text_file(self, content: str, path: str, session_id: str, **kwargs: Any) -> Any:
        self.asked.append("write")
        Path(path).write_text(content, encoding="utf-8")
        return acp.WriteTextFileResponse()

    async def read_text_file(self, path: str, session_id: str, **kwargs: Any) -> Any:
        self.asked.append("read")
        return acp.ReadTextFileResponse(content=Path(path).read_text(encoding="utf-8"))

    async def create_terminal(self, command: str, session_id: str, **kwargs: Any) -> Any:
        self.asked.append("terminal")
        child = await asyncio.create_subprocess_exec(
            command, *(kwargs.get("args") or []), cwd=kwargs.get("cwd"), stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )
        name = f"terminal-{len(self.terminals) + 1}"
        self.terminals[name] = (child, asyncio.create_task(child.stdout.read()))
        return acp.CreateTerminalResponse(terminal_id=name)

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **kwargs: Any) -> Any:
        return acp.WaitForTerminalExitResponse(exit_code=await self.terminals[terminal_id][0].wait())

    async def terminal_output(self, session_id: str, terminal_id: str, **kwargs: Any) -> Any:
        child, read = self.terminals[terminal_id]
        output = (await read).decode() if child.returncode is not None else ""
        return acp.TerminalOutputResponse(output=output, truncated=False)

    async def release_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> Any:
        self.asked.append("release")
        return acp.ReleaseTerminalResponse()

    async def kill_terminal(self, session_id: str, terminal_id: str, **kwargs: Any) -> Any:
        with contextlib.suppress(ProcessLookupError):
            self.terminals[terminal_id][0].kill()
        return acp.KillTerminalResponse()


def text(updates: list[Any]) -> str:
    """What the agent said in these updates."""
    chunks = [update for update in updates if update.session_update == "agent_message_chunk"]
    return "".join(getattr(chunk.content, "text", "") for chunk in chunks)


def expect(condition: object, what: str, seen: object) -> None:
    """Fails unless `condition` holds, and shows what was seen instead."""
    if not condition:
        raise AssertionError(f"{what}; saw {seen!r}")


class Conversation:
    """One session with the agent under test."""

    def __init__(self, agent: Any, hands: Hands, session_id: str, cwd: Path) -> None:
        self.agent, self.hands, self.session_id, self.cwd = agent, hands, session_id, cwd

    async def turn(self, prompt: str) -> tuple[str, list[Any]]:
        """Runs one turn to its end: the stop reason, and the updates of this turn."""
        self.hands.updates.clear()
        self.hands.asked.clear()
        request = self.agent.prompt(session_id=self.session_id, prompt=[acp.text_block(prompt)])
        response = await asyncio.wait_for(request, LIMIT)
        return response.stop_reason, list(self.hands.updates)

    async def text(self) -> None:
        reason, updates = await self.turn("good morning")
        expect(reason == "end_turn" and "good morning" in text(updates), "the prompt comes back", text(updates))

    async def write(self) -> None:
        reason, updates = await self.turn("/write note.txt hello from python")
        written = self.cwd / "note.txt"
        content = written.read_text(encoding="utf-8") if written.exists() else None
        expect(reason == "end_turn" and content == "hello from python", "the file is written", content)
        expect(self.hands.asked == ["permission", "write"], "permission comes first", self.hands.asked)
        tool_calls(updates)

    async def reject(self) -> None:
        self.hands.allow = False
        reason, _ = await self.turn("/write forbidden.txt no")
        self.hands.allow = True
        expect(reason in ("end_turn", "refusal"), "the turn ends", reason)
        expect(not (self.cwd / "forbidden.txt").exists(), "a rejected file is not written", self.hands.asked)

    async def read(self) -> None:
        (self.cwd / "read.txt").write_text("words to be read", encoding="utf-8")
        _, updates = await self.turn("/read read.txt")
        expect("read" in self.hands.asked, "the client reads the file", self.hands.asked)
        expect("words to be read" in everything(updates), "the content is shown", everything(updates))

    async def run(self) -> None:
        _, updates = await self.turn("/run echo from the terminal")
        asked = self.hands.asked
        expect(asked[:2] == ["permission", "terminal"], "permission, then a terminal", asked)
        expect("release" in asked, "the terminal is released", asked)
        expect("from the terminal" in everything(updates), "the output is shown", everything(updates))
        tool_calls(updates)

    async def plan(self) -> None:
        _, updates = await self.turn("/plan")
        plans = [update for update in updates if update.session_update == "plan"]
        expect(plans and plans[-1].entries, "a plan arrives", updates)

    async def cancel(self) -> None:
        self.hands.spoke.clear()
        turn = asyncio.create_task(self.turn("/slow 30"))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.hands.spoke.wait(), 1)
        await self.agent.cancel(session_id=self.session_id)
        reason, _ = await asyncio.wait_for(turn, 5)
        expect(reason == "cancelled", "a cancelled turn says so", reason)

    async def after(self) -> None:
        reason, _ = await self.turn("still there?")
        expect(reason == "end_turn", "the session outlives a cancelled turn", reason)

    async def call(self) -> None:
        _, updates = await self.turn('/call echo {"message": "through three programs"}')
        expect("through three programs" in everything(updates), "the tool's answer is shown", everything(updates))


def everything(updates: list[Any]) -> str:
    """All that was shown in these updates, as one text."""
    return "\n".join(update.model_dump_json() for update in updates) + text(updates)


def tool_calls(updates: list[Any]) -> None:
    """A tool call is announced, and then reported as completed."""
    kinds = [update.session_update for update in updates]
    expect("tool_call" in kinds and "tool_call_update" in kinds, "the tool call is streamed", kinds)
    states = [update.status for update in updates if update.session_update.startswith("tool_call")]
    expect(states[-1] == "completed", "the tool call completes", states)


def told(updates: list[Any]) -> list[tuple[str, str]]:
    """What was said, in order: who, and the text of all chunks that follow each other; and how tool calls ended."""
    lines: list[tuple[str, str]] = []
    for update in updates:
        kind = update.session_update
        if kind.endswith("message_chunk"):
            said = getattr(update.content, "text", "")
            if lines and lines[-1][0] == kind:
                said = lines.pop()[1] + said
            lines.append((kind, said))
        elif kind == "tool_call_update" and update.status in ("completed", "failed"):
            lines.append((update.tool_call_id, update.status))
    return lines


async def refused(request: Any, code: int, what: str) -> None:
    """Fails unless the agent answers with this error."""
    try:
        answer = await asyncio.wait_for(request, LIMIT)
    except acp.RequestError as error:
        expect(error.code == code, what, error.code)
    else:
        expect(False, what, answer)


class Kept:
    """A session that outlives its agent: what was told in the first life, and how to see it in the next."""

    def __init__(self, command: list[str], cwd: Path) -> None:
        self.command, self.cwd = command, cwd
        self.session_id = ""
        self.told: list[tuple[str, str]] = []

    async def first(self) -> None:
        hands = Hands()
        async with running(hands, self.command) as (agent, initialized):
            expect(initialized.agent_capabilities.load_session, "it says that it loads sessions", initialized)
            session = await asyncio.wait_for(agent.new_session(cwd=str(self.cwd), mcp_servers=[]), LIMIT)
            self.session_id = session.session_id
            conversation = Conversation(agent, hands, self.session_id, self.cwd)
            for prompt in ["good morning", "/write note.txt hello from python", "and again"]:
                _, updates = await conversation.turn(prompt)
                self.told += [("user_message_chunk", prompt), *told(updates)]

    async def load(self) -> None:
        hands = Hands()
        async with running(hands, self.command) as (agent, _):
            request = agent.load_session(cwd=str(self.cwd), session_id=self.session_id, mcp_servers=[])
            await asyncio.wait_for(request, LIMIT)
            # The SDK handles updates in tasks of their own, which need not be done when the answer is.
            for _ in range(100):
                if told(hands.updates) == self.told:
                    break
                await asyncio.sleep(0.02)
            expect(told(hands.updates) == self.told, f"{self.told!r} is replayed", told(hands.updates))
            expect(not hands.asked, "nothing is asked for again", hands.asked)
            conversation = Conversation(agent, hands, self.session_id, self.cwd)
            for step in ["text", "write", "cancel", "after"]:
                await getattr(conversation, step)()

    async def resume(self) -> None:
        hands = Hands()
        async with running(hands, self.command) as (agent, initialized):
            offered = initialized.agent_capabilities.session_capabilities
            expect(offered and offered.resume, "it says that it resumes sessions", offered)
            request = agent.resume_session(cwd=str(self.cwd), session_id=self.session_id, mcp_servers=[])
            await asyncio.wait_for(request, LIMIT)
            await Conversation(agent, hands, self.session_id, self.cwd).text()
            expect("/write" not in everything(hands.updates), "nothing is replayed", told(hands.updates))

    async def list(self) -> None:
        async with running(Hands(), self.command) as (agent, _):
            listed = await asyncio.wait_for(agent.list_sessions(cwd=str(self.cwd)), LIMIT)
            names = [session.session_id for session in listed.sessions]
            expect(names == [self.session_id], "the session is listed", names)
            elsewhere = await asyncio.wait_for(agent.list_sessions(cwd=str(self.cwd.parent)), LIMIT)
            expect(not elsewhere.sessions, "but not for another folder", elsewhere.sessions)

    async def unknown(self) -> None:
        async with running(Hands(), self.command) as (agent, _):
            request = agent.load_session(cwd=str(self.cwd), session_id="no-such-session", mcp_servers=[])
            await refused(request, -32002, "a session that never was is not loaded")


@contextlib.asynccontextmanager
async def running(hands: Hands, command: list[str]) -> Any:
    """The agent, started, and its answer to `initialize`."""
    async with acp.spawn_agent_process(
        hands, *command, env=dict(os.environ), transport_kwargs={"stderr": None}
    ) as (agent, _child):
        capabilities = ClientCapabilities(
            fs=FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
        )
        initialized = await asyncio.wait_for(agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=capabilities,
            client_info=Implementation(name="interop", version="1.0.0"),
        ), LIMIT)
        expect(initialized.protocol_version == 1, "version 1 is agreed on", initialized)
        yield agent, initialized


async def run_all(steps: Any, names: list[str]) -> None:
    """Runs the steps with these names."""
    for name in names:
        await getattr(steps, name)()
        print(f"ok {name}", flush=True)


async def main() -> int:
    arguments, cwd = sys.argv[1:], Path.cwd()
    if arguments[0] == "--kept":
        await run_all(Kept(arguments[1:], cwd), ["first", "load", "resume", "list", "unknown"])
        return 0
    servers, steps = [], ["text", "write", "reject", "read", "run", "plan", "cancel", "after"]
    if arguments[0] == "--mcp":
        command, *rest = shlex.split(arguments[1])
        servers = [McpServerStdio(name="peer", command=command, args=rest, env=[])]
        arguments, steps = arguments[2:], ["call"]
    hands = Hands()
    async with running(hands, arguments) as (agent, _):
        session = await asyncio.wait_for(agent.new_session(cwd=str(cwd), mcp_servers=servers), LIMIT)
        await run_all(Conversation(agent, hands, session.session_id, cwd), steps)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
