"""Testbeds kept from one block to the next, for a process receiving single blocks.

For: avoiding the start of path, edge and browsers at every block. Not for: the testbed itself, or running trials
(`loop`).

A campaign begins and ends these testbeds like any others; only the real end is delayed. A testbed with a failure during
a trial is not kept. The testbeds beside a failed testbed end too, as in a campaign.
"""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from types import TracebackType

from resolab.campaign.loop import MakeTestbed
from resolab.campaign.trial_file import TrialRunner
from resolab.plan import Condition, Plan
from resolab.trials.trial_result import TrialResult

_PoolKey = tuple[Plan, int, Path]
"""The plan, seed and folder of a testbed; another plan, seed or folder needs another testbed."""


class TestbedPool:
    """A pool of testbeds made by `make_testbed`, each lent again while intact.

    Testbeds belong to the event loop of their start; the pool's owner calls `close` in the same loop.
    """

    def __init__(self, make_testbed: MakeTestbed) -> None:
        self._make_testbed = make_testbed
        self._key: _PoolKey | None = None
        self._standing: dict[int, _PooledTestbed] = {}
        """The kept testbeds by the path's number."""
        self._lent: set[int] = set()
        self._used: set[int] = set()
        """The paths used since the last time without a lent testbed."""

    def __call__(self, plan: Plan, seed: int, folder: Path, number: int) -> AbstractAsyncContextManager[TrialRunner]:
        """Lend a testbed; the maker called by `Campaign`."""
        return _TestbedLoan(self, (plan, seed, folder), number)

    def paths_count(self) -> int:
        """Return the number of emulated paths kept alive."""
        is_live = self._key is not None and self._key[0].live is not None
        return 0 if is_live else len(self._standing)

    async def close(self) -> None:
        """End all kept testbeds; new testbeds are made on demand."""
        standing, self._standing, self._key = self._standing, {}, None
        # One after the other, in this very task: what they began in may be ended in no other.
        async with AsyncExitStack() as stack:
            for one in standing.values():
                stack.push_async_callback(one.end)

    async def take(self, key: _PoolKey, number: int) -> TrialRunner:
        """Lend the testbed of a path, making a new testbed when needed."""
        if key != self._key:
            await self.close()
            self._key = key
        if number not in self._standing:
            self._standing[number] = await _PooledTestbed.begin(self._make_testbed(*key, number))
        self._lent.add(number)
        self._used.add(number)
        return self._standing[number]

    async def take_back(self, number: int, error: BaseException | None) -> None:
        """Take back a testbed; after the last return, end broken and unneeded testbeds."""
        self._lent.discard(number)
        if error is not None and number in self._standing:
            self._standing[number].broken = True
        if self._lent:
            return
        used, self._used = self._used, set()
        if any(one.broken for one in self._standing.values()):
            await self.close()
            return
        # A campaign that has fallen back to fewer paths leaves the others for good.
        for unneeded in set(self._standing) - used:
            await self._standing.pop(unneeded).end()


class _TestbedLoan:
    """The loan of a testbed to a campaign."""

    def __init__(self, beds: TestbedPool, key: _PoolKey, number: int) -> None:
        self._beds, self._key, self._number = beds, key, number

    async def __aenter__(self) -> TrialRunner:
        return await self._beds.take(self._key, self._number)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._beds.take_back(self._number, error)


class _PooledTestbed:
    """A running testbed, with a flag for a failure."""

    def __init__(self, manager: AbstractAsyncContextManager[TrialRunner], runner: TrialRunner) -> None:
        self._manager, self._runner = manager, runner
        self.broken = False

    @classmethod
    async def begin(cls, manager: AbstractAsyncContextManager[TrialRunner]) -> "_PooledTestbed":
        return cls(manager, await manager.__aenter__())

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        try:
            return await self._runner.run_trial(condition, trial_id)
        except BaseException:
            # The instrument's own failure, or a trial that was abandoned: nobody knows in what state all is.
            self.broken = True
            raise

    async def end(self) -> None:
        await self._manager.__aexit__(None, None, None)
