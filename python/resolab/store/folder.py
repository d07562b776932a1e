"""The dataset's folder: the paths of its parts, making a new folder, recognising an old folder.

For: paths. Not for: contents.
"""

from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.store.files import machine_errors

MANIFEST = "manifest.json"
PLAN = "plan.toml"
TRIALS = "trials"
TABLES = "tables"
MANIFESTS = "manifests"
REPORT = "report"
PAGE = "index.html"
FIGURES = "figures"
README = "README.md"
CALIBRATION = "calibration.jsonl"
LOCK = ".lock"


def create_dataset_folder(folder: Path) -> Path:
    """Make the folder of a new dataset with an empty `trials` folder; a non-empty folder is refused."""
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"failed to start a dataset in {folder}: it is no folder; give another --out")
    with machine_errors(f"make the dataset folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        if not _holds_nothing(folder):
            hint = f"continue it with `resolab resume {folder}` or give another --out"
            raise ConfigurationError(f"failed to start a dataset in {folder}: the folder is not empty; {hint}")
        (folder / TRIALS).mkdir(exist_ok=True)
    return folder


def _holds_nothing(folder: Path) -> bool:
    """Return True for an empty folder, or for the rest of a run killed before its first trial."""
    parts = {part.name for part in folder.iterdir()}
    return parts <= {TRIALS, LOCK} and not (TRIALS in parts and any((folder / TRIALS).iterdir()))


def is_published(folder: Path) -> bool:
    """Return True for a dataset without a folder of trials: its tables are all there is, and are read as they are."""
    return not (folder / TRIALS).exists() and (folder / TABLES / f"{TRIALS}.parquet").is_file()


def refuse_published(folder: Path, action: str) -> None:
    """Raise ConfigurationError for a published dataset, before an action in need of its trial files."""
    if is_published(folder):
        problem = "it is a published dataset, its tables without its trial files"
        hint = f"run its plan for new trials: resolab run {folder / PLAN}"
        raise ConfigurationError(f"failed to {action} {folder}: {problem}; {hint}")


def dataset_folder(folder: Path) -> Path:
    """Return the folder when the folder holds a dataset; raise ConfigurationError otherwise."""
    if not (folder / MANIFEST).is_file():
        problem = f"there is no {MANIFEST} in it"
        raise ConfigurationError(f"failed to open dataset {folder}: {problem}; give a folder that `resolab run` made")
    return folder
