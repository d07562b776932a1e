"""Fig. 1 of Hounsel et al. for a live dataset: query response times of every configuration, hits and misses separately.

For: choosing panels and lines. Not for: counting (`store`), or intervals over sites (`lookups`).

The figure has a panel for each state of the connection and of the resolver's cache, and, as in the paper, a panel of
all queries together. A query over DoUDP needs no connection, and so appears beside open and cold connections.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from resolab.basics.protocols import WITHOUT_CONNECTION, transport_position
from resolab.plan.factors import QUERY_FACTORS
from resolab.report.live.study import LiveStudy
from resolab.report.plots import Drawing, resolver_look, transport_label
from resolab.report.plots.response_times import ResponseLine, draw_response_times
from resolab.stats import Method
from resolab.store import QueryDistribution
from resolab.store.live.queries import CACHED, NOT_CACHED
from resolab.studies.h20.live.study import LiveQueryStudy
from resolab.studies.h20.paper_numbers import CITATION
from resolab.studies.h20.responses import list_points, make_median
from resolab.studies.h20.study import ResponseTimes

CACHES: dict[str, tuple[str, ...]] = {"cached": CACHED, "not cached": NOT_CACHED, "cache unknown": ("none",)}
"""The cache states of each panel, by the panel's name."""
CONNECTIONS = {"warm": "open connection", "cold": "cold connection"}


def response_drawings(study: LiveQueryStudy) -> Iterator[Drawing]:
    """Draw a figure for each vantage point with queries."""
    pooled = _pool_connections(study)
    apart = {words: study.times(states) for words, states in CACHES.items()} if study.knows_caches else {}
    for place in study.profiles:
        lines = [_line(study, one, "all queries,\nas in the paper") for one in pooled if one.profile == place]
        for cache, times in (apart or {"": study.times(None)}).items():
            lines += _list_by_connection(
                study, [one for one in times if one.profile == place and _is_answered(one)], cache
            )
        if lines:
            name = figure_name("live_fig1", study, place)
            yield draw_response_times(name, _caption(study, lines, place), lines)


def figure_name(name: str, study: LiveStudy, place: str) -> str:
    """Return a figure's name, with the vantage point if there are several."""
    return name if len(study.profiles) == 1 else f"{name}_{place}"


def _pool_connections(study: LiveQueryStudy) -> list[ResponseTimes]:
    """Pool cold and open connections."""
    every = study.dataset.query_distributions((*QUERY_FACTORS, "dns_transport"), level=study.level)
    found = [ResponseTimes.from_distribution(_add_levels(one)) for one in every]
    return sorted(
        found, key=lambda one: (study.resolver_order[one.resolver.name], transport_position(one.dns_transport))
    )


def _add_levels(one: QueryDistribution) -> QueryDistribution:
    return msgspec.structs.replace(one, key={**one.key, "requested_handshake_mode": "full", "connection": "any"})


def _is_answered(one: ResponseTimes) -> bool:
    """Return True when a query was answered; failed queries have no time and an unknown cache state."""
    return one.distribution.failed_count < one.distribution.n


def _list_by_connection(study: LiveQueryStudy, times: Sequence[ResponseTimes], cache: str) -> list[ResponseLine]:
    lines = []
    for connection, words in CONNECTIONS.items():
        own = [one for one in times if one.connection == connection and one.dns_transport not in WITHOUT_CONNECTION]
        beside = [one for one in times if one.dns_transport in WITHOUT_CONNECTION]
        if own or (connection == "warm" and beside):
            panel = ",\n".join(part for part in (cache, words) if part)
            both = sorted((*beside, *own), key=lambda one: study.resolver_order[one.resolver.name])
            lines += [_line(study, one, panel) for one in both]
    return lines


def _line(study: LiveQueryStudy, one: ResponseTimes, panel: str) -> ResponseLine:
    transport, resolver = transport_label(one.dns_transport), one.resolver.label(study.resolvers)
    middle = make_median(one.distribution)
    return ResponseLine(
        panel=panel,
        label=", ".join(part for part in (transport, resolver) if part),
        dns_transport=one.dns_transport,
        warm=False,
        points=list_points(one.distribution),
        # Queries of one site are alike: intervals are over sites and stand in the table.
        median_ms=replace(middle, ci_low=None, ci_high=None, method=Method.NONE),
        key={
            "vantage_point": one.profile,
            "panel": panel.replace("\n", " "),
            "resolver": one.resolver.name,
            "dns_transport": one.dns_transport,
            "connection": "none" if one.dns_transport in WITHOUT_CONNECTION else one.connection,
        },
        look=resolver_look(study.resolver_order[one.resolver.name], one.dns_transport),
    )


def _caption(study: LiveQueryStudy, lines: Sequence[ResponseLine], place: str) -> str:
    every = [one for one in lines if one.panel == lines[0].panel]
    total = sum(one.median_ms.n for one in every)
    failed = sum(one.median_ms.censored_count for one in every)
    states = (
        "Cached: asked before within its TTL, by us or, as its TTL tells, by others; not cached, as far as known: "
        "asked for the first time, or after its TTL."
        if study.knows_caches
        else "Cache states are not known of this dataset: hits and misses are together."
    )
    return (
        f"Query response times from {place}, colour by resolver, dash by transport ({CITATION}, Fig. 1). Cold: the "
        f"set-up of the connection is inside; DoUDP, which needs none, stands in both. {states} {total} queries, "
        f"{failed} failed; these count as infinitely long, so that their curves end below 1. "
        f"Drawn are 201 quantiles; medians with intervals over sites stand in the table of look-ups. "
        f"{study.dataset_words}"
    )
