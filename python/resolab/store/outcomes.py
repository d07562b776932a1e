"""The outcomes of a trial: one row for each outcome, and a trial's contribution to each.

For: the only definition of the outcomes; reports, comparisons, figures and the stopping rule accept any outcome. A new
outcome is a row here and, for an instant missing in records, a change in reading a load. Not for: estimates (`stats`).

A load failed by the network or the server (time-out, DNS, connect, TLS, HTTP, or a missing part of the page) never
ended. Such a load counts as 'at least the limit', even for a paint before the failure, so a transport cannot look
better by failing. The document's first byte, if received, is an exception. Later failures (the rest of the page, or the
load's limit) did not move the first byte, so its time counts as seen. A load failed by the instrument, or forbidden by
the rules of live mode, says nothing about the network and contributes nothing.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from resolab.basics.records import (
    INSTRUMENT_FAILURES,
    ConnectionState,
    DnsTransport,
    FetchRecord,
    PageFailure,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    Record,
    StudyValueRecord,
    TrialKind,
)
from resolab.plan.kind import list_outcome_names
from resolab.plan.study import PlannedStudy, find_study

SAY_NOTHING = INSTRUMENT_FAILURES | {PageFailure.LEFT_ALONE}
"""Failures of loads without information about the network: the instrument's own, and sites left alone by the rules."""
NO_MEASURED_LOAD = "no_measured_load"
"""The failure class, in counts of failures, of a trial without a measured load."""


class MissingValueMeaning(enum.Enum):
    """The meaning of a successful load without a value."""

    AT_LEAST_ITS_LIMIT = enum.auto()
    NOTHING = enum.auto()
    """Not every browser and run reports the value: such a load is left out."""


class OutcomeSource(enum.Enum):
    """The records with an outcome's value."""

    PAGE_LOAD = enum.auto()
    """The measured page load."""
    QUERIES = enum.auto()
    """The measured queries of our own client: the last response of all."""
    FETCH = enum.auto()
    """The measured fetch of our own client."""
    STUDY = enum.auto()
    """The values of a study's trial."""


class Contribution(NamedTuple):
    """A value or, without a value, the limit as its lower bound."""

    value_ms: float | None
    limit_ms: float


class LoadWithTimes(Protocol):
    """A row of a finished trial with its measured load."""

    @property
    def loaded(self) -> bool:
        """Return True when the trial has a measured load."""

    @property
    def failure(self) -> str | None:
        """Return the failure of the load, or `None`."""

    @property
    def limit_ms(self) -> float | None:
        """Return the load's time limit, in ms."""

    @property
    def exchange_failed(self) -> bool:
        """Return True when the trial's cold DNS exchange, a part of sums, failed."""

    @property
    def times_ms(self) -> Mapping[str, float | None]:
        """Return the load's value of each outcome, by name."""


