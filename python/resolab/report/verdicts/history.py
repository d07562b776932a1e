"""Datasets of one plan as a history: a table that Apache Otava reads, and a result that bencher reads.

For: `resolab history`. Not for: finding changes in a history, the job of those programs.

Each expectation of a comparison is a metric: the median difference from the baseline in ms, the share of slow trials
(0 to 1), or the number of failures. Differences are comparable between days, medians of load times are not.
"""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from resolab.basics.errors import ConfigurationError
from resolab.campaign.checks.decision import Interval
from resolab.plan.expectation import TIME_KINDS, ExpectationKind
from resolab.report.verdicts.check_result import CheckResult
from resolab.report.verdicts.dataset_check import DatasetCheck, check_dataset

ATTRIBUTES = ("dataset", "plan", "resolab", "resolab_core", "browsers", "load_average")
"""The columns that describe a dataset."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A value of a dataset with its interval."""

    unit: str
    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A dataset of a history."""

    time: str
    """The beginning of the run, ISO 8601 in UTC."""
    attributes: Mapping[str, str]
    metrics: Mapping[str, Metric]


def read_history(folders: Sequence[Path]) -> list[HistoryRow]:
    """Read the datasets in the order of their runs."""
    checks = [check_dataset(folder) for folder in folders]
    checks.sort(key=lambda one: one.manifest.created_unix_ns)
    return [_make_row(one) for one in checks]


def _make_row(check: DatasetCheck) -> HistoryRow:
    manifest = check.manifest
    begun = datetime.fromtimestamp(manifest.created_unix_ns / 1e9, tz=UTC)
    values = (
        manifest.dataset_id,
        manifest.plan,
        manifest.versions.resolab,
        manifest.versions.resolab_core or "",
        "; ".join(f"{name} {version}" for name, version in manifest.versions.browsers.items()),
        "" if check.load_average is None else f"{check.load_average:.2f}",
    )
    metrics = {name: metric for one in check.results for name, metric in _list_metrics(one)}
    return HistoryRow(begun.isoformat(timespec="seconds"), dict(zip(ATTRIBUTES, values, strict=True)), metrics)


def _list_metrics(one: CheckResult) -> list[tuple[str, Metric]]:
    """Return the metric of a check with its name; none without a value."""
    name = f"{one.expectation.name}: {one.comparison.treatment.id}"
    if one.expectation.kind in TIME_KINDS:
        found = None if one.estimate_ms is None else Metric("difference_ms", one.estimate_ms, one.interval_ms)
    elif one.expectation.kind is ExpectationKind.FAILURES_AT_MOST:
        found = Metric("failures", float(one.failures_count), None)
    else:
        found = None if one.share is None else Metric("slow_share", one.share, one.share_interval)
    return [] if found is None else [(f"{name} {found.unit}", found)]


def list_common_metrics(rows: Sequence[HistoryRow]) -> list[str]:
    """List the metrics of all rows; Otava accepts no empty cell."""
    common = [name for name in rows[0].metrics if all(name in row.metrics for row in rows)]
    if not common:
        problem = "no expectation has a value in all of them"
        raise ConfigurationError(f"could not join {len(rows)} datasets: {problem}; give datasets of one plan")
    return common


def list_left_out_metrics(rows: Sequence[HistoryRow]) -> list[str]:
    """List the metrics that some datasets lack, in the order of their first dataset."""
    every = {name: None for row in rows for name in row.metrics}
    return [name for name in every if any(name not in row.metrics for row in rows)]


def as_csv(rows: Sequence[HistoryRow]) -> str:
    """Write a line for each dataset: time, attributes, and the metrics of all datasets."""
    metrics, out = list_common_metrics(rows), io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["time", *ATTRIBUTES, *metrics])
    for row in rows:
        values = (f"{row.metrics[name].value:.6g}" for name in metrics)
        writer.writerow([row.time, *row.attributes.values(), *values])
    return out.getvalue()


def as_otava_configuration(rows: Sequence[HistoryRow], csv_file: Path) -> str:
    """Write Otava's configuration for the CSV; a smaller value is better. JSON is also YAML."""
    metrics = {name: {"column": name, "direction": -1, "scale": 1} for name in list_common_metrics(rows)}
    test = {
        "type": "csv",
        "file": str(csv_file),
        "time_column": "time",
        "attributes": ["dataset"],
        "metrics": metrics,
        "csv_options": {"delimiter": ",", "quote_char": '"'},
    }
    return json.dumps({"tests": {rows[-1].attributes["plan"]: test}}, indent=2) + "\n"


def as_bencher_metrics(row: HistoryRow) -> dict[str, Any]:
    """Return a dataset in the Bencher Metric Format: each metric with its interval."""
    found: dict[str, Any] = {}
    for name, metric in row.metrics.items():
        values = {"value": metric.value}
        if metric.interval is not None:
            ends = {"lower_value": metric.interval.low, "upper_value": metric.interval.high}
            values |= {end: value for end, value in ends.items() if abs(value) != float("inf")}
        found[name.removesuffix(f" {metric.unit}")] = {metric.unit: values}
    return found
