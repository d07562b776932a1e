"""Columns that a study adds to the table of failures: the study's own word for a failed page load.

For: the shape of a column, and finding those of all studies. Not for: the words (each study's `load_status`).
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FailureColumn:
    """A study's word for each failure of a page load."""

    title: str
    describe: Callable[[str], str]


def find_failure_columns() -> list[FailureColumn]:
    """List the columns of all studies; the report knows no study, and finds the package by its name."""
    found: list[FailureColumn] = importlib.import_module("resolab.studies").find_values("load_status", "FAILURE_COLUMN")
    return found
