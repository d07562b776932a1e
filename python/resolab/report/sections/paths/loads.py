"""The critical paths of a dataset's loads of modelled pages, with their connections and the closed form.

For: reading records. Not for: sums (`summary`), or pages without a model, because their request dependencies are
unknown.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resolab.basics.records import PageLoadRecord, Record, TrialRecord
from resolab.basics.wording import format_count
from resolab.pages.model import PageModel
from resolab.pages.path import (
    CriticalPath,
    LoadConnections,
    LookupPrediction,
    count_connections,
    critical_path,
    find_failure,
    find_round_trips,
    read_instants,
)
from resolab.plan import access_rtt_ms, parse_plan
from resolab.report.sections.paths.predictions import LookupPredictor
from resolab.store import dataset_folder, load_manifest
from resolab.store.recorded import records_of_trials

TABLES_READ = ("page_loads", "requests", "edge_requests", "connections")
"""The tables with the records behind a path."""


@dataclass(frozen=True, slots=True)
class LoadPath:
    """A load's path, and the prediction of its lookups by the page's structure."""

    trial: TrialRecord
    path: CriticalPath
    predicted: LookupPrediction
    connections: LoadConnections | None
    """The connections as seen by the server; `None` without server records."""

    @property
    def arm(self) -> str:
        """The condition without its page."""
        return name_arm(self.trial)


@dataclass(frozen=True, slots=True)
class LoadPaths:
    """The paths of a dataset, and the reasons for missing paths."""

    found: Sequence[LoadPath]
    pages_without_model: Sequence[str]
    loads_without_path_count: int
    """Successful loads of modelled pages without a load event, or without any request of the model."""
    failed_count: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Failed loads of modelled pages, by arm and by failure; an arm may have only failed loads."""

    @property
    def left_out(self) -> Sequence[str]:
        """Sentences about the loads without a path, with their number."""
        told = []
        if self.failed_count:
            arms = "; ".join(f"{arm}: {_join_counts(whys)}" for arm, whys in self.failed_count.items())
            count = sum(sum(whys.values()) for whys in self.failed_count.values())
            told.append(
                f"{format_count(count, 'load')} failed and {'is' if count == 1 else 'are'} left out ({arms}): medians "
                "of an arm that fails more often than another look shorter for it"
            )
        if self.loads_without_path_count:
            told.append(
                f"{format_count(self.loads_without_path_count, 'load')} without a load event or any request of the "
                "model"
            )
        if self.pages_without_model:
            told.append(f"pages without a model, left out: {', '.join(self.pages_without_model)}")
        return told


def name_arm(trial: TrialRecord) -> str:
    """Return a trial's condition without its page."""
    return trial.condition.removeprefix(f"{trial.page}.")


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def load_paths(folder: Path, models: Mapping[str, PageModel]) -> LoadPaths:
    """Find the path of every measured load; `models` maps the page's name in the dataset to its model."""
    manifest = load_manifest(dataset_folder(folder))
    plan = parse_plan(manifest.plan_text, str(folder / "plan.toml"), corpus=None, begun_with=manifest.pages())
    predictions = LookupPredictor(manifest, plan)
    access_ms = {link.name: access_rtt_ms(link) for link in manifest.profiles}
    found: list[LoadPath] = []
    without_model: dict[str, None] = {}
    without_path = 0
    failed: dict[str, dict[str, int]] = {}
    for records in records_of_trials(folder, TABLES_READ):
        head = next(one for one in records if isinstance(one, TrialRecord))
        model = models.get(head.page)
        if model is None:
            without_model[head.page] = None
            continue
        failure = find_failure(records)
        if failure is not None:
            of_arm = failed.setdefault(name_arm(head), {})
            of_arm[failure] = of_arm.get(failure, 0) + 1
            continue
        path = _path(model, records, access_ms.get(head.profile, 0.0))
        if path is None:
            without_path += any(isinstance(one, PageLoadRecord) and one.measured for one in records)
        else:
            found.append(LoadPath(head, path, predictions.predict(model, head), count_connections(model, records)))
    return LoadPaths(found, tuple(without_model), without_path, failed)


def _path(model: PageModel, records: Sequence[Record], access_ms: float) -> CriticalPath | None:
    load = read_instants(model, records, access_ms)
    if load is None:
        return None
    # No host is nearer than the access network's other end: a shorter handshake was a gateway's, none was another's.
    seen = find_round_trips(model, load)
    return critical_path(model, load, {host: max(seen.get(host, 0.0), access_ms) for host in range(len(model.hosts))})
