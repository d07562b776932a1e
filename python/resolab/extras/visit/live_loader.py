"""Loads of a visit over the real network: each a trial of a live bed in a scratch folder, with an optional HAR archive.

For: `live_loader`, the start and stop of everything used for loading. Not for: the order of loads (`order`), or the
loading itself (`live`).
"""

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import StorageError
from resolab.basics.records import Record
from resolab.campaign.schedule import PlannedTrial
from resolab.campaign.trial_file import run_into_file
from resolab.extras.visit.order import PlannedVisitLoad
from resolab.extras.visit.plan_text import find_conditions
from resolab.lab.scratch import scratch_folder
from resolab.plan import Condition, Plan
from resolab.store import find_finished_trials, read_trial, trial_id
from resolab.store.folder import TRIALS
from resolab.store.har import archive
from resolab.trials.live import LiveBed
from resolab.trials.live.own_client import QueryClientSettings

WAIT_WORTH_TELLING_S = 2.0
ASKED_BESIDE = QueryClientSettings(rounds=1, pings_count=2)
"""The client's queries and pings beside a load. The loads are compared; fewer extra queries leave time for more loads
in three minutes."""


@dataclass(slots=True)
class LiveLoader:
    """A loader with a live bed for visits."""

    bed: LiveBed
    folder: Path
    """The folder for the trials' files."""
    conditions: Mapping[PlannedVisitLoad, Condition]
    har_folder: Path | None

    async def load(self, visit: PlannedVisitLoad, number: int) -> Sequence[Record]:
        """Run one trial; a round is a batch with a freshly fetched opt-out list."""
        condition = self.conditions[visit]
        trial = PlannedTrial(trial_id(visit.round, number), visit.round, number, condition, condition.id)
        await run_into_file(self.folder, self.bed, trial)
        file = find_finished_trials(self.folder)[trial.trial_id]
        records = list(read_trial(file))
        if self.har_folder is not None:
            _write_archive(self.har_folder / f"{trial.trial_id}.har", records)
        return records


@asynccontextmanager
async def live_loader(
    plan: Plan, visits: Sequence[PlannedVisitLoad], *, har_folder: Path | None, on_note: Callable[[str], None]
) -> AsyncIterator[LiveLoader]:
    """Start browsers, stub and client for these visits; stop all when the block ends, also after an error."""
    conditions = find_conditions(plan, visits)
    if har_folder is not None:
        _make(har_folder)

    def on_wait(wait_s: float) -> None:
        if wait_s > WAIT_WORTH_TELLING_S:
            on_note(f"waiting {wait_s:.0f} s: nobody is asked more often than the caps allow")

    with scratch_folder() as folder:
        (folder / TRIALS).mkdir()
        async with LiveBed(plan, folder, on_wait=on_wait, client=ASKED_BESIDE) as bed:
            yield LiveLoader(bed, folder, conditions, har_folder)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _not_written(folder, error) from error


def _write_archive(file: Path, records: Sequence[Record]) -> None:
    try:
        file.write_text(json.dumps(archive(records), indent=1) + "\n", "utf-8")
    except OSError as error:
        raise _not_written(file, error) from error


def _not_written(place: Path, error: OSError) -> StorageError:
    return StorageError(f"could not write {place}: {error.strerror or error}; give another folder with --har")
