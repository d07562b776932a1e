"""The number of queries on a connection after which its set-up is amortised against Do53: about 23 in Hounsel et al.

For: costs of cold, warm and unconnected queries as a curve and its table. Not for: the crossing (`stats`).

Cumulated times are sums, and therefore depend on means. A failed query counts as its limit. The mean of Do53 includes
the 5 s after a loss. The crossing of the medians is given beside. With the same round trip to the same resolver, a
query on an open connection can at best equal Do53. At the median the set-up is therefore never amortised. For the
paper's 23, each query on the connection must have been faster than Do53 by a 23rd of the set-up. This gain is the
resolver's, not the transport's.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from resolab.basics.protocols import DNS_TRANSPORTS
from resolab.report.findings.interval_level import level_text
from resolab.report.findings.resolvers import LAB, Resolver
from resolab.report.parts.tables import Table
from resolab.report.plots import Drawing, estimate_text, interval_text, number_text, transport_label
from resolab.report.plots.amortisation import AmortisationLine, count_text, draw_amortisation
from resolab.report.plots.save import Value
from resolab.stats import (
    BATCHES_FOR_CROSSING,
    BATCHES_FOR_MEANS,
    Amortisation,
    BatchedMean,
    amortisation,
    break_even,
)
from resolab.studies.h20.paper_numbers import AMORTISED_AFTER_COUNT
from resolab.studies.h20.queries import QueryCostRow
from resolab.studies.h20.study import ResponseTimes

COUNTS = sorted({*(round(count) for count in np.geomspace(1, 200, 90)), AMORTISED_AFTER_COUNT})
"""The numbers of queries in the figure."""


class QueryStudy(Protocol):
    """The queries of a study, on emulated networks or on the live network."""

    @property
    def level(self) -> float:
        """The level of every interval."""

    @property
    def profiles(self) -> Sequence[str]:
        """The networks or vantage points, in order."""

    @property
    def resolvers(self) -> list[Resolver]:
        """The resolvers, in order."""

    @property
    def costs(self) -> list[QueryCostRow]:
        """Sums of query times, by batch of blocks."""

    @property
    def response_times(self) -> list[ResponseTimes]:
        """Response times by network, resolver, transport, handshake and connection."""

    @property
    def dataset_words(self) -> str:
        """The last sentence of every caption."""

    def exchange_median_ms(self, profile: str, resolver: Resolver, dns_transport: str) -> float | None:
        """Return the median exchange of a transport on an open connection, or of Do53."""


@dataclass(frozen=True, slots=True)
class AmortisationCosts:
    """The costs of a transport on a network to a resolver, in ms."""

    profile: str
    resolver: Resolver
    dns_transport: str
    warm_measured: bool
    """True with measured queries on open connections; otherwise the exchanges of cold queries are used."""
    cold: BatchedMean
    warm: BatchedMean
    do53: BatchedMean
    retried_ratio: float
    failed_count: int
    limits_ms: tuple[float, float]
    """The least and the greatest time limit of the queries."""
    found: Amortisation
    medians_ms: tuple[float, float, float] | None
    """The medians of a cold query, a query on the open connection, and a Do53 query."""

    @property
    def needed_ms(self) -> float:
        """The saving per query needed to amortise the set-up after the paper's number of queries."""
        return (self.cold.value - self.warm.value) / AMORTISED_AFTER_COUNT

    @property
    def medians_count(self) -> float | None:
        """The crossing of the medians; infinite for never, `None` with an unknown median."""
        return None if self.medians_ms is None else float(break_even(*self.medians_ms))


def amortisations(study: QueryStudy) -> list[AmortisationCosts]:
    """Find the crossing for each transport with cold queries, exchanges on their connections, and Do53."""
    profiles = list(study.profiles)
    groups: dict[tuple[str, Resolver], list[QueryCostRow]] = {}
    for row in study.costs:
        resolver = Resolver(row.resolver_extra_rtt_ms, row.resolver_cache, row.resolver, row.resolver_software)
        groups.setdefault((row.profile, resolver), []).append(row)
    ordered = sorted(groups, key=lambda key: (profiles.index(key[0]), study.resolvers.index(key[1])))
    found = (_paid(study, *key, groups[key], transport) for key in ordered for transport in list(DNS_TRANSPORTS)[1:])
    return [one for one in found if one is not None]


