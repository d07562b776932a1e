"""One at a time: all live measurements of a user take turns, whichever process, plan or command they are of.

For: waiting for one's turn and for the caps, then noting and letting go. Not for: which caps (`caps`), or how long
(`ledger`).
"""

import asyncio
import fcntl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from resolab.errors import StorageError
from resolab.manners.caps import QUERIES_PER_LOAD
from resolab.manners.ledger import Ledger, Noted
from resolab.manners.refusals import Refusal

TURN_LOCK = "turn.lock"
LOOK_AGAIN_S = 0.1
SLEEP_AT_MOST_S = 60.0
"""Then the rules are asked anew: another process may have asked, or brought a stop sign."""

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class Turn:
    """One's turn, which lasts as long as the block; or the refusal in its place."""

    ledger: Ledger
    refusal: Refusal | None = None
    noted: Noted | None = None
    waited_s: float = 0.0

    def settle(self, queries_count: int) -> None:
        """Say how many queries the load asked of its resolver."""
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
    """Wait until nobody else measures and the caps allow it, note it, and hold the turn while the block runs.

    Within a turn more may be asked, with `wait_s`, `note` and `pause` of the ledger. `on_wait` hears how many seconds a
    cap makes it wait. While it waits for a cap others may go.
    """
    begun_s = clock()
    while True:
        file = await _lock(ledger.folder, sleep)
        try:
            wait_s = ledger.wait_s(clock(), site=site, resolver=resolver, queries_count=queries_count)
            if isinstance(wait_s, Refusal):
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
) -> Noted | Refusal:
    """Within a turn: wait until so many paced queries may be asked of a resolver, and note them."""
    while True:
        wait_s = ledger.wait_s(clock(), resolver=resolver, queries_count=queries_count)
        if isinstance(wait_s, Refusal):
            return wait_s
        if wait_s <= 0:
            return ledger.note(clock(), resolver=resolver, queries_count=queries_count)
        await sleep(min(max(wait_s, 0.01), SLEEP_AT_MOST_S))


async def _lock(folder: Path, sleep: Sleep) -> IO[str]:
    """Take the lock; the kernel lets go of it however the process ends."""
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
