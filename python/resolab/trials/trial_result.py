"""The result of a trial of any kind: its records, and flags for careful reading.

For: selecting the records that belong to a trial. Not for: the judgement of a kind (`page_load`, `exchange`).
"""

from collections.abc import Iterable
from dataclasses import dataclass

from resolab.basics.records import (
    ConnectionRecord,
    EdgeQueryRecord,
    EdgeRequestRecord,
    PathSummaryRecord,
    Record,
    TrialFlag,
)
from resolab.lab.artifacts import NO_FILES, TrialFiles


@dataclass(frozen=True, slots=True)
class TrialResult:
    """Everything recorded during a trial, with flags for careful reading."""

    records: list[Record]
    flags: list[TrialFlag]
    failed: bool
    overhead_ms: float = 0.0
    """The browser's cost beside its navigations, in ms."""
    files: TrialFiles = NO_FILES


def select_trial_records(records: Iterable[Record], since_ns: int) -> list[Record]:
    """Remove the edge's records of earlier trials' connections, ended or still open in this trial.

    A connection with a query or a request of this trial belongs to this trial, at any age: a leak from one trial into
    another must be visible.
    """
    records = list(records)
    used = {r.connection_id for r in records if isinstance(r, EdgeQueryRecord | EdgeRequestRecord)}
    return [
        r
        for r in records
        if not isinstance(r, ConnectionRecord) or r.accepted_ns >= since_ns or r.connection_id in used
    ]


def path_flags(summary: PathSummaryRecord | None, lateness_p99_ms: float) -> list[TrialFlag]:
    """Flag a trial with a late link or packets lost inside the link's devices."""
    if summary is None:
        return [TrialFlag.PATH_SUMMARY_MISSING]
    flags: list[TrialFlag] = []
    late = [d.lateness_p99_ns for d in (summary.up, summary.down) if d.lateness_p99_ns is not None]
    if any(value > lateness_p99_ms * 1e6 for value in late):
        flags.append(TrialFlag.LATENESS_EXCEEDED)
    if summary.up.dropped_device_count or summary.down.dropped_device_count:
        flags.append(TrialFlag.DEVICE_DROPS)
    return flags
