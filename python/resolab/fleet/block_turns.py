"""Turns of agents that share a machine: one of them runs a block at a time, whichever run and fleet it is of.

For: a lock on a file that an agent holds for each block, however it ends. Not for: loads of one user, which take turns
besides (`manners.turn`), or the block itself (`worker_process`).

The lock is that of flock(2), on one opening of the file that the agent shares with its worker: a worker that outlives a
killed agent ends its block within the turn.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from resolab.errors import StorageError

LOOK_EVERY_S = 0.1


class BlockTurns:
    """One agent's access to the file."""

    def __init__(self, file: Path) -> None:
        try:
            self._descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StorageError(f"could not open {file}: {error.strerror}; give a file for --turns") from error
        self._file = file
        self._others_first = False

    @property
    def descriptor(self) -> int:
        """What a worker inherits, so that the lock lasts as long as it does."""
        return self._descriptor

    @asynccontextmanager
    async def mine(self, on_wait: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
        """Wait until nobody else runs a block, and keep the turn while ours does; `on_wait` hears of a wait.

        Whoever is cancelled in it keeps the turn until `close`: its worker has a trial in flight.
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
        """End the turn, if it is ours, and all access."""
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
