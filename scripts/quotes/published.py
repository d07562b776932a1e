"""Published datasets as tables: their Parquet files, the numbers of figures, tables of reports, estimates from loads.

For: every number quoted in prose about the datasets. Not for: printing (`words`).

A failed load, or a load without all of its page's resources, took at least its limit. The first byte of a load without
all resources was seen, and counts as seen.
"""

import csv
import html
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb

from resolab.report.sections.missing import AS_PUBLISHED
from resolab.stats import Estimate, Sample, compute_paired_p_value, estimate_paired_difference
from resolab.store.files import escape_for_duckdb

Row = Mapping[str, Any]
INCOMPLETE, INCOMPLETE_FLAG = "incomplete", "resources_missing"
"""The word in failures, and the word in flags without such a failure."""

SEEN_BEFORE_RESOURCES = {"response_start_ms"}


class PublishedDatasets:
    """The datasets in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows = cache(self._read)
        self._loads = cache(self._join)
        self._queries = cache(self._answered)

    def rows(self, file: str, **having: object) -> list[Row]:
        """List the rows of `DATASET/FOLDER/NAME` with the given values; numbers are numbers."""
        return [row for row in self._rows(file) if all(row[name] == value for name, value in having.items())]

    def cell(self, file: str, column: str, **having: object) -> Any:
        """Return the cell of the only row with the given values."""
        found = self.rows(file, **having)
        if len(found) != 1:
            message = f"{file}: {len(found)} rows have {having}, one is needed"
            raise LookupError(message)
        return found[0][column]

    def manifest(self, dataset: str) -> Row:
        """Return a dataset's manifest, with its duration in seconds."""
        found: dict[str, Any] = json.loads((self.folder / dataset / "manifest.json").read_text("utf-8"))
        return found | {"duration_s": (found["ended_unix_ns"] - found["created_unix_ns"]) / 1e9}

    def rtt_ms(self, dataset: str, profile: str) -> float:
        """Return the round trip of an access profile at the time of a dataset."""
        (found,) = (one for one in self.manifest(dataset)["profiles"] if one["name"] == profile)
        return sum(float(found[way]["one_way_delay_ms"]) for way in ("up", "down"))

    def plan(self, name: str) -> Row:
        """Return a plan of this project."""
        return tomllib.loads((self.folder.parents[1] / "plans" / f"{name}.toml").read_text("utf-8"))

    def loads(self, dataset: str, **having: object) -> list[Row]:
        """List the measured page loads, or the exchanges of one name, with their trial's columns."""
        return [row for row in self._loads(dataset) if all(row[name] == value for name, value in having.items())]

    def paired(
        self, dataset: str, outcome: str, treatment: Row, baseline: Row, *, complete_only: bool = False
    ) -> Estimate:
        """Estimate the median of an outcome's paired differences, with its interval."""
        own, other = self.pairs(dataset, outcome, treatment, baseline, complete_only=complete_only)
        return estimate_paired_difference(own, other)

    def p_value(self, dataset: str, outcome: str, treatment: Row, baseline: Row) -> float | None:
        """Test the paired differences by signed ranks; return the p-value."""
        return compute_paired_p_value(*self.pairs(dataset, outcome, treatment, baseline))

    def decided(self, dataset: str, outcome: str, treatment: Row, baseline: Row, *, complete_only: bool = False) -> str:
        """Return `longer` or `shorter` by the interval's side of 0, else `undecided`."""
        found = self.paired(dataset, outcome, treatment, baseline, complete_only=complete_only)
        if found.ci_low is None or found.ci_high is None or found.ci_low <= 0 <= found.ci_high:
            return "undecided"
        return "longer" if found.ci_low > 0 else "shorter"

    def report_rows(self, dataset: str, section: str, place: int = 0) -> list[Mapping[str, str]]:
        """List the rows of a table of a dataset's report, as printed there."""
        tables = _tables((self.folder / dataset / AS_PUBLISHED).read_text("utf-8"), section)
        head, *body = tables[place]
        return [dict(zip(head, row, strict=True)) for row in body]

    def report_share(self, dataset: str, section: str, words: str) -> Mapping[str, float]:
        """Return a share from a report behind the given words: count, of, and in percent share, low and high."""
        text = _text((self.folder / dataset / AS_PUBLISHED).read_text("utf-8"), section)
        number = r"(\d+(?:\.\d+)?)"
        told = rf"{re.escape(words)} {number} of {number}\b[^\[]*?{number} % \[{number}, {number}\]"
        found = re.findall(told, text)
        if len(found) != 1:
            message = f"{dataset}: its report tells {len(found)} shares behind {words!r} in {section}, one is needed"
            raise LookupError(message)
        return dict(zip(("count", "of", "share", "low", "high"), map(float, found[0]), strict=True))

    def _read(self, file: str) -> list[Row]:
        table = self.folder / f"{file}.parquet"
        if table.is_file():
            return _parquet_rows(table)
        with (self.folder / f"{file}.csv").open(encoding="utf-8", newline="") as stream:
            return [{name: _value(text) for name, text in row.items()} for row in csv.DictReader(stream)]

    def _answered(self, dataset: str) -> list[Row]:
        trials = {row["trial_id"]: row for row in self._rows(f"{dataset}/tables/trials")}
        return [
            {**trials[row["trial_id"]], **row}
            for row in self._rows(f"{dataset}/tables/queries")
            if row["purpose"] == "measured" and row["failure"] is None
        ]

    def _join(self, dataset: str) -> list[Row]:
        trials = {row["trial_id"]: row for row in self._rows(f"{dataset}/tables/trials")}
        if any(row.get("kind") == "exchange" for row in trials.values()):
            queries = self._rows(f"{dataset}/tables/queries")
            return [_exchange(row, trials[row["trial_id"]]) for row in queries if row["purpose"] == "measured"]
        measured = [row for row in self._rows(f"{dataset}/tables/page_loads") if row["measured"]]
        return [_judged(row, trials[row["trial_id"]]) for row in measured]

    def queries(self, dataset: str, **having: object) -> list[Row]:
        """List the answered measured queries with their trial's columns."""
        return [row for row in self._queries(dataset) if all(row[name] == value for name, value in having.items())]

    def pairs(
        self, dataset: str, outcome: str, treatment: Row, baseline: Row, *, complete_only: bool = False
    ) -> tuple[Sample, Sample]:
        """List an outcome of both arms, block by block."""
        arms = []
        for levels in (treatment, baseline):
            found = [one for one in self.loads(dataset, **levels) if not (complete_only and one["is_incomplete"])]
            by_block = {one["block"]: one for one in found}
            if len(by_block) != len(found) or not found:
                message = f"{dataset}: {len(found)} loads in {len(by_block)} blocks have {dict(levels)}"
                raise LookupError(message)
            arms.append(by_block)
        blocks = sorted(arms[0].keys() & arms[1].keys())
        own, other = (_sample([arm[block] for block in blocks], outcome) for arm in arms)
        return own, other


