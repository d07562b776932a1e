"""Testbeds that stand from one block to the next, for a process that is given its blocks one by one.

For: not paying for path, edge and browsers at every block. Not for: what a testbed is, or running trials (`loop`).

To a campaign these are testbeds like others, begun and ended by it; only that the end is put off. What failed in the
middle of a trial does not stand on, and with it go those that stood beside it, as in a campaign.
"""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from types import TracebackType

from resolab.campaign.loop import MakeTestbed
from resolab.campaign.trial_file import TrialRunner
from resolab.plan import Condition, Plan
from resolab.testbed import TrialResult

_Ground = tuple[Plan, int, Path]
"""What a testbed is made for: with any other plan, seed or folder it is another one."""


class StandingTestbeds:
    """Makes testbeds as `make_testbed` does, but each is handed out again as long as it is whole.

    Whatever stands belongs to the event loop it was begun in, and whoever has this calls `close` in that.
    """

    def __init__(self, make_testbed: MakeTestbed) -> None:
        self._make_testbed = make_testbed
        self._ground: _Ground | None = None
        self._standing: dict[int, _Testbed] = {}
        """By the path's number."""
        self._lent: set[int] = set()
        self._used: set[int] = set()
        """Those lent since none was."""

    def __call__(self, plan: Plan, seed: int, folder: Path, number: int) -> AbstractAsyncContextManager[TrialRunner]:
        """Lend a testbed: what `Campaign` calls to make one."""
        return _Loan(self, (plan, seed, folder), number)

    def paths_count(self) -> int:
        """Count emulated paths that stand."""
        is_live = self._ground is not None and self._ground[0].live is not None
        return 0 if is_live else len(self._standing)

    async def close(self) -> None:
        """End whatever stands; others are made when they are needed."""
        standing, self._standing, self._ground = self._standing, {}, None
        # One after the other, in this very task: what they began in may be ended in no other.
        async with AsyncExitStack() as stack:
            for one in standing.values():
                stack.push_async_callback(one.end)

    async def take(self, ground: _Ground, number: int) -> TrialRunner:
        """Hand out the testbed of a path, new or not."""
        if ground != self._ground:
            await self.close()
            self._ground = ground
        if number not in self._standing:
            self._standing[number] = await _Testbed.begun(self._make_testbed(*ground, number))
        self._lent.add(number)
        self._used.add(number)
        return self._standing[number]

    async def take_back(self, number: int, error: BaseException | None) -> None:
        """Take back a testbed; when the last one is back, end what is broken or was not needed any more."""
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


class _Loan:
    """One testbed for as long as a campaign has it."""

    def __init__(self, beds: StandingTestbeds, ground: _Ground, number: int) -> None:
        self._beds, self._ground, self._number = beds, ground, number

    async def __aenter__(self) -> TrialRunner:
        return await self._beds.take(self._ground, self._number)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._beds.take_back(self._number, error)


class _Testbed:
    """A testbed that has begun, and whether it can be used again."""

    def __init__(self, manager: AbstractAsyncContextManager[TrialRunner], runner: TrialRunner) -> None:
        self._manager, self._runner = manager, runner
        self.broken = False

    @classmethod
    async def begun(cls, manager: AbstractAsyncContextManager[TrialRunner]) -> "_Testbed":
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
