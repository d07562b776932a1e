"""A turn at measuring: all live measurements of a user run one at a time, across processes, plans and commands.

For: waiting for a turn and for the caps, then the note and the release. Not for: the caps (`caps`), or the length of
the wait (`ledger`).
"""

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from resolab.basics.errors import StorageError
from resolab.plan.manners.caps import QUERIES_PER_LOAD
from resolab.plan.manners.ledger import Ledger, LedgerNote
from resolab.plan.manners.refusals import ContactRefusal

TURN_LOCK = "turn.lock"
LOOK_AGAIN_S = 0.1
SLEEP_AT_MOST_S = 60.0
"""The longest sleep before the next check of the rules, in s: another process may have asked or brought a stop sign."""

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Turn:
    """A turn, held until the end of the block; or the refusal instead of a turn."""

    ledger: Ledger
    refusal: ContactRefusal | None = None
    noted: LedgerNote | None = None
    waited_s: float = 0.0

    def settle(self, queries_count: int) -> None:
        """Record the number of queries sent by the load to its resolver."""
        if self.noted is not None:
            self.ledger.settle(self.noted, queries_count)


@asynccontextmanager
async def my_turn(
    ledger: Ledger,
    *,
    site: str | None = None,
    resolver: str | None = None,
    queries_count: int = QUERIES_PER_LOAD,
    on_wait: Callable[[float], None] = lambda _wait_s: None,
    clock: Callable[[], float] = time.time,
    sleep: Sleep = asyncio.sleep,
) -> AsyncIterator[Turn]:
    """Wait until no other measurement runs and the caps allow, note the contact, and hold the turn during the block.

    Within a turn the caller may contact further hosts, with `wait_s`, `note` and `pause` of the ledger. `on_wait`
    receives the wait for a cap, in s. During this wait other measurements may run.
    """
    begun_s = clock()
    while True:
        file = await _lock(ledger.folder, sleep)
        try:
            wait_s = ledger.wait_s(clock(), site=site, resolver=resolver, queries_count=queries_count)
            if isinstance(wait_s, ContactRefusal):
                yield Turn(ledger=ledger, refusal=wait_s, waited_s=clock() - begun_s)
                return
            if wait_s <= 0:
                noted = ledger.note(clock(), site=site, resolver=resolver, queries_count=queries_count)
                yield Turn(ledger=ledger, noted=noted, waited_s=clock() - begun_s)
                return
        finally:
            file.close()
        on_wait(wait_s)
        await sleep(min(max(wait_s, 0.01), SLEEP_AT_MOST_S))


async def pause(
    ledger: Ledger,
    *,
    resolver: str,
    queries_count: int,
    clock: Callable[[], float] = time.time,
    sleep: Sleep = asyncio.sleep,
) -> LedgerNote | ContactRefusal:
    """Wait, within a turn, until `queries_count` paced queries to a resolver are allowed, and note the queries."""
    while True:
        wait_s = ledger.wait_s(clock(), resolver=resolver, queries_count=queries_count)
        if isinstance(wait_s, ContactRefusal):
            return wait_s
        if wait_s <= 0:
            return ledger.note(clock(), resolver=resolver, queries_count=queries_count)
        await sleep(min(max(wait_s, 0.01), SLEEP_AT_MOST_S))


async def _lock(folder: Path, sleep: Sleep) -> IO[str]:
    """Take the lock; the kernel releases the lock at any end of the process."""
    try:
        file = (folder / TURN_LOCK).open("w")
    except OSError as error:
        problem = error.strerror or error
        raise StorageError(f"could not take a turn in {folder}: {problem}; give another XDG_STATE_HOME") from error
    try:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await sleep(LOOK_AGAIN_S)
            else:
                return file
    except BaseException:
        file.close()
        raise
