"""Limit the agents' storage at the fleet's server, so its disk never fills.

For: a quota for each agent, a reserve of the disk, and the removal of chunks without a result. Not for: the files on an
agent's own disk (`spool`), the content of a result (`bundle`).

Below the reserve every agent's quota is its current size: the next result is rejected, and the agent keeps the result
and tries again. Only chunks of interrupted uploads are removed.
"""

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping

from nats.aio.client import Client

from resolab.basics.errors import ResolabError
from resolab.extras.fleet.connection import connect_operator
from resolab.extras.fleet.results.result_store import ResultStore
from resolab.extras.fleet.server.folder import ServerFolder
from resolab.extras.fleet.server.streams import set_quota
from resolab.extras.fleet.transfer import UnreachableError

AGAIN_S = 10.0
"""The interval for applying the quotas again while the disk is low, in s: agents may have been invited meanwhile."""
SWEEP_EVERY_S = 600.0
"""The interval of sweeps, in s. An upload without a new chunk since the last sweep has ended: clients give up after
seconds, and begin another."""
MOST_RESERVED_RATIO = 0.1
"""The maximum share of a small disk for the reserve."""
_EASE = 1.25
"""The multiple of the reserve needed free before results are accepted again."""


class StorageWatch:
    """A watch over a server's disk, in regular checks."""

    def __init__(self, folder: ServerFolder, say: Callable[[str], None]) -> None:
        self._folder, self._say = folder, say
        self._is_low, self._applied_s = False, 0.0
        self._swept_s = time.monotonic()
        self._idle: dict[str, Mapping[str, int]] = {}
        """The chunks without a result at the last sweep, by vantage point."""
        self._last_problem: str | None = None

    async def watch(self, every_s: float) -> None:
        """Check regularly; report each problem once."""
        while True:
            await asyncio.sleep(every_s)
            try:
                await self.look(time.monotonic())
            except (ResolabError, UnreachableError, OSError) as error:
                problem = f"could not look after the fleet's disk: {error}"
                if problem != self._last_problem:
                    self._say(problem)
                self._last_problem = problem
            else:
                self._last_problem = None

    async def look(self, now_s: float) -> None:
        """Do all actions due now."""
        is_low = self._disk_is_low()
        if is_low != self._is_low or (is_low and now_s - self._applied_s >= AGAIN_S):
            await self._apply(is_low=is_low)
            self._is_low, self._applied_s = is_low, now_s
        if now_s - self._swept_s >= SWEEP_EVERY_S:
            await self._sweep()
            self._swept_s = now_s

    def _disk_is_low(self) -> bool:
        disk = shutil.disk_usage(self._folder.path)
        reserve = min(self._folder.storage().reserve_bytes, disk.total * MOST_RESERVED_RATIO)
        return disk.free < (reserve * _EASE if self._is_low else reserve)

    async def _apply(self, *, is_low: bool) -> None:
        quota_bytes = self._folder.storage().quota_bytes
        async with self._operator() as client:
            for vantage in self._folder.list_invited():
                there_bytes = (await ResultStore(client, vantage).use()).size_bytes
                allowed = min(quota_bytes, max(1, there_bytes)) if is_low else quota_bytes
                await set_quota(client.jetstream(), vantage, allowed)
        if is_low != self._is_low:
            free = f"{shutil.disk_usage(self._folder.path).free / 1e9:.2g} GB free at {self._folder.path}"
            self._say(f"{free}: {'no result is taken until there is more' if is_low else 'results are taken again'}")

    async def _sweep(self) -> None:
        """Remove chunks without a result, with an unchanged number since the last sweep."""
        async with self._operator() as client:
            for vantage in [one.vantage for one in self._folder.members()]:
                results = ResultStore(client, vantage)
                use = await results.use()
                described = await results.list_chunks(use.names)
                loose = {name: count for name, count in use.chunks.items() if name not in described}
                before = self._idle.get(vantage, {})
                await results.remove_chunks({name: count for name, count in loose.items() if before.get(name) == count})
                self._idle[vantage] = loose

    @contextlib.asynccontextmanager
    async def _operator(self) -> AsyncIterator[Client]:
        client = await connect_operator(self._folder, lambda _problem: None)
        try:
            yield client
        finally:
            await client.close()
