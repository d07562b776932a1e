"""The critical path of every load of a dataset whose page has a model, with its connections and the closed form.

For: reading trials. Not for: sums (`summary`), or pages without a model: nobody knows who discovered whom there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resolab.pages.model import PageModel
from resolab.pages.path import (
    Announced,
    CriticalPath,
    LoadConnections,
    LookupPrediction,
    connections_of,
    critical_path,
    failure_of,
    instants_of,
    predicted_lookups,
    seen_round_trips,
)
from resolab.plan import access_rtt_ms
from resolab.records import AnswerPush, PageLoadRecord, Record, TrialRecord
from resolab.store import dataset_folder, finished_trials, load_manifest, read_trial
from resolab.wording import counted


@dataclass(frozen=True, slots=True)
class LoadPath:
    """One load's path, and what the page's structure had said of its look-ups."""

    trial: TrialRecord
    path: CriticalPath
    predicted: LookupPrediction
    connections: LoadConnections | None
    """As the server saw them; none without its records."""

    @property
    def arm(self) -> str:
        """Its condition without its page."""
        return arm_of(self.trial)


@dataclass(frozen=True, slots=True)
class LoadPaths:
    """Those of a dataset, and why others have none."""

    found: Sequence[LoadPath]
    pages_without_model: Sequence[str]
    loads_without_path_count: int
    """Of pages with a model: good loads without a load event, or whose requests are none of the model's."""
    failed_count: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Of pages with a model: loads that failed, by arm and by why; an arm may have no others."""

    @property
    def left_out(self) -> Sequence[str]:
        """Say in sentences which loads have no path, and how many."""
        told = []
        if self.failed_count:
            arms = "; ".join(f"{arm}: {_listed(whys)}" for arm, whys in self.failed_count.items())
            count = sum(sum(whys.values()) for whys in self.failed_count.values())
            told.append(
                f"{counted(count, 'load')} failed and {'is' if count == 1 else 'are'} left out ({arms}): medians of an "
                "arm that fails more often than another look shorter for it"
            )
        if self.loads_without_path_count:
            told.append(
                f"{counted(self.loads_without_path_count, 'load')} without a load event or any request of the model"
            )
        if self.pages_without_model:
            told.append(f"pages without a model, left out: {', '.join(self.pages_without_model)}")
        return told


def arm_of(trial: TrialRecord) -> str:
    """Name a trial's condition without its page."""
    return trial.condition.removeprefix(f"{trial.page}.")


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def load_paths(folder: Path, models: Mapping[str, PageModel]) -> LoadPaths:
    """Find the path of every measured load; models are by the page's name in the dataset."""
    manifest = load_manifest(dataset_folder(folder))
    access_ms = {link.name: access_rtt_ms(link) for link in manifest.profiles}
    found: list[LoadPath] = []
    without_model: dict[str, None] = {}
    without_path = 0
    failed: dict[str, dict[str, int]] = {}
    for file in finished_trials(folder).values():
        records = list(read_trial(file))
        head = next(one for one in records if isinstance(one, TrialRecord))
        model = models.get(head.page)
        if model is None:
            without_model[head.page] = None
            continue
        failure = failure_of(records)
        if failure is not None:
            of_arm = failed.setdefault(arm_of(head), {})
            of_arm[failure] = of_arm.get(failure, 0) + 1
            continue
        path = _path(model, records, access_ms.get(head.profile, 0.0))
        if path is None:
            without_path += any(isinstance(one, PageLoadRecord) and one.measured for one in records)
        else:
            predicted = _predicted(model, head, access_ms.get(head.profile, 0.0))
            found.append(LoadPath(head, path, predicted, connections_of(model, records)))
    return LoadPaths(found, tuple(without_model), without_path, failed)


def _path(model: PageModel, records: Sequence[Record], access_ms: float) -> CriticalPath | None:
    load = instants_of(model, records, access_ms)
    if load is None:
        return None
    # No host is nearer than the access network's other end: a shorter handshake was a gateway's, none was another's.
    seen = seen_round_trips(model, load)
    return critical_path(model, load, {host: max(seen.get(host, 0.0), access_ms) for host in range(len(model.hosts))})


def _predicted(model: PageModel, trial: TrialRecord, access_ms: float) -> LookupPrediction:
    return predicted_lookups(
        model,
        dns_transport=trial.dns_transport,
        resolver_rtt_ms=access_ms + trial.resolver_extra_rtt_ms,
        handshake_mode=trial.requested_dns_handshake_mode,
        connection_state=trial.dns_connection_state,
        round_trip_ms=access_ms,
        announced=Announced.WITH_FIRST if trial.answer_push is AnswerPush.PAGE_NAMES else Announced.NOT,
    )
