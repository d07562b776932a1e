"""Archives as files beside a dataset.

For: one trial's text, or the archives of many trials into a folder. Not for: the content of an archive (`archive`).
"""

import json
from collections.abc import Sequence
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.store import dataset_folder, find_finished_trials, read_trial, refuse_published, write_named
from resolab.store.har.archive import archive
from resolab.store.trials import refuse_without_page_loads

SUFFIX = ".har"


def har_text(dataset: Path, trial: str) -> str:
    """Make the archive of one trial as JSON text."""
    return _text(_files(dataset, [trial])[0])


def write_archive(dataset: Path, trial: str, target: Path) -> None:
    """Write the archive of one trial into a file."""
    write_named(target, har_text(dataset, trial).encode())


def write_archives(dataset: Path, trials: Sequence[str], folder: Path) -> list[Path]:
    """Write the archives of these trials, or of all finished ones, as `TRIAL.har` into a folder."""
    written = []
    for file in _files(dataset, trials):
        written.append(folder / f"{file.stem}{SUFFIX}")
        write_named(written[-1], _text(file).encode())
    return written


def _files(dataset: Path, trials: Sequence[str]) -> list[Path]:
    refuse_published(dataset, "write archives of")
    refuse_without_page_loads(dataset, "write archives of")
    known = find_finished_trials(dataset_folder(dataset))
    for trial in trials:
        if trial not in known:
            has = f"it has {next(iter(known))}, for example" if known else "it has none"
            raise ConfigurationError(f"failed to export trial {trial!r} of {dataset}: no such finished trial; {has}")
    return [known[trial] for trial in trials] or list(known.values())


def _text(file: Path) -> str:
    return json.dumps(archive(read_trial(file)), indent=1) + "\n"
