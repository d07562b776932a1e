"""Renderer processes of one browser, seen from outside: listing all, and ending those of a finished tab.

For: removing a page, and waiting for its end. A page with frames of many sites has a process for each site. Of 37
processes the browser leaves most to end by themselves after reporting the end of their context. They would run beside
the next measurement; ended here, they are gone by then.

Not for: a context to be loaded in again; a renderer kept in reserve by the browser is ended, too.
"""

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_RENDERER = b"--type=renderer"
_PROC = Path("/proc")
_ENDING_LIMIT_S = 1.0
_ENDING_QUIET_S = 0.03
_ENDING_POLL_S = 0.005


def list_renderers(browser_pid: int) -> frozenset[int]:
    """List the renderers below a process, by their ids in this process's view."""
    found: set[int] = set()
    waiting = [browser_pid]
    while waiting:
        pid = waiting.pop()
        if _RENDERER in _command_line(pid):
            found.add(pid)  # It has no children, and many threads to look for them in.
        else:
            waiting += _children(pid)
    return frozenset(found)


def end_renderers(browser_pid: int, spared: frozenset[int]) -> None:
    """End all renderers except `spared`; ended processes and processes of other users are left to the browser."""
    for pid in list_renderers(browser_pid) - spared:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


async def wait_until_ended(browser_pid: int, before: frozenset[int]) -> None:
    """Wait for the end of a closed tab's renderers, until no renderer of `before` ends any more.

    The browser reports the closing of a tab some 20 ms earlier. As long as a renderer lives, the network stack keeps
    its requests. When sockets are closed, some requests fail, and the requests waiting behind them are sent: over a new
    connection, to a name looked up anew. The next load would find both.
    """
    now = time.monotonic()
    limit, quiet, left = now + _ENDING_LIMIT_S, now + _ENDING_QUIET_S, len(before)
    while now < min(limit, quiet):
        await asyncio.sleep(_ENDING_POLL_S)
        there = len(before & await asyncio.to_thread(list_renderers, browser_pid))
        now = time.monotonic()
        if there < left:
            left, quiet = there, now + _ENDING_QUIET_S


def _children(pid: int) -> list[int]:
    found: list[int] = []
    # A child is its thread's; a thread may have ended meanwhile.
    with suppress(OSError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found += map(int, (thread / "children").read_text("ascii").split())
    return found


def _command_line(pid: int) -> bytes:
    # A renderer writes its own, in one piece.
    try:
        return (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return b""
