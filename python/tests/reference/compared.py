"""A report held against plain arithmetic: which numbers differ, and which nobody computed.

For: tests and `scripts/reference_analysis`. Not for: either side.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from reference.made_up_runs import make_run
from reference.plain_papers import papers_told
from reference.plain_told import plainly_told
from reference.reported import Told, reported

TOLERANCE = 1e-6
"""Relative; medians of phases are told to the microsecond, exchanges of many to a ten thousandth."""
TOLERANCES = {"s24_connects": 1e-3}


@dataclass(frozen=True)
class Difference:
    """A number that a report has otherwise, or lacks, or has too many of."""

    key: tuple[str, ...]
    reported: object
    reference: object

    def __str__(self) -> str:
        return f"{' | '.join(self.key)}: report {self.reported!r}, reference {self.reference!r}"


def compare(folder: Path, seed: int) -> tuple[int, list[Difference]]:
    """Make a seed's dataset and hold its report against the reference; return how many numbers, and what differs."""
    plan = make_run(folder, seed)
    found = reported(folder)
    right = plainly_told(folder, plan) | papers_told(folder, plan)
    return len(found), differences(found, right)


def differences(found: Told, right: Told) -> list[Difference]:
    """List what differs, either way."""
    return [
        Difference(key, found.get(key, "nothing"), right.get(key, "nothing"))
        for key in sorted(found.keys() | right.keys(), key=str)
        if not _is_same(found.get(key, "nothing"), right.get(key, "nothing"), TOLERANCES.get(key[0], TOLERANCE))
    ]


def _is_same(one: object, other: object, tolerance: float) -> bool:
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other or math.isclose(one, other, rel_tol=tolerance, abs_tol=1e-9)
    return one == other
