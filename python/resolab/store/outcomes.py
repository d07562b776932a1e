"""What is asked of a page load: one row for each outcome, and what a load contributes to it.

For: the one place that knows the outcomes; reports, comparisons, figures and the stopping rule take any of them. A new
one is a row here and, unless records have its instant, the place where a load is read.
Not for: estimates (`stats`).

A load that the network or the server failed (time-out, DNS, connect, TLS, HTTP, or a part of the page that never came)
never ended: it is 'at least the limit', even of a paint it had reached, so that a transport cannot look better by
failing. But the document's first byte, where one came, is what it would have been: what failed after it (the rest of
the page, or the time that the load was given) did not move it, and it counts as seen. A load that the instrument
failed, or that manners forbade, says nothing about the network and contributes nothing.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from resolab.records import (
    INSTRUMENT_FAILURES,
    ConnectionState,
    DnsTransport,
    PageFailure,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    Record,
)

SAY_NOTHING = INSTRUMENT_FAILURES | {PageFailure.LEFT_ALONE}
"""Failures of loads that say nothing of the network: the instrument's own, and sites that manners did not contact."""


class Untold(enum.Enum):
    """What a load says that did not fail and yet has no value."""

    AT_LEAST_ITS_LIMIT = enum.auto()
    NOTHING = enum.auto()
    """Not every browser and run tells it: such a load is left out."""


class Contribution(NamedTuple):
    """A value or, without one, the limit that it is at least."""

    value_ms: float | None
    limit_ms: float


class Load(Protocol):
    """A row of a finished trial with its measured load."""

    @property
    def loaded(self) -> bool:
        """Whether there was a measured load."""

    @property
    def failure(self) -> str | None:
        """Why it failed."""

    @property
    def limit_ms(self) -> float | None:
        """Time it was given."""

    @property
    def exchange_failed(self) -> bool:
        """Whether its trial's cold DNS exchange, which a sum is made of, failed."""

    @property
    def times_ms(self) -> Mapping[str, float | None]:
        """Its value of each outcome, by name."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A time of a page load in milliseconds, which its column says, too."""

    name: str
    column: str
    """Of `page_loads` and of its records."""
    label: str
    """Short, for the heads of columns and axes."""
    phrase: str
    """Within a sentence."""
    meaning: str
    """Within a sentence that says what it is."""
    untold: Untold = Untold.NOTHING
    holds_exchange: bool = False
    """Whether the cold exchange beside the load is a part of it: where that failed, this has no end either."""
    seen_before: frozenset[str] = frozenset()
    """Failures that come after it and do not move it: of such a load its own value counts, where it has one."""

    @property
    def of_failed_loads(self) -> str:
        """What a failed load counts as, within a sentence."""
        seen = f", but for what was seen before it failed ({', '.join(sorted(self.seen_before))})"
        return f"at least their limit{seen if self.seen_before else ''}"

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return self.column.rpartition("_")[2]

    @property
    def is_main(self) -> bool:
        """Whether it is the page load time, whose names of files and seeds say nothing more."""
        return self.name == "plt"

    @property
    def suffix(self) -> str:
        """What tells its files from those of the page load time."""
        return "" if self.is_main else f"_{self.name}"

    @property
    def change_stream(self) -> str:
        """Name of the random numbers that its changes are resampled with."""
        return "change" if self.is_main else f"{self.name}_change"

    def of(self, load: Load) -> float | None:
        """Return a load's own value, whether or not the load failed."""
        return load.times_ms[self.name]

    def contribution(self, load: Load) -> Contribution | None:
        """Return what a row contributes, if anything."""
        if not load.loaded:
            return None
        return self._counted(self.of(load), load.failure, load.limit_ms, exchange_failed=load.exchange_failed)

    def contribution_of_records(
        self, records: Sequence[Record], exchange: DnsTransport | None = None
    ) -> Contribution | None:
        """Return what a trial's measured load contributes, if anything; sums hold the cold exchange of a transport."""
        load = next((one for one in records if isinstance(one, PageLoadRecord) and one.measured), None)
        if load is None:
            return None
        value, failed = getattr(load, self.column), any(_is_failed_exchange(one, exchange) for one in records)
        return self._counted(value, load.failure, load.limit_ms, exchange_failed=failed)

    def _counted(
        self, value_ms: float | None, failure: str | None, limit_ms: float | None, *, exchange_failed: bool
    ) -> Contribution | None:
        if failure in SAY_NOTHING:
            return None
        if failure is None and value_ms is None and self.untold is Untold.NOTHING:
            without_end = self.holds_exchange and exchange_failed
            return Contribution(None, limit_ms or 0.0) if without_end else None
        counts = failure is None or failure in self.seen_before
        return Contribution(value_ms if counts else None, limit_ms or 0.0)