def _judged(load: Row, trial: Row) -> Row:
    """Join a load with its trial; missing resources stand apart from other failures."""
    flags = trial["flags"]
    other = None if load["failure"] == INCOMPLETE else load["failure"]
    is_incomplete = load["failure"] == INCOMPLETE or INCOMPLETE_FLAG in flags
    return {**load, **trial, "failure": other, "is_incomplete": is_incomplete}


def _exchange(query: Row, trial: Row) -> Row:
    """Join a query with its trial, as a load with one outcome."""
    time_ns = query["query_response_time_ns"]
    times = {"response_time_ms": None if time_ns is None else time_ns / 1e6, "limit_ms": query["limit_ns"] / 1e6}
    return {**query, **trial, **times, "is_incomplete": False}


def _sample(loads: Sequence[Row], outcome: str) -> Sample:
    # The first byte of a load that lacked resources later was seen.
    is_seen = outcome in SEEN_BEFORE_RESOURCES
    ended = [one["failure"] is None and (is_seen or not one["is_incomplete"]) for one in loads]
    values = [one[outcome] if good else None for one, good in zip(loads, ended, strict=True)]
    return Sample.from_censored(values, [one["limit_ms"] for one in loads])


def _parquet_rows(file: Path) -> list[Row]:
    """Read a table; its numbers become floats, as those of figures."""
    with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection:
        relation = connection.read_parquet(escape_for_duckdb(file))
        names = relation.columns
        return [dict(zip(names, map(_number_or_other, row), strict=True)) for row in relation.fetchall()]


def _number_or_other(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _value(text: str) -> str | float | None:
    if text == "":
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _section(page: str, section: str) -> str:
    return page.partition(f'<section id="{section}">')[2].partition("</section>")[0]


def _tables(page: str, section: str) -> list[list[list[str]]]:
    reader = _Tables()
    reader.feed(_section(page, section))
    return reader.tables


def _text(page: str, section: str) -> str:
    """Return the text of a section before its first table, in one line."""
    said = _section(page, section).partition("<table")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", said)).split())


class _Tables(HTMLParser):
    """Collects the cells of tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open a table, a row or a cell."""
        del attrs
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"td", "th"}:
            self.tables[-1][-1].append("")
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        """Close a cell."""
        self.inside = self.inside and tag not in {"td", "th"}

    def handle_data(self, data: str) -> None:
        """Add to the open cell."""
        if self.inside:
            self.tables[-1][-1][-1] += data