def _paid(
    study: QueryStudy, profile: str, resolver: Resolver, rows: Sequence[QueryCostRow], transport: str
) -> AmortisationCosts | None:
    do53 = {row.batch: row for row in rows if row.dns_transport == "doudp"}
    cold = {row.batch: row for row in rows if (row.dns_transport, row.connection) == (transport, "cold")}
    warm = {row.batch: row for row in rows if (row.dns_transport, row.connection) == (transport, "warm")}
    phases = all(any(row.exchanges_count for row in found.values()) for found in (cold, do53))
    if not do53 or not cold or not (warm or phases):
        return None
    batches = sorted(do53.keys() | cold.keys() | warm.keys())
    # Where exchanges stand for warm queries, so they do for Do53's: what a client does before it sends is in neither.
    costs = (_responses(cold, batches), _responses(warm, batches) if warm else _exchanges(cold, batches))
    unconnected = _responses(do53, batches) if warm else _exchanges(do53, batches)
    used = [*do53.values(), *cold.values(), *warm.values()]
    failed = sum(row.failed_count for row in used)
    return AmortisationCosts(
        profile=profile,
        resolver=resolver,
        dns_transport=transport,
        warm_measured=bool(warm),
        cold=costs[0],
        warm=costs[1],
        do53=unconnected,
        retried_ratio=sum(row.retried_count for row in do53.values()) / sum(row.n for row in do53.values()),
        failed_count=failed,
        limits_ms=(min(row.least_limit_ms for row in used), max(row.limit_ms for row in used)),
        found=amortisation(*costs, unconnected, COUNTS, level=study.level, censored_count=failed),
        medians_ms=_medians(study, profile, resolver, transport, warm=bool(warm)),
    )


def _responses(rows: Mapping[int, QueryCostRow], batches: Sequence[int]) -> BatchedMean:
    return BatchedMean.from_arrays(
        [rows[one].sum_ms if one in rows else 0.0 for one in batches],
        [rows[one].n if one in rows else 0 for one in batches],
    )


def _exchanges(rows: Mapping[int, QueryCostRow], batches: Sequence[int]) -> BatchedMean:
    return BatchedMean.from_arrays(
        [rows[one].exchanges_sum_ms if one in rows else 0.0 for one in batches],
        [rows[one].exchanges_count if one in rows else 0 for one in batches],
    )


def _medians(
    study: QueryStudy, profile: str, resolver: Resolver, transport: str, *, warm: bool
) -> tuple[float, float, float] | None:
    """Return the medians of a cold query, a query on the open connection, and Do53; `None` unless all are known."""

    def response(of: str, *connections: str) -> float | None:
        for one in study.response_times:
            levels = (one.profile, one.resolver, one.dns_transport, one.requested_handshake_mode)
            if levels == (profile, resolver, of, "full") and (not connections or one.connection in connections):
                return one.distribution.median_ms
        return None

    def exchange(of: str) -> float | None:
        return study.exchange_median_ms(profile, resolver, of)

    cold = response(transport, "cold")
    # As with the means: exchanges stand for both or for neither.
    later = response(transport, "warm") if warm else exchange(transport)
    do53 = response("doudp") if warm else exchange("doudp")
    if cold is None or later is None or do53 is None or not math.isfinite(cold) or not math.isfinite(later):
        return None
    return cold, later, do53


def amortisation_drawings(study: QueryStudy, found: Sequence[AmortisationCosts]) -> Iterator[Drawing]:
    """Draw the curve, if there is data for any crossing."""
    if found:
        yield draw_amortisation(_caption(study, found), [_line(study, one) for one in found], AMORTISED_AFTER_COUNT)


def describe_missing_amortisation(found: Sequence[AmortisationCosts]) -> list[str]:
    """Return a line about missing data, if any."""
    if found:
        return []
    return ["amortisation: no cold queries over a connection beside Do53 queries on the same network"]


def _line(study: QueryStudy, one: AmortisationCosts) -> AmortisationLine:
    where = ",\n".join(part for part in (one.profile, one.resolver.label(study.resolvers)) if part)
    return AmortisationLine(where, one.dns_transport, COUNTS, one.found, amortisation_row(one))