def _is_failed_exchange(record: Record, dns_transport: DnsTransport | None) -> bool:
    """Whether it is our own client's cold exchange over a transport, and failed (`EXCHANGE_FAILED` of records)."""
    return (
        isinstance(record, QueryRecord)
        and record.failure is not None
        and record.dns_transport is dns_transport
        and record.purpose is QueryPurpose.MEASURED
        and record.connection is not ConnectionState.WARM
    )


PLT = Outcome(
    name="plt",
    column="plt_ms",
    label="PLT",
    phrase="page load time",
    meaning="page load time (PLT, look-up inside the load)",
    untold=Untold.AT_LEAST_ITS_LIMIT,
)
PLT_SUM = Outcome(
    name="plt_sum",
    column="plt_sum_ms",
    label="PLT sum",
    phrase="page load time as a sum",
    meaning="page load time as a sum (PLT sum: a load without look-up plus a look-up apart, the paper's own way)",
    holds_exchange=True,
)
RESPONSE_START = Outcome(
    name="response_start",
    column="response_start_ms",
    label="responseStart",
    phrase="time to the page's first byte",
    meaning="time to the page's first byte (responseStart)",
    untold=Untold.AT_LEAST_ITS_LIMIT,
    seen_before=frozenset((PageFailure.INCOMPLETE, PageFailure.PAGE_TIMEOUT)),
)
LAST_BYTE = Outcome(
    name="last_byte",
    column="last_byte_ms",
    label="last byte",
    phrase="time to the page's last byte",
    meaning="time to the page's last byte (latest responseEnd before the load event; the rest of PLT is the browser's)",
)
FCP = Outcome(
    name="fcp",
    column="fcp_ms",
    label="FCP",
    phrase="time to the first contentful paint",
    meaning="time to the first contentful paint (FCP, W3C Paint Timing)",
)
LCP = Outcome(
    name="lcp",
    column="lcp_ms",
    label="LCP",
    phrase="time to the largest contentful paint",
    meaning="time to the largest contentful paint (LCP)",
)
OUTCOMES: Mapping[str, Outcome] = {one.name: one for one in (PLT, PLT_SUM, RESPONSE_START, LAST_BYTE, FCP, LCP)}
"""In the order of reports; the page load time comes first."""


def is_usable(load: Load) -> bool:
    """Whether a trial has a measured load that the instrument did not lose."""
    return load.loaded and load.failure not in SAY_NOTHING


EXCHANGE_FAILED = """(
    t.dns_connection_state = 'cold' AND t.requested_dns_handshake_mode = 'full'
    AND (t.trial_id, t.dns_transport) IN (
        SELECT trial_id, dns_transport FROM queries
        WHERE failure IS NOT NULL AND purpose = 'measured' AND coalesce(connection, 'cold') = 'cold'
    )
) AS exchange_failed"""
"""Whether the cold exchange failed that a trial's sum is made of, as SQL over `trials` as `t`."""


def times_as_sql(page_loads: str) -> str:
    """Write a load's values as one SQL expression, over the name that `page_loads` has in a statement."""
    return (
        f"struct_pack({', '.join(f'{one.name} := {page_loads}.{one.column}' for one in OUTCOMES.values())}) AS times_ms"
    )


def contributions(outcome: Outcome, loads: Iterable[Load]) -> tuple[list[float | None], list[float]]:
    """Return the values and limits of loads, as a censored sample takes them; each must contribute."""
    told = [outcome.contribution(load) for load in loads]
    known = [one for one in told if one is not None]
    return [one.value_ms for one in known], [one.limit_ms for one in known]
