"""Figs. 1 and 3 of Hounsel et al.: query response times by resolver, and on the emulated networks.

For: choosing panels and lines, and comparing the fastest answers with the closed form. Not for: counting (`store`).

A provider is a distance of the resolver and a state of its cache. Fig. 1 has a panel for each provider on the default
networks. Fig. 3 has a panel for each emulated network, with the nearest resolver and, if measured, a cache holding the
answer.
"""

import math
from collections.abc import Iterator, Sequence

from resolab.basics.protocols import cold_exchange_round_trips
from resolab.report.findings.interval_level import level_text
from resolab.report.parts.tables import Table
from resolab.report.plots import Drawing, mode_label, number_text, transport_label
from resolab.report.plots.response_times import ResponseLine, draw_response_times
from resolab.report.plots.save import Value
from resolab.stats import Estimate, Method
from resolab.store import QueryDistribution
from resolab.store.query_times.distributions import DISTRIBUTION_PROBABILITIES
from resolab.studies.h20.paper_numbers import (
    CITATION,
    DEFAULT_NETWORK,
    FASTEST_MS,
    FASTEST_ROUND_TRIPS,
    FOLLOW_UP,
    NETWORKS,
    find_network,
)
from resolab.studies.h20.study import H20Study, ResponseTimes

FASTEST_PROBABILITY_PLACE = 2
"""Index in `DISTRIBUTION_PROBABILITIES` of the first percentile, robust to a single early packet."""


def response_drawings(study: H20Study) -> Iterator[Drawing]:
    """Draw both figures, as far as queries were measured."""
    default = [one for one in study.response_times if find_network(one.profile) == DEFAULT_NETWORK]
    if default:
        yield draw_response_times("h20_fig1", _caption(study, default, 1), _lines(study, default, by_resolver=True))
    emulated = select_emulated_times(study)
    if emulated:
        # The default network stands beside, as the floor of the emulated ones.
        shown = nearest(study, default) + emulated
        yield draw_response_times("h20_fig3", _caption(study, shown, 3), _lines(study, shown, by_resolver=False))


def list_missing_responses(study: H20Study) -> list[str]:
    """List the figures without data among both."""
    times = study.response_times
    missing = []
    if not any(find_network(one.profile) == DEFAULT_NETWORK for one in times):
        missing.append("h20_fig1: no measured query on the default network (default-h20)")
    if not select_emulated_times(study):
        emulated = (profile for profile, network in NETWORKS.items() if network != DEFAULT_NETWORK)
        missing.append(f"h20_fig3: no measured query on any of {', '.join(emulated)}")
    return missing


def select_emulated_times(study: H20Study) -> list[ResponseTimes]:
    """Return the response times for Fig. 3: the emulated networks with the nearest resolver."""
    return nearest(study, [one for one in study.response_times if find_network(one.profile) != DEFAULT_NETWORK])


def nearest(study: H20Study, times: Sequence[ResponseTimes]) -> list[ResponseTimes]:
    """Return the times of the nearest resolver, with cache hits if measured."""
    return [one for one in times if one.resolver == study.resolvers[0]]


def _lines(study: H20Study, times: Sequence[ResponseTimes], *, by_resolver: bool) -> list[ResponseLine]:
    return [
        ResponseLine(
            panel=_panel(study, one, by_resolver=by_resolver),
            label=_label(one),
            dns_transport=one.dns_transport,
            warm=one.connection == "warm",
            points=list_points(one.distribution),
            median_ms=make_median(one.distribution),
            key={
                "profile": one.profile,
                "resolver_extra_rtt_ms": one.resolver.extra_rtt_ms,
                "resolver_cache": one.resolver.cache,
                "dns_transport": one.dns_transport,
                "requested_handshake_mode": one.requested_handshake_mode,
                "connection": one.connection,
            },
        )
        for one in times
    ]


def _panel(study: H20Study, one: ResponseTimes, *, by_resolver: bool) -> str:
    rtt = study.rtt_ms(one.profile) + one.resolver.extra_rtt_ms
    resolver = one.resolver.label(study.resolvers) if by_resolver else ""
    where = f"{one.profile}, {resolver}\n" if resolver else f"{one.profile}  "
    return f"{where}(RTT {rtt:.1f} ms)"


def _label(one: ResponseTimes) -> str:
    mode = "" if one.requested_handshake_mode == "full" else f" {mode_label(one.requested_handshake_mode)}"
    return f"{transport_label(one.dns_transport)}{mode}{' warm' if one.connection == 'warm' else ''}"


def list_points(distribution: QueryDistribution) -> list[tuple[float, float]]:
    """List a distribution's finite quantiles with their shares."""
    pairs = zip(distribution.quantiles_ms, DISTRIBUTION_PROBABILITIES, strict=True)
    return [(time, share) for time, share in pairs if math.isfinite(time)]


