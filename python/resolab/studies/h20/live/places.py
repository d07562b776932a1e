"""Lookups and page loads of a live dataset between its vantage points, beside the numbers of Hounsel et al.

For: the extra time of lookups from a place compared with another, and the effect of a transport at each place. Not for:
the true differences of an emulated internet (`internet places`); medians from one place (`live.lookups`).

Durations are compared, never instants. The paper's numbers appear for resolvers named cloudflare, google and quad9 in
the plan, and for vantage points with the paper's names.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.protocols import transport_position
from resolab.report.findings.interval_level import level_text
from resolab.report.live.lookups import CONNECTION_WORDS, sample_of_sites
from resolab.report.live.pairs import ConfigurationPair
from resolab.report.live.study import LiveStudy
from resolab.report.parts.across_places import NOTE, estimate_row, place_cells
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import transport_label
from resolab.report.plots.save import Value
from resolab.stats import Estimate, hodges_lehmann, median, median_of_clusters
from resolab.store.live.queries import LookupRow
from resolab.studies.h20.paper_numbers import (
    DEFAULT_NETWORK,
    MEDIAN_DIFFERENCE_MS,
    follow_up_difference,
)
from resolab.studies.printed_places import PrintedDifference

REFERENCE = "frankfurt"
"""The reference vantage point, if present; otherwise the dataset's first vantage point."""
_PAPERS_RESOLVER = "cloudflare"
"""The resolver with page loads printed in the paper."""


@dataclass(frozen=True, slots=True)
class PlaceDifference:
    """Lookups of a configuration from a place minus lookups from the reference; both estimates are over sites."""

    place: str
    reference: str
    resolver: str
    dns_transport: str
    connection: str
    median_ms: Estimate
    difference_ms: Estimate
    printed: PrintedDifference | None


def place_differences(study: LiveStudy) -> list[PlaceDifference]:
    """Compare every place with the reference, using cached answers only when cache states are known."""
    cache = "hit" if study.knows_caches else "every"
    groups: dict[tuple[str, str, str], dict[str, list[LookupRow]]] = {}
    for row in study.lookups:
        if row.cache == cache:
            way = row.resolver, row.dns_transport, row.connection
            groups.setdefault(way, {}).setdefault(row.profile, []).append(row)
    reference = _reference(study)
    ordered = sorted(groups, key=lambda way: (study.resolver_order[way[0]], transport_position(way[1]), way[2]))
    return [
        _difference(study, way, place, reference, groups[way])
        for way in ordered
        for place in study.profiles
        if place != reference and place in groups[way] and reference in groups[way]
    ]


def _reference(study: LiveStudy) -> str:
    return REFERENCE if REFERENCE in study.profiles else study.profiles[0]


def _difference(
    study: LiveStudy, way: tuple[str, str, str], place: str, reference: str, rows: Mapping[str, Sequence[LookupRow]]
) -> PlaceDifference:
    own, other = sample_of_sites(rows[place]), sample_of_sites(rows[reference])
    # Sites of two places are no pairs: they were loaded at other times, and need not be the same.
    shift = hodges_lehmann(own, other, level=study.level)
    printed = _find_published(way, place, reference)
    return PlaceDifference(place, reference, *way, median(own, level=study.level), shift, printed)


def _find_published(way: tuple[str, str, str], place: str, reference: str) -> PrintedDifference | None:
    """Return the paper's numbers for cold lookups over DoH; the paper's clients of 2021 connected for every query."""
    resolver, dns_transport, connection = way
    is_theirs = (dns_transport, connection) == ("doh", "cold")
    return follow_up_difference(resolver, place, reference) if is_theirs else None


