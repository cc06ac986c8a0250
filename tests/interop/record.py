"""Writes down what two programs say to each other: `record.py FILE CLIENT PEER COMMAND…`.

It starts COMMAND and stands between it and its own stdin and stdout. Each line becomes one JSON object
at the end of FILE: {"from": CLIENT or PEER, "message": …}. Names of this machine and of its user are replaced.
"""

import asyncio
import getpass
import json
import os
import re
import socket
import sys
import tempfile


def scrubbed(text: str) -> str:
    """`text` without the paths and names of this machine."""
    here = os.getcwd()
    repository = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for path, name in [(here, "/home/user/project"), (repository, "/home/user/agentwire"), (os.path.expanduser("~"), "/home/user")]:
        text = text.replace(path + "/", name + "/").replace(path + '"', name + '"')
    text = re.sub(re.escape(tempfile.gettempdir()) + r"/[A-Za-z0-9._-]+", "/tmp/scratch", text)
    for word in {socket.gethostname(), getpass.getuser()} - {"root"}:
        text = re.sub(rf"\b{re.escape(word)}\b", "user", text)
    return text


async def copy(read: asyncio.StreamReader, write, name: str, out) -> None:
    """Passes lines on until the end, and writes each down."""
    while line := await read.readline():
        text = scrubbed(line.decode()).strip()
        try:
            message = json.loads(text)
        except ValueError:
            message = text
        if text:
            out.write(json.dumps({"from": name, "message": message}, ensure_ascii=False, separators=(",", ":")) + "\n")
            out.flush()
        write.write(line)
        await write.drain()
    write.close()


async def main() -> int:
    path, client, peer, *command = sys.argv[1:]
    limit = 64 * 1024 * 1024
    child = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=limit
    )
    loop = asyncio.get_running_loop()
    stdin = asyncio.StreamReader(limit=limit)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stdin), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sys.stdout)
    stdout = asyncio.StreamWriter(transport, protocol, None, loop)
    with open(path, "a", encoding="utf-8") as out:
        said = asyncio.create_task(copy(stdin, child.stdin, client, out))
        await copy(child.stdout, stdout, peer, out)
        said.cancel()
    return await child.wait()


sys.exit(asyncio.run(main()))
