"""Figs. 2, 4 and 5 of Hounsel et al.: page load times of every configuration against others, paired.

For: choosing pairs, cells and panels, and their captions. Not for: the definition of a pair (`loads`).

A vantage point is a distance of the resolver. The distance nearest to the ping from Frankfurt makes Fig. 4, the
distance nearest to the ping from Seoul Fig. 5.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from resolab.plan import Condition
from resolab.report.live.configurations.loads import (
    PairKey,
    difference_curve,
    list_levels,
    pool_pairs,
)
from resolab.report.live.configurations.sampling import describe_sampling
from resolab.report.parts.captions import intervals_text
from resolab.report.parts.failure_sentences import describe_left_out, flags_and_drops
from resolab.report.plots import Drawing
from resolab.report.plots.difference_cdfs import DifferenceCurve, DifferencePanel, draw_difference_cdfs
from resolab.report.plots.difference_matrix import MatrixCell, draw_difference_matrix
from resolab.store.trial_loads import TrialLoadRow
from resolab.studies.h20.do53_differences import Do53Difference
from resolab.studies.h20.networks import their_median_ms
from resolab.studies.h20.paper_numbers import CITATION, DEFAULT_NETWORK, PING_MS, find_network
from resolab.studies.h20.study import H20Study

_FIGURES = {"Frankfurt": "h20_fig4", "Seoul": "h20_fig5"}


def difference_drawings(study: H20Study) -> Iterator[Drawing]:
    """Draw the matrix of the default network, and a grid for each distance of the resolver."""
    profile = matrix_profile(study)
    if profile is not None:
        cells = matrix_cells(study, profile)
        yield draw_difference_matrix("h20_fig2", _matrix_caption(study, profile, cells), cells)
    for extra_rtt_ms in study.distances_ms:
        found = [one for one in study.differences if one.configuration.resolver.extra_rtt_ms == extra_rtt_ms]
        if found:
            vantage = study.vantage_points.get(extra_rtt_ms)
            name = f"h20_fig5_{extra_rtt_ms:g}ms" if vantage is None else _FIGURES[vantage]
            caption = _grid_caption(study, found, extra_rtt_ms, vantage)
            yield draw_difference_cdfs(name, caption, [_panel(study, one) for one in found])


def list_missing_differences(study: H20Study) -> list[str]:
    """List the figures without data among the three."""
    missing = []
    if matrix_profile(study) is None:
        missing.append("h20_fig2: no default network with page loads of two configurations in one block")
    found = {one.configuration.resolver.extra_rtt_ms for one in study.differences}
    compared = {study.vantage_points[one] for one in found if one in study.vantage_points}
    for vantage, name in _FIGURES.items():
        if vantage not in compared:
            where = f"a resolver about {PING_MS[vantage]:g} ms beyond the access link, as from {vantage}"
            missing.append(f"{name}: no page loads of Do53 and another transport in one block to {where}")
    return missing


def matrix_profile(study: H20Study) -> str | None:
    """Choose the first default network with two configurations in the same block."""
    default = (one for one in study.profiles if find_network(one) == DEFAULT_NETWORK)
    return next((one for one in default if _have_common_pair(list(study.loads.get(one, {}).values()))), None)


def _have_common_pair(arms: Sequence[Mapping[PairKey, TrialLoadRow]]) -> bool:
    return any(one.keys() & other.keys() for place, one in enumerate(arms) for other in arms[:place])


def matrix_cells(study: H20Study, profile: str) -> list[MatrixCell]:
    """Compare every configuration with every other."""
    arms = study.loads.get(profile, {})
    return [
        MatrixCell(
            row.label(study.resolvers),
            column.label(study.resolvers),
            difference_curve(
                pool_pairs(arms[row], arms[column], study.outcome),
                {"profile": profile, **list_levels("row", row), **list_levels("column", column)},
                study.level,
            ),
        )
        for row in arms
        for column in arms
        if row != column
    ]


def _panel(study: H20Study, one: Do53Difference) -> DifferencePanel:
    resolver = one.configuration.resolver
    network = find_network(one.profile)
    caches = {other.cache for other in study.resolvers}
    further = one.configuration.further
    series = (*further, *([f"cache {resolver.cache}"] if len(caches) > 1 else []))
    transport = one.configuration.transport.partition(",")[0]
    column = one.profile if network == DEFAULT_NETWORK else f"{network} ({one.profile})"
    return DifferencePanel(
        row=f"{transport} - Do53",
        column=column,
        series=", ".join(series),
        dns_transport=one.configuration.dns_transport,
        expected_ms=one.expected_ms,
        curve=one.curve,
        paper_median_ms=their_median_ms(study, one),
    )


def _matrix_caption(study: H20Study, profile: str, cells: Sequence[MatrixCell]) -> str:
    pairs = [cell.curve.median_ms.n for cell in cells]
    return (
        f"Differences of {study.outcome.phrase} between every two configurations on {profile}, row minus column, "
        f"paired by block and page ({CITATION}, Fig. 2). Each cell: the cumulative distribution, its median as a "
        "line and a number with its interval, colour by the paper's border of 30 ms; the one at 100 ms is ours. A "
        "dashed frame marks cells whose interval contains 0, whatever their colour. "
        f"{min(pairs)} to {max(pairs)} pairs a cell. {_failures(study, [profile])} Such pairs are bounds: the two "
        "edges of a curve hold all it can be; the CSV has their number, and the paper's way beside it, in which they "
        f"are dropped (survivor columns). Medians have {_intervals(cell.curve for cell in cells)}. "
        f"{study.dataset_words}"
    )


def _grid_caption(study: H20Study, found: Sequence[Do53Difference], extra_rtt_ms: float, vantage: str | None) -> str:
    pairs = [one.curve.median_ms.n for one in found]
    profiles = list(dict.fromkeys(one.profile for one in found))
    theirs = "" if vantage is None else f", as their {vantage}, Fig. {_FIGURES[vantage][-1]}"
    return (
        f"Differences of {study.outcome.phrase} to Do53 by network, paired by block and page, with the resolver "
        f"{extra_rtt_ms:g} ms beyond the access link ({CITATION}{theirs}). Dot and bar: median and its interval; "
        "grey tick: closed form, the extra round trips of one cold look-up; cross: the paper's median. Between "
        "dotted lines the axis is linear, beyond them logarithmic. Legends: medians, with "
        f"{_intervals(one.curve for one in found)}. "
        f"{min(pairs)} to {max(pairs)} pairs a curve. {_failures(study, profiles)} Such pairs are bounds, shaded "
        f"between the least and the most the distribution can be; the CSV has the paper's way beside it, in which "
        f"they are dropped. {study.dataset_words}"
    )


def _intervals(curves: Iterable[DifferenceCurve]) -> str:
    found = list(curves)
    words = describe_sampling((one.unit, one.pages_count) for one in found)
    return f"{intervals_text(one.median_ms for one in found)}: {words}"


def _failures(study: H20Study, profiles: Sequence[str]) -> str:
    loads = [load for one in profiles for arm in study.loads.get(one, {}).values() for load in arm.values()]
    failed = sum(load.failure is not None for load in loads)
    told = flags_and_drops(study.findings, profiles)
    untold = sum(row.profile in profiles for row in study.rows) - len(loads)
    copies = sum(one.trials_count for one in study.findings.conditions if _is_copy(one.condition, profiles))
    failures = f"{failed} of {len(loads)} loads failed and count as {study.outcome.failed_load_meaning}; {told}."
    return failures + describe_left_out(untold, copies)


def _is_copy(condition: Condition, profiles: Sequence[str]) -> bool:
    return condition.replicate > 1 and condition.profile in profiles