def difference_table(study: LiveStudy) -> NamedTable:
    """List each configuration and place in a row; empty for a single vantage point."""
    found, reference = place_differences(study), _reference(study)
    columns = ("vantage point", "resolver", "transport", "connection", "sites", "median ms", f"less {reference}, ms",
               "theirs, ms", "their pings, ms")  # fmt: skip
    rows = [
        (
            one.place, one.resolver, transport_label(one.dns_transport), CONNECTION_WORDS[one.connection],
            str(one.median_ms.n), both_text(one.median_ms, 2), both_text(one.difference_ms, 2, signed=True),
            *(("", "") if one.printed is None else _texts(one.printed)),
        )
        for one in found
    ]  # fmt: skip
    cached = "answers from the cache alone" if study.knows_caches else "all answers, for cache states are not known"
    note = (
        f"Of each site the median of its look-ups, {cached}; by how much those from a place lie above those from "
        f"{reference} (Hodges-Lehmann shift, {level_text(study.level)} interval over sites). Durations each place "
        "measured by itself; no instants are compared. Theirs: medians of DoH in the follow-up of Hounsel et al. "
        "(2021), whose clients connected for every query, and of its pings: resolvers had moved since 2020."
    )
    table = Table(columns, rows, frozenset(range(4)))
    return NamedTable("live_places", "Look-ups between vantage points", table, [_row(one) for one in found], note)


def _texts(printed: PrintedDifference) -> tuple[str, str]:
    return f"{printed.response_ms:+.2f}", f"{printed.ping_ms:+.2f}"


def _row(one: PlaceDifference) -> dict[str, Value]:
    return {
        "reference": one.reference,
        "resolver": one.resolver,
        "dns_transport": one.dns_transport,
        "connection": one.connection,
        "median_ms": one.median_ms.value,
        **estimate_row(one.place, one.difference_ms),
        "paper_difference_ms": None if one.printed is None else one.printed.response_ms,
        "paper_ping_difference_ms": None if one.printed is None else one.printed.ping_ms,
    }


def load_table(study: LiveStudy, pairs: Sequence[ConfigurationPair]) -> NamedTable:
    """List page loads of a resolver and transport against its Do53, by place; empty for a single place."""
    grouped: dict[tuple[str, str], dict[str, Estimate]] = {}
    for one in pairs if len(study.profiles) > 1 else ():
        treatment, baseline = one.treatment, one.baseline
        alike = (treatment.resolver, treatment.further, treatment.browser)
        if alike == (baseline.resolver, baseline.further, baseline.browser) and baseline.dns_transport == "doudp":
            way = treatment.resolver.label(study.resolvers), treatment.transport
            grouped.setdefault(way, {})[one.profile] = one.curve.median_ms
    across = {way: median_of_clusters(list(found.values()), level=study.level) for way, found in grouped.items()}
    columns = ("resolver", "transport", *(f"{place} ms" for place in study.profiles), "across ms", "above, below 0",
               "theirs from Seoul, ms")  # fmt: skip
    rows = [
        (*way, *place_cells(found, across[way], study.profiles), _format_published_load(*way))
        for way, found in grouped.items()
    ]
    csv: list[dict[str, Value]] = [
        {"resolver": way[0], "transport": way[1], **estimate_row(place, estimate)}
        for way, found in grouped.items()
        for place, estimate in {**found, "across": across[way]}.items()
    ]
    note = (
        f"{NOTE} Theirs: medians on the default network with Cloudflare's resolver (WWW 2020, section 4.4); from "
        "Frankfurt they say that all three transports were within 30 ms of each other, of the other places nothing."
    )
    title = "Page loads against Do53 of the same resolver, by vantage point"
    return NamedTable("live_places_loads", title, Table(columns, rows, frozenset((0, 1))), csv, note)


def _format_published_load(resolver: str, transport: str) -> str:
    if resolver.lower() != _PAPERS_RESOLVER:
        return ""
    printed = {transport_label(name): value for name, value in MEDIAN_DIFFERENCE_MS["Seoul", DEFAULT_NETWORK].items()}
    return f"{printed[transport]:+g}" if transport in printed else ""
