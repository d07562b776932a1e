"""A runner of trials of our own client in a lab, without a browser: the steps common to exchanges, fetches and studies.

For: the order of a trial's steps, and its summary by the path. Not for: the client of a kind (`exchange`, `fetch`,
`study`).
"""

import asyncio
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from resolab.basics.records import MEASURED_LABEL, PathSummaryRecord, Record, TrialFlag
from resolab.lab.artifacts import NOTHING_KEPT, KeptFolders
from resolab.lab.distance import longest_rtt_ms
from resolab.lab.lab import Lab, add_no_tables
from resolab.lab.running_parts import RunningParts
from resolab.plan import Condition, Corpus, Plan
from resolab.trials.trial_result import TrialResult, path_flags, select_trial_records

SETTLE_MS = 60.0
"""The time beyond a round trip, in ms, for the last packets of the trial before."""


class ClientRunner(RunningParts):
    """A lab, with a method to run a trial of a client process."""

    def __init__(
        self,
        plan: Plan,
        corpus: Corpus,
        seed: int,
        *,
        kept: KeptFolders = NOTHING_KEPT,
        add_tables: Callable[[Path], str] = add_no_tables,
    ) -> None:
        super().__init__()
        self.plan = plan
        self.lab = Lab(plan, corpus, seed, kept=kept, add_tables=add_tables)
        self.trial_id = ""
        """The identifier of the current trial."""

    async def _start(self) -> None:
        await self._stack.enter_async_context(self.lab)

    @abstractmethod
    async def run_client(self, condition: Condition) -> tuple[list[Record], list[TrialFlag], bool]:
        """Run the client of a trial; return its records, their flags, and True when the measured part failed."""

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        """Run one trial, in a new client process."""
        lab, self.trial_id = self.lab, trial_id
        await lab.replace_dead_edge()
        await lab.apply_condition(condition, trial_id)
        await asyncio.sleep((longest_rtt_ms(lab.find_profile(condition)) + SETTLE_MS) / 1000)
        async with lab.keeper.keep(lab.path, trial_id) as files:
            result = await self._measure(condition)
        return replace(result, files=files)

    async def _measure(self, condition: Condition) -> TrialResult:
        lab = self.lab
        await lab.path.summary("before_measured")
        if lab.profiles[condition.profile].schedule:
            await lab.path.start_schedule()
        lab.records.clear()
        trial_ns = time.monotonic_ns()
        told, flags, failed = await self.run_client(condition)
        await lab.run_unless_dead(lab.edge, lab.edge.flush())
        await lab.path.summary(MEASURED_LABEL)
        software_records, ends = await lab.software.end_trial(condition)
        records = [*told, *select_trial_records(lab.records, trial_ns), *software_records]
        summary = next((r for r in records if isinstance(r, PathSummaryRecord) and r.label == MEASURED_LABEL), None)
        ended = [] if lab.edge.process.running else [TrialFlag.EDGE_ENDED]
        late = path_flags(summary, self.plan.limits.lateness_p99_ms)
        return TrialResult(records, [*flags, *late, *ended, *ends], failed=failed)