@dataclass(frozen=True, slots=True)
class LoadOutcome:
    """A time of a trial in milliseconds; the unit is also in the column's name."""

    name: str
    column: str
    """The column in `page_loads` and the field in its records; for queries, the name of the time."""
    label: str
    """Short, for the heads of columns and axes."""
    phrase: str
    """The outcome's name, for use within a sentence."""
    meaning: str
    """The definition, for use within a sentence."""
    untold: MissingValueMeaning = MissingValueMeaning.NOTHING
    holds_exchange: bool = False
    """True when the cold exchange beside the load is a part of the outcome: after a failed exchange, the sum has no
    end."""
    seen_before: frozenset[str] = frozenset()
    """Failures without effect on the outcome's earlier instant: after such a failure the load's value counts, if
    present."""
    source: OutcomeSource = OutcomeSource.PAGE_LOAD
    quiet_spread_ms: float | None = None
    """The spread (1.4826 times the median absolute deviation) of differences between alike conditions, in ms, at most
    on a quiet machine. Page loads: Chromium, light pages, profiles without loss (docs/results/aa); exchanges:
    docs/results/exchange-handshakes."""

    @property
    def failed_load_meaning(self) -> str:
        """Return the value of a failed load in words, for use within a sentence."""
        seen = f", but for what was seen before it failed ({', '.join(sorted(self.seen_before))})"
        return f"at least their limit{seen if self.seen_before else ''}"

    @property
    def unit(self) -> str:
        """Return the unit of the outcome's values."""
        return self.column.rpartition("_")[2]

    @property
    def is_main(self) -> bool:
        """Return True for the page load time; its file names and seeds have no suffix."""
        return self.name == "plt"

    @property
    def suffix(self) -> str:
        """Return the suffix of the outcome's files, empty for the page load time."""
        return "" if self.is_main else f"_{self.name.replace('.', '_')}"

    @property
    def change_stream(self) -> str:
        """Return the name of the random stream for resampling the outcome's changes."""
        return "change" if self.is_main else f"{self.name}_change"

    def value_of_load(self, load: LoadWithTimes) -> float | None:
        """Return a load's own value, whether or not the load failed."""
        return load.times_ms[self.name]

    def contribution(self, load: LoadWithTimes) -> Contribution | None:
        """Return the contribution of a row, or `None`."""
        if not load.loaded:
            return None
        return self._build_contribution(
            self.value_of_load(load), load.failure, load.limit_ms, exchange_failed=load.exchange_failed
        )

    def contribution_of_records(
        self, records: Sequence[Record], exchange: DnsTransport | None = None
    ) -> Contribution | None:
        """Return the contribution of a trial's measured part, or `None`; sums include a transport's cold exchange."""
        if self.source is OutcomeSource.QUERIES:
            return _contribution_of_queries(records)
        if self.source is OutcomeSource.FETCH:
            return self._contribution_of_fetch(records)
        if self.source is OutcomeSource.STUDY:
            return self._contribution_of_study(records)
        load = next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)
        if load is None:
            return None
        value, failed = getattr(load, self.column), any(_is_failed_exchange(one, exchange) for one in records)
        return self._build_contribution(value, load.failure, load.limit_ms, exchange_failed=failed)

    def _contribution_of_fetch(self, records: Sequence[Record]) -> Contribution | None:
        fetch = next(
            (one for one in records if isinstance(one, FetchRecord) and one.purpose is QueryPurpose.MEASURED), None
        )
        if fetch is None:
            return None
        value_ns: int | None = getattr(fetch, FETCH_FIELDS[self.name])
        known = fetch.failure is None and value_ns is not None
        return Contribution(value_ns / 1e6 if known and value_ns is not None else None, (fetch.limit_ns or 0) / 1e6)

    def _contribution_of_study(self, records: Sequence[Record]) -> Contribution | None:
        found = next((one for one in records if isinstance(one, StudyValueRecord) and one.name == self.column), None)
        if found is None:
            return None
        return Contribution(found.value if found.failure is None else None, found.limit_ms or 0.0)

    def _build_contribution(
        self, value_ms: float | None, failure: str | None, limit_ms: float | None, *, exchange_failed: bool
    ) -> Contribution | None:
        if failure in SAY_NOTHING:
            return None
        if failure is None and value_ms is None and self.untold is MissingValueMeaning.NOTHING:
            without_end = self.holds_exchange and exchange_failed
            return Contribution(None, limit_ms or 0.0) if without_end else None
        counts = failure is None or failure in self.seen_before
        return Contribution(value_ms if counts else None, limit_ms or 0.0)


def _contribution_of_queries(records: Sequence[Record]) -> Contribution | None:
    """Return the time of the last response, or the limit when any query failed; `None` without a measured query."""
    measured = [one for one in records if isinstance(one, QueryRecord) and one.purpose is QueryPurpose.MEASURED]
    if not measured:
        return None
    limit_ms = max(one.limit_ns or 0 for one in measured) / 1e6
    times_ns = [one.query_response_time_ns for one in measured if one.failure is None]
    known_ns = [one for one in times_ns if one is not None]
    return Contribution(max(known_ns) / 1e6 if len(known_ns) == len(measured) else None, limit_ms)


def _is_failed_exchange(record: Record, dns_transport: DnsTransport | None) -> bool:
    """Return True for a failed cold exchange of our own client over a transport (`EXCHANGE_FAILED` of records)."""
    return (
        isinstance(record, QueryRecord)
        and record.failure is not None
        and record.dns_transport is dns_transport
        and record.purpose is QueryPurpose.MEASURED
        and record.connection is not ConnectionState.WARM
    )


