"""Trials of a study in a lab, one at a time.

For: the study's client between the common steps, and its values as records. Not for: the steps (`client_runner`), path
and edge (`lab`), or the work of a study (its folder in `studies`).
"""

from functools import partial

from resolab.basics.errors import ResolabError
from resolab.basics.records import Record, StudyValueRecord, TrialFlag
from resolab.lab.artifacts import NOTHING_KEPT, KeptFolders
from resolab.plan import Condition, Corpus, Plan, stream_seed
from resolab.plan.study import find_trials
from resolab.trials.client_runner import ClientRunner
from resolab.trials.study.study_trials import StudyResult, StudyTrial, StudyTrials


class StudyRunner(ClientRunner):
    """The lab of a campaign, with a method to run a trial of the plan's study."""

    def __init__(self, plan: Plan, corpus: Corpus, seed: int, *, kept: KeptFolders = NOTHING_KEPT) -> None:
        assert plan.study is not None  # The plan's kind is `study`.
        self._study = plan.study
        self._trials: StudyTrials = find_trials(plan.study.name)
        self._seed = seed
        super().__init__(plan, corpus, seed, kept=kept, add_tables=partial(self._trials.add_tables, plan))

    async def _start(self) -> None:
        await super()._start()
        await self._trials.prepare(self.lab, self.plan)

    async def run_client(self, condition: Condition) -> tuple[list[Record], list[TrialFlag], bool]:
        """Run the study's client."""
        block = self.trial_id.partition("-")[0]
        seed = stream_seed(self._seed, "study", block)
        result = await self._trials.run(StudyTrial(self.lab, self.plan, condition, self._study.settings, seed))
        times = [f"{one.name}_ms" for one in self._trials.declaration.times]
        return [*result.records, *list_values(result, times)], [*result.flags], result.failure is not None


def list_values(result: StudyResult, times: list[str]) -> list[Record]:
    """Return a trial's values as records: all declared times, null after a failure, and the values beside."""
    missing = [name for name in times if name not in result.values]
    if missing and result.failure is None:
        raise ResolabError(f"a trial of the study ended without a failure and without {', '.join(missing)}")
    names = [*times, *(name for name in result.values if name not in times)]
    return [
        StudyValueRecord(
            name=name,
            value=result.values.get(name) if result.failure is None else None,
            limit_ms=result.limit_ms if name in times else None,
            failure=result.failure,
            failure_detail=result.failure_detail,
        )
        for name in names
    ]
