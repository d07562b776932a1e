"""A trial of a campaign and its file, renamed to the final name only when the trial is whole.

For: the first and the last line of the file, and the records between. Not for: the content of a trial (`testbed`).
"""

import os
import time
from pathlib import Path
from typing import Protocol

from resolab.basics.records import FORMAT_VERSION, TrialEndRecord, TrialRecord
from resolab.campaign.schedule import PlannedTrial
from resolab.plan import Condition
from resolab.plan.kind import list_written_levels
from resolab.plan.live import LAB
from resolab.store import TrialWriter
from resolab.trials.trial_result import TrialResult


class TrialRunner(Protocol):
    """A runner of trials: a testbed, or a substitute."""

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        """Run one trial and return its result."""
        ...


async def run_into_file(
    folder: Path, testbed: TrialRunner, trial: PlannedTrial, *, vantage_point: str = LAB
) -> TrialResult:
    """Run a trial and write all its records."""
    with TrialWriter(folder, _head(trial, vantage_point)) as writer:
        result = await testbed.run_trial(trial.condition, trial.trial_id)
        for record in result.records:
            writer.write(record)
        writer.finish(
            TrialEndRecord(
                trial_id=trial.trial_id,
                monotonic_ns=time.monotonic_ns(),
                flags=[*result.flags],
                capture_file=_inside(folder, result.files.capture_file),
                key_log_file=_inside(folder, result.files.key_log_file),
                netlog_file=_inside(folder, result.files.netlog_file),
            )
        )
    return result


def _inside(folder: Path, file: Path | None) -> str | None:
    """Return a file's path relative to the dataset's folder, which may be moved; `None` for a missing file."""
    return None if file is None or not file.exists() else file.resolve().relative_to(folder.resolve()).as_posix()


def _head(trial: PlannedTrial, vantage_point: str) -> TrialRecord:
    condition = trial.condition
    return TrialRecord(
        format_version=FORMAT_VERSION,
        trial_id=trial.trial_id,
        block=trial.block,
        position=trial.position,
        condition=condition.id,
        kind=condition.kind,
        study=condition.study,
        replicate=condition.replicate,
        **list_written_levels(condition),
        browser_kind=condition.own_browser_kind,
        vantage_point=vantage_point,
        monotonic_ns=time.monotonic_ns(),
        wall_time_unix_ns=time.time_ns(),
        load_average_1min=os.getloadavg()[0],
    )
