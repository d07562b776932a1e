"""The figures of the findings.

For: choosing the content of each figure. Not for: their appearance (`plots`).
"""

from collections.abc import Iterator

from resolab.report.findings.findings import ExchangeResult, Findings, OutcomeFindings
from resolab.report.parts.captions import difference_caption, exchange_caption, heat_map_caption
from resolab.report.parts.labels import exchange_place, name_combination
from resolab.report.plots import (
    DifferenceRow,
    Drawing,
    ExchangeSeries,
    HeatCell,
    draw_differences,
    draw_exchanges,
    draw_heat_map,
)


def exchange_drawing(findings: Findings) -> Drawing | None:
    """Draw the cold DNS exchanges; `None` without exchanges."""
    if not findings.exchanges:
        return None
    return draw_exchanges(exchange_series(findings), exchange_caption(findings))


def outcome_drawings(findings: Findings, found: OutcomeFindings) -> Iterator[Drawing]:
    """Draw an outcome's changes against the baseline, if any."""
    if any(comparison.change.n for _, comparison in found.compared):
        name, label = found.outcome.name, found.outcome.label
        yield draw_heat_map(
            _cells(findings, found), heat_map_caption(findings, found), name=f"{name}_change", quantity=label
        )
        yield draw_differences(
            _differences(findings, found),
            difference_caption(findings, found),
            name=f"{name}_difference",
            quantity=label,
        )


def _cells(findings: Findings, found: OutcomeFindings) -> list[HeatCell]:
    return [
        HeatCell(
            name_combination(findings, one.condition), one.condition.page, one.condition.profile, comparison.change
        )
        for one, comparison in found.compared
    ]


def _differences(findings: Findings, found: OutcomeFindings) -> list[DifferenceRow]:
    return [
        DifferenceRow(
            page=one.condition.page,
            profile=one.condition.profile,
            combination=name_combination(findings, one.condition),
            dns_transport=one.condition.dns_transport,
            difference_ms=comparison.difference_ms,
            blocks_ms=comparison.blocks_ms,
            expected_ms=None if comparison.expected is None else comparison.expected.total_ms,
        )
        for one, comparison in found.compared
    ]


def exchange_series(findings: Findings) -> list[ExchangeSeries]:
    """Convert the exchanges to the series of their figure."""
    return [_exchange_series(one, exchange_place(findings, one)) for one in findings.exchanges]


def _exchange_series(one: ExchangeResult, place: str) -> ExchangeSeries:
    return ExchangeSeries(
        place=place,
        profile=one.profile,
        resolver_extra_rtt_ms=one.resolver_extra_rtt_ms,
        resolver_cache=one.resolver_cache,
        rtt_ms=one.rtt_ms,
        dns_transport=one.dns_transport,
        requested_handshake_mode=one.requested_handshake_mode,
        round_trips=one.round_trips,
        shares=one.shares,
        n=one.n,
        failed_count=one.failed_count,
        expected_round_trips=one.expected_round_trips,
        median_ms=one.median_ms,
        remainder_ms=one.remainder_ms.value,
    )