PLT = LoadOutcome(
    name="plt",
    column="plt_ms",
    label="PLT",
    phrase="page load time",
    meaning="page load time (PLT, look-up inside the load)",
    untold=MissingValueMeaning.AT_LEAST_ITS_LIMIT,
    quiet_spread_ms=21.0,
)
PLT_SUM = LoadOutcome(
    name="plt_sum",
    column="plt_sum_ms",
    label="PLT sum",
    phrase="page load time as a sum",
    meaning="page load time as a sum (PLT sum: a load without look-up plus a look-up apart, the paper's own way)",
    holds_exchange=True,
)
RESPONSE_START = LoadOutcome(
    name="response_start",
    column="response_start_ms",
    label="responseStart",
    phrase="time to the page's first byte",
    meaning="time to the page's first byte (responseStart)",
    untold=MissingValueMeaning.AT_LEAST_ITS_LIMIT,
    seen_before=frozenset((PageFailure.INCOMPLETE, PageFailure.PAGE_TIMEOUT)),
    quiet_spread_ms=7.0,
)
LAST_BYTE = LoadOutcome(
    name="last_byte",
    column="last_byte_ms",
    label="last byte",
    phrase="time to the page's last byte",
    meaning="time to the page's last byte (latest responseEnd before the load event; the rest of PLT is the browser's)",
)
FCP = LoadOutcome(
    name="fcp",
    column="fcp_ms",
    label="FCP",
    phrase="time to the first contentful paint",
    meaning="time to the first contentful paint (FCP, W3C Paint Timing)",
)
LCP = LoadOutcome(
    name="lcp",
    column="lcp_ms",
    label="LCP",
    phrase="time to the largest contentful paint",
    meaning="time to the largest contentful paint (LCP)",
)
RESPONSE_TIME = LoadOutcome(
    name="response_time",
    column="response_time_ms",
    label="response time",
    phrase="DNS response time",
    meaning="DNS response time (from the query's start, before any connection, to the last response)",
    untold=MissingValueMeaning.AT_LEAST_ITS_LIMIT,
    source=OutcomeSource.QUERIES,
    quiet_spread_ms=5.0,
)
FIRST_BYTE = LoadOutcome(
    name="first_byte",
    column="page_first_byte_ms",
    label="first byte",
    phrase="time to the document's first byte",
    meaning="time to the document's first byte (from the start of its name's query)",
    untold=MissingValueMeaning.AT_LEAST_ITS_LIMIT,
    source=OutcomeSource.FETCH,
)
PAGE_COMPLETE = LoadOutcome(
    name="page_complete",
    column="page_complete_ms",
    label="document",
    phrase="time to the whole document",
    meaning="time to the document's last byte (from the start of its name's query)",
    untold=MissingValueMeaning.AT_LEAST_ITS_LIMIT,
    source=OutcomeSource.FETCH,
)
FETCH_FIELDS = {FIRST_BYTE.name: "page_first_byte_ns", PAGE_COMPLETE.name: "page_complete_ns"}
"""The field of a fetch's record, and the column of its table, by outcome."""
OUTCOMES: Mapping[str, LoadOutcome] = {
    one.name: one
    for one in (PLT, PLT_SUM, RESPONSE_START, LAST_BYTE, FCP, LCP, RESPONSE_TIME, FIRST_BYTE, PAGE_COMPLETE)
}
"""In the order of reports; the page load time comes first."""
LOAD_OUTCOMES = tuple(one for one in OUTCOMES.values() if one.source is OutcomeSource.PAGE_LOAD)
"""The outcomes of a page load."""


def list_outcomes(kind: TrialKind, study: PlannedStudy | None = None) -> list[LoadOutcome]:
    """List the outcomes of a kind of trial, or of a study, the main outcome first."""
    return [find_outcome(name) for name in list_outcome_names(kind, study)]


def find_outcome(name: str) -> LoadOutcome:
    """Return an outcome by its name; a study's name is `STUDY.TIME`."""
    if name in OUTCOMES:
        return OUTCOMES[name]
    study, _, word = name.partition(".")
    time = next(one for one in find_study(study).times if one.name == word)
    return LoadOutcome(
        name=name,
        column=f"{time.name}_ms",
        label=time.label,
        phrase=time.phrase,
        meaning=time.meaning,
        untold=MissingValueMeaning.AT_LEAST_ITS_LIMIT,
        source=OutcomeSource.STUDY,
    )


def is_usable(load: LoadWithTimes) -> bool:
    """Return True when a trial has a measured load not lost by the instrument."""
    return load.loaded and load.failure not in SAY_NOTHING


EXCHANGE_FAILED = """(
    t.dns_connection_state = 'cold' AND t.requested_dns_handshake_mode = 'full'
    AND (t.trial_id, t.dns_transport) IN (
        SELECT trial_id, dns_transport FROM queries
        WHERE failure IS NOT NULL AND purpose = 'measured' AND coalesce(connection, 'cold') = 'cold'
    )
) AS exchange_failed"""
"""The failure of the cold exchange in a trial's sum, as SQL over `trials` as `t`."""


def times_as_sql(page_loads: str) -> str:
    """Write a load's values as one SQL expression, over the statement's name for `page_loads`."""
    return f"struct_pack({', '.join(f'{one.name} := {page_loads}.{one.column}' for one in LOAD_OUTCOMES)}) AS times_ms"


def fetch_times_as_sql(fetches: str) -> str:
    """Write a fetch's values as one SQL expression, over the statement's name for `fetches`; null after a failure."""
    values = (
        f"{name} := CASE WHEN {fetches}.failure IS NULL THEN {fetches}.{field} / 1e6 END"
        for name, field in FETCH_FIELDS.items()
    )
    return f"struct_pack({', '.join(values)})"


def contributions(outcome: LoadOutcome, loads: Iterable[LoadWithTimes]) -> tuple[list[float | None], list[float]]:
    """Return the values and limits of loads, as input of a censored sample; each load must contribute."""
    told = [outcome.contribution(load) for load in loads]
    known = [one for one in told if one is not None]
    return [one.value_ms for one in known], [one.limit_ms for one in known]
