"""Turns of agents on the same machine: one agent runs a block at a time, for any run and fleet.

For: a lock on a file, held by an agent for each block, at any end. Not for: loads of the same user, taking their own
turns (`manners.turn`), or the block itself (`worker_process`).

The lock is a flock(2) lock on a single opening of the file, shared by the agent with its worker. So a worker outliving
a killed agent ends its block within the turn.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from resolab.basics.errors import StorageError

LOOK_EVERY_S = 0.1


class BlockTurns:
    """An agent's access to the lock file."""

    def __init__(self, file: Path) -> None:
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StorageError(f"could not open {file}: {error.strerror}; give a file for --turns") from error
        self._file = file
        self._others_first = False

    @property
    def descriptor(self) -> int:
        """Return the descriptor inherited by a worker, so the lock lasts until the worker's end."""
        return self._descriptor

    @asynccontextmanager
    async def mine(self, on_wait: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Wait until no other agent runs a block, and hold the turn during ours; `on_wait` is called before a wait.

        After a cancellation the turn is held until `close`: the worker has a trial in flight.
        """
        await self._take(on_wait)
        try:
            yield
        except asyncio.CancelledError:
            raise
        except BaseException:
            self._let_go()
            raise
        self._let_go()

    def close(self) -> None:
        """Release the turn, if held, and close the file."""
        self._let_go()
        os.close(self._descriptor)

    async def _take(self, on_wait: Callable[[], Awaitable[None]]) -> None:
        if self._others_first:
            # Whoever waits looks meanwhile; else one agent could have turn after turn.
            await asyncio.sleep(2 * LOOK_EVERY_S)
            self._others_first = False
        if self._try():
            return
        await on_wait()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            if self._try():
                return

    def _try(self) -> bool:
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise StorageError(f"could not lock {self._file}: {error.strerror}; give a local file") from error
        return True

    def _let_go(self) -> None:
        fcntl.flock(self._descriptor, fcntl.LOCK_UN)
        self._others_first = True
