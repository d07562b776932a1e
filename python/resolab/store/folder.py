"""The dataset's folder: where its parts are, making a new one, recognising an old one.

For: paths. Not for: contents.
"""

from pathlib import Path

from resolab.errors import ConfigurationError
from resolab.store.files import machine_errors

MANIFEST = "manifest.json"
PLAN = "plan.toml"
TRIALS = "trials"
TABLES = "tables"
REPORT = "report"
README = "README.md"
CALIBRATION = "calibration.jsonl"
LOCK = ".lock"


def create_dataset_folder(folder: Path) -> Path:
    """Make the folder of a new dataset with an empty `trials` in it; a folder that holds anything is refused."""
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
    """Whether a folder is empty, or was left by a run that was killed before its first trial began."""
    parts = {part.name for part in folder.iterdir()}
    return parts <= {TRIALS, LOCK} and not (TRIALS in parts and any((folder / TRIALS).iterdir()))


def dataset_folder(folder: Path) -> Path:
    """Check that a folder holds a dataset."""
    if not (folder / MANIFEST).is_file():
        problem = f"there is no {MANIFEST} in it"
        raise ConfigurationError(f"failed to open dataset {folder}: {problem}; give a folder that `resolab run` made")
    return folder
