"""Findings into figures.

For: choosing what each figure shows. Not for: how it looks (`plots`).
"""

from collections.abc import Iterator

from resolab.plots import (
    DifferenceRow,
    Drawing,
    ExchangeSeries,
    HeatCell,
    draw_differences,
    draw_exchanges,
    draw_heat_map,
)
from resolab.report.captions import difference_caption, exchange_caption, heat_map_caption
from resolab.report.findings.findings import ExchangeResult, Findings
from resolab.report.labels import combination_of, exchange_place


def drawings(findings: Findings) -> Iterator[Drawing]:
    """Draw every figure the findings have something for."""
    compared = findings.compared
    if any(comparison.change.n for _, comparison in compared):
        yield draw_heat_map(_cells(findings), heat_map_caption(findings))
        yield draw_differences(_differences(findings), difference_caption(findings))
    if findings.exchanges:
        yield draw_exchanges(exchange_series(findings), exchange_caption(findings))


def _cells(findings: Findings) -> list[HeatCell]:
    return [
        HeatCell(combination_of(findings, one.condition), one.condition.page, one.condition.profile, comparison.change)
        for one, comparison in findings.compared
    ]


def _differences(findings: Findings) -> list[DifferenceRow]:
    return [
        DifferenceRow(
            page=one.condition.page,
            profile=one.condition.profile,
            combination=combination_of(findings, one.condition),
            dns_transport=one.condition.dns_transport,
            difference_ms=comparison.difference_ms,
            blocks_ms=comparison.blocks_ms,
            expected_ms=comparison.expected_ms,
        )
        for one, comparison in findings.compared
    ]


def exchange_series(findings: Findings) -> list[ExchangeSeries]:
    """Take of the exchanges what their curves need."""
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
