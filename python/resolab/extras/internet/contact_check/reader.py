"""Read a box's received contacts, and a dataset's own account of contacts.

For: the input of `resolab internet contacts`. Not for: comparing.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import LiveTrialRecord, PageFailure, PageLoadRecord, TrialRecord
from resolab.extras.internet.box import CONTACTS_FILE
from resolab.extras.internet.contact_check.box_contacts import BoxContacts
from resolab.plan import Plan
from resolab.plan.manners import find_site
from resolab.store import load_manifest
from resolab.store.recorded import records_of_trials


class DatasetContacts(msgspec.Struct, frozen=True, kw_only=True):
    """The contacts according to a dataset."""

    seed: int
    blocks: int
    loads: Mapping[str, int]
    """The number of started page loads, by site."""
    left_alone: Mapping[str, int]
    """The number of loads refused by the manners, by site."""
    batches_ns: Sequence[int]
    """The start of each block, on the monotonic clock, in ns."""


def read_contacts(folder: Path) -> BoxContacts:
    """Read a box's `contacts.json`; raises for a file without instants, not comparable with a cap."""
    file = folder / CONTACTS_FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=BoxContacts)
    except (OSError, msgspec.MsgspecError) as error:
        advice = "give the folder of a box that `internet up` or `run` kept with --folder"
        raise ConfigurationError(f"failed to read what the box got, {file}: {error}; {advice}") from error


def read_dataset_contacts(dataset: Path, plan: Plan) -> DatasetContacts:
    """Read a dataset's own account; the dataset must be of the plan."""
    manifest = load_manifest(dataset)
    if manifest.plan != plan.name or manifest.live is None:
        raise ConfigurationError(
            f"could not hold {dataset} against plan {plan.name}: it is of {manifest.plan}; give the plan it was run by"
        )
    loads, left_alone = Counter[str](), Counter[str]()
    begins: dict[int, int] = {}
    for trial, url, failure in _trials(dataset):
        begins[trial.block] = min(trial.monotonic_ns, begins.get(trial.block, trial.monotonic_ns))
        (left_alone if failure is PageFailure.LEFT_ALONE else loads)[find_site(url)] += 1
    return DatasetContacts(
        seed=manifest.seed, blocks=manifest.blocks, loads=loads, left_alone=left_alone,
        batches_ns=sorted(begins.values()),
    )  # fmt: skip


def _trials(dataset: Path) -> Iterator[tuple[TrialRecord, str, PageFailure | None]]:
    """Yield each trial with its site's URL and the failure of its load."""
    for records in records_of_trials(dataset, ("live_trials", "page_loads")):
        trial = next((one for one in records if isinstance(one, TrialRecord)), None)
        live = next((one for one in records if isinstance(one, LiveTrialRecord)), None)
        load = next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)
        if trial is not None and live is not None and load is not None:
            yield trial, live.url, load.failure