def amortisation_row(one: AmortisationCosts) -> dict[str, Value]:
    """Return the costs of a transport as numbers."""
    return {
        "profile": one.profile,
        "resolver_extra_rtt_ms": one.resolver.extra_rtt_ms,
        "resolver_cache": one.resolver.cache,
        **({} if one.resolver.name == LAB else {"resolver": one.resolver.name}),
        "dns_transport": one.dns_transport,
        "warm_queries": "measured" if one.warm_measured else "exchanges of cold queries",
        "cold_mean_ms": one.cold.value,
        "warm_mean_ms": one.warm.value,
        "do53_mean_ms": one.do53.value,
        "cold_count": int(one.cold.counts.sum()),
        "warm_count": int(one.warm.counts.sum()),
        "do53_count": int(one.do53.counts.sum()),
        "failed_count": one.failed_count,
        "do53_retried_ratio": one.retried_ratio,
        "needed_a_query_ms": one.needed_ms,
        "medians_break_even_count": one.medians_count,
    }


def _caption(study: QueryStudy, found: Sequence[AmortisationCosts]) -> str:
    counts = [int(one.cold.counts.sum()) for one in found]
    failed = max(one.failed_count for one in found)
    sources = {one.warm_measured for one in found}
    warm = {
        frozenset({True}): "queries measured on open connections",
        frozenset({False}): "the exchanges alone of the cold queries (sent on the open connection to answered): "
        "no query was measured on a connection that was open before",
    }.get(frozenset(sources), "queries measured on open connections where there are, else the exchanges of cold ones")
    return (
        f"Cumulated time of k queries one after the other on one connection, the first cold, less that of k Do53 "
        f"queries, divided by k. Below 0 set-up is paid for. Dotted: {AMORTISED_AFTER_COUNT} queries, what Hounsel et "
        f"al. (ANRW 2019) say of DoT. Later queries: {warm}. Means, a failed query counting as the {_limits(found)} "
        f"ms it was given (at most {failed} of a line's); {min(counts)} to {max(counts)} cold queries a line; "
        f"{level_text(study.level)} intervals by Student's t over blocks (in at most 100 batches; from "
        f"{BATCHES_FOR_MEANS} on), of the crossing by Fieller's (1954; from {BATCHES_FOR_CROSSING} on). "
        f"{study.dataset_words}"
    )


def _limits(found: Sequence[AmortisationCosts]) -> str:
    least, most = min(one.limits_ms[0] for one in found), max(one.limits_ms[1] for one in found)
    return f"{least:g}" if least == most else f"{least:g} to {most:g}"


def amortisation_table(study: QueryStudy, found: Sequence[AmortisationCosts]) -> Table:
    """List costs and crossings, and the saving needed for the paper's 23."""
    columns = (
        "network", "resolver", "transport", "Do53 mean ms", "Do53 sent again", "cold mean ms", "open mean ms",
        "saved a query ms", f"{AMORTISED_AFTER_COUNT} would need ms", "paid after queries", "by medians", "theirs",
    )  # fmt: skip
    rows = [
        (
            one.profile,
            one.resolver.label(study.resolvers) or "the only one",
            transport_label(one.dns_transport),
            number_text(one.do53.value, 2),
            f"{one.retried_ratio:.2%}",
            number_text(one.cold.value, 2),
            number_text(one.warm.value, 2),
            f"{estimate_text(saved, 2, signed=True)} {interval_text(saved, 2, signed=True)}".rstrip(),
            number_text(one.needed_ms, 2, signed=True),
            count_text(one.found.break_even_count),
            _format_medians(one),
            f"about {AMORTISED_AFTER_COUNT}" if one.dns_transport == "dot" else "",
        )
        for one in found
        for saved in [one.found.saved_ms]
    ]
    return Table(columns, rows, frozenset((0, 1, 2)))


def _format_medians(one: AmortisationCosts) -> str:
    count, medians = one.medians_count, one.medians_ms
    if count is None or medians is None:
        return "unknown"
    saved = number_text(medians[2] - medians[1], 2, signed=True)
    return f"{'never' if math.isinf(count) else f'{count:.0f}'} (saved {saved} ms)"
