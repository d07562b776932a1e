"""A connection into the browser's network: made inside, handed out.

For: a small program behind the browser's own prefix. The program waits for Marionette's port, connects, and hands the
connected socket over a Unix socket, its standard input (SCM_RIGHTS, unix(7)). A socket belongs to the network of its
creation for its whole life. From then on the driver speaks with the browser from outside, without a relay. Not for: the
messages on the socket (`marionette`).
"""

import asyncio
import contextlib
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from resolab.basics.errors import MachineError

PORT_FILE = "MarionetteActivePort"
"""The file with the port, in the profile; Firefox writes the file when listening."""
POLL_S = 0.01

PROGRAM = f"""
import array, socket, sys, time
out = socket.socket(fileno=0)
file, deadline = sys.argv[1], time.monotonic() + float(sys.argv[2])
while True:
    try:
        with open(file) as opened:
            port = int(opened.read())
        connected = socket.create_connection(("127.0.0.1", port), 5)
        break
    except (OSError, ValueError) as error:
        if time.monotonic() > deadline:
            sys.exit(f"no connection to the browser: {{error}}")
        time.sleep({POLL_S})
connected.settimeout(None)
connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
out.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [connected.fileno()]))])
"""


async def connect(
    prefix: Sequence[str], profile_folder: Path, timeout_s: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to the browser behind `prefix` with this profile, as soon as the browser listens."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with ours:
        ours.settimeout(0)
        with theirs:
            process = await _start(prefix, [str(profile_folder / PORT_FILE), str(timeout_s)], theirs)
        try:
            connected = await _wait_for_socket(ours, timeout_s)
            if connected is None:
                stderr = (await process.stderr.read()).decode(errors="replace") if process.stderr else ""
                words = stderr.strip().rpartition("\n")[2] or "it said nothing"
                raise MachineError(f"could not connect to the browser from inside its network: {words}")
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
    return await asyncio.open_connection(sock=connected)


async def _start(
    prefix: Sequence[str], arguments: Sequence[str], standard_input: socket.socket
) -> asyncio.subprocess.Process:
    command = [*prefix, sys.executable, "-I", "-S", "-c", PROGRAM, *arguments]
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=standard_input.fileno(),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise MachineError(f"could not start the connection's program ({command[0]}): {error.strerror}") from error


async def _wait_for_socket(ours: socket.socket, timeout_s: float) -> socket.socket | None:
    """Wait for the socket; `None` when the program ended or the time passed without a socket."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    loop.add_reader(ours, readable.set)
    try:
        async with asyncio.timeout(timeout_s):
            await readable.wait()
    except TimeoutError:
        return None
    finally:
        loop.remove_reader(ours)
    _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
    if not descriptors:
        return None
    connected = socket.socket(fileno=descriptors[0])
    connected.settimeout(0)
    return connected
