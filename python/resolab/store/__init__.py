"""The dataset: the folder of a campaign, written trial by trial and read in place.

For: trial files, the manifest, Parquet tables and every SQL statement. Not for: statistics or figures.

Names in need of DuckDB are loaded on first use, so a run starts its first trial without waiting for DuckDB.
"""

import importlib
from typing import TYPE_CHECKING, Any

from resolab.store.calibrations import append_calibration, read_calibrations
from resolab.store.environment import Environment, cpu_ticks, describe_environment, other_paths
from resolab.store.files import machine_errors, write_named, write_private
from resolab.store.folder import create_dataset_folder, dataset_folder, is_published, refuse_published
from resolab.store.manifest import (
    Decision,
    IntervalWidth,
    Machine,
    Manifest,
    MergedRun,
    RunStatus,
    StopReason,
    Versions,
    describe_machine,
    git_commit,
    load_manifest,
    save_manifest,
)
from resolab.store.merge import merge_datasets
from resolab.store.trials import TrialWriter, find_finished_trials, read_trial, trial_id, trial_records

if TYPE_CHECKING:
    from resolab.store.dataset import Dataset, open_dataset
    from resolab.store.export import ExportFormat, export_tables
    from resolab.store.query_times.distributions import DISTRIBUTION_PROBABILITIES, QueryDistribution
    from resolab.store.tables import build_tables, ensure_tables

_ON_FIRST_USE = {
    "DISTRIBUTION_PROBABILITIES": "resolab.store.query_times.distributions",
    "Dataset": "resolab.store.dataset",
    "QueryDistribution": "resolab.store.query_times.distributions",
    "open_dataset": "resolab.store.dataset",
    "ExportFormat": "resolab.store.export",
    "export_tables": "resolab.store.export",
    "build_tables": "resolab.store.tables",
    "ensure_tables": "resolab.store.tables",
}

__all__ = [
    "DISTRIBUTION_PROBABILITIES",
    "Dataset",
    "Decision",
    "Environment",
    "ExportFormat",
    "IntervalWidth",
    "Machine",
    "Manifest",
    "MergedRun",
    "QueryDistribution",
    "RunStatus",
    "StopReason",
    "TrialWriter",
    "Versions",
    "append_calibration",
    "build_tables",
    "cpu_ticks",
    "create_dataset_folder",
    "dataset_folder",
    "describe_environment",
    "describe_machine",
    "ensure_tables",
    "export_tables",
    "find_finished_trials",
    "git_commit",
    "is_published",
    "load_manifest",
    "machine_errors",
    "merge_datasets",
    "open_dataset",
    "other_paths",
    "read_calibrations",
    "read_trial",
    "refuse_published",
    "save_manifest",
    "trial_id",
    "trial_records",
    "write_named",
    "write_private",
]


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE:
        return getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