def make_median(distribution: QueryDistribution) -> Estimate:
    """Return the distribution's median as an `Estimate`."""
    low, high = distribution.median_ci_low_ms, distribution.median_ci_high_ms
    method = Method.NONE if low is None else Method.ORDER_STATISTIC
    middle, n = distribution.median_ms, distribution.n
    return Estimate(middle, middle, low, high, n, distribution.failed_count, distribution.level, method)


def _caption(study: H20Study, times: Sequence[ResponseTimes], figure: int) -> str:
    total = sum(one.distribution.n for one in times)
    failed = sum(one.distribution.failed_count for one in times)
    error = max(one.distribution.relative_error for one in times)
    what = (
        "Query response times on the default networks, one panel for each distance and cache of the resolver"
        if figure == 1
        else "Query response times on the emulated networks, nearest resolver"
    )
    told = f" Times told to {error:.2%}." if error else ""
    return (
        f"{what} ({CITATION}, Fig. {figure}). Cold: the set-up of the connection is inside. {total} queries, {failed} "
        f"failed; these count as infinitely long, so that their curves end below 1. Drawn are 201 quantiles; medians "
        f"with {level_text(study.level)} intervals by order statistics.{told} {study.dataset_words}"
    )


def fastest_table(study: H20Study) -> Table:
    """Show the fastest answers on the emulated networks beside the paper's answers and the closed form."""
    columns = (
        "network", "transport", "n", "ours: 1st percentile ms", "RTT ms", "round trips k", "k x RTT ms", "theirs ms",
        "theirs: round trips",
    )  # fmt: skip
    rows = [
        (
            str(one["network"]),
            transport_label(str(one["dns_transport"])),
            str(one["n_count"]),
            _number(one["first_percentile_ms"]),
            _number(one["rtt_ms"]),
            str(one["round_trips_count"]),
            _number(one["closed_form_ms"]),
            _number(one["paper_fastest_ms"], 0),
            _number(one["paper_round_trips_count"], 0),
        )
        for one in fastest_rows(study)
    ]
    return Table(columns, rows, frozenset((0, 1)))


def fastest_rows(study: H20Study) -> list[dict[str, Value]]:
    """List the fastest answers as numbers."""
    rows: list[dict[str, Value]] = []
    for one in select_emulated_times(study):
        if one.requested_handshake_mode != "full" or one.connection == "warm":
            continue
        network = find_network(one.profile)
        rtt = study.rtt_ms(one.profile) + one.resolver.extra_rtt_ms
        trips = cold_exchange_round_trips(one.dns_transport)
        theirs = FASTEST_MS.get((network or "", one.dns_transport))
        row: dict[str, Value] = {
            "network": network,
            "profile": one.profile,
            "dns_transport": one.dns_transport,
            "n_count": one.distribution.n,
            "first_percentile_ms": one.distribution.quantiles_ms[FASTEST_PROBABILITY_PLACE],
            "rtt_ms": rtt,
            "round_trips_count": trips,
            "closed_form_ms": trips * rtt,
            "paper_fastest_ms": theirs,
            "paper_round_trips_count": None if theirs is None else FASTEST_ROUND_TRIPS[one.dns_transport],
        }
        rows.append(row)
    return rows


def follow_up_table(study: H20Study) -> Table:
    """Show cold DoH at growing distance of the resolver beside the group's later measurements."""
    columns = ("of", "where", "resolver", "RTT ms", "DoH median ms", "3 x RTT ms", "rest ms")
    rows = [
        (
            str(one["of"]),
            str(one["where"]),
            str(one["resolver"]),
            *(_number(one[name], 2) for name in ("rtt_ms", "median_ms", "closed_form_ms", "remainder_ms")),
        )
        for one in follow_up_rows(study)
    ]
    return Table(columns, rows, frozenset((0, 1, 2)))


def follow_up_rows(study: H20Study) -> list[dict[str, Value]]:
    """List these values as numbers; empty without measured DoH on a default network."""
    ours = [
        ("ours", one.profile, one.resolver.label(study.resolvers) or "near", rtt, one.distribution.median_ms)
        for one in study.response_times
        if (one.dns_transport, one.requested_handshake_mode, one.connection) == ("doh", "full", "cold")
        and find_network(one.profile) == DEFAULT_NETWORK
        for rtt in [study.rtt_ms(one.profile) + one.resolver.extra_rtt_ms]
    ]
    theirs = [("theirs, later", one.vantage_point, one.resolver, one.ping_ms, one.response_ms) for one in FOLLOW_UP]
    trips = cold_exchange_round_trips("doh")
    return [
        {
            "of": of,
            "where": where,
            "resolver": resolver,
            "rtt_ms": rtt,
            "median_ms": middle,
            "closed_form_ms": trips * rtt,
            "remainder_ms": middle - trips * rtt,
        }
        for of, where, resolver, rtt, middle in ([*ours, *theirs] if ours else [])
    ]


def _number(value: Value, digits: int = 1) -> str:
    return number_text(value, digits) if isinstance(value, (int, float)) else ""
