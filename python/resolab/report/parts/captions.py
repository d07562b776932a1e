"""Captions: the drawn values, their number, the number of failures, and the uncertainty.

For: the text under figures. Not for: the figures.
"""

from collections.abc import Iterable, Sequence

from resolab.basics.records import TrialKind
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import Findings, OutcomeFindings
from resolab.report.findings.interval_level import level_text
from resolab.report.parts.failure_sentences import flags_and_drops
from resolab.report.parts.labels import baseline_label
from resolab.report.plots import NamesPoint
from resolab.stats import Estimate, Method
from resolab.store.outcomes import PLT, LoadOutcome

_METHODS = {
    Method.ORDER_STATISTIC: "order statistics",
    Method.RANGE: "the range of all values",
    Method.PERCENTILE: "percentile bootstrap",
    Method.STUDENT: "Student's t of batches",
    Method.MOVER: "both medians' intervals joined (MOVER)",
    Method.SIGNED_RANK: "signed ranks",
    Method.RANK_SUM: "rank sums",
    Method.SCORE: "score",
    Method.NEWCOMBE: "Newcombe's score interval of pairs",
    Method.WILSON: "Wilson's score",
    Method.ADJUSTED_SIGN: "the sign test of residuals",
    Method.CLUSTER_SIGN: "the sign test over clusters",
    Method.CONFIDENCE_SEQUENCE: "confidence sequence, valid at any look",
}


def how_sure(estimates: Iterable[Estimate]) -> str:
    """Return the number of values of the estimates, and the method of their intervals."""
    some = list(estimates)
    counts = sorted({one.n for one in some})
    if not counts:
        return "No values."
    n = f"n = {counts[0]}" if len(counts) == 1 else f"n = {counts[0]} to {counts[-1]}"
    return f"{n}; {intervals_text(some)}."


def intervals_text(estimates: Iterable[Estimate]) -> str:
    """Name each method with its level; the range of few values has its own level."""
    found = dict.fromkeys((one.method, one.level) for one in estimates)
    return ", ".join(
        "no interval for too few values"
        if method is Method.NONE
        else f"{level_text(level)} intervals by {_METHODS[method]}"
        for method, level in sorted(found, key=lambda one: list(Method).index(one[0]))
    )


def each_for_itself(estimates: Iterable[Estimate]) -> str:
    """Name methods and levels, and say that the level is not of all intervals together."""
    some = list(estimates)
    alone = ", each for itself" if any(one.ci_low is not None for one in some) else ""
    return f"{intervals_text(some)}{alone}"


def heat_map_caption(findings: Findings, found: OutcomeFindings) -> str:
    """Return the caption of an outcome's heat map."""
    compared = [comparison.change for _, comparison in found.compared]
    return (
        f"Relative change of the median {found.outcome.phrase} against {baseline_label(findings)} "
        f"{_same(findings)}. A dashed frame marks cells whose interval contains 0. "
        f"{how_sure(compared)} {_describe_failed_loads(findings, found.outcome)} {_dataset(findings)}"
    )


def by_names_caption(findings: Findings, points: Sequence[NamesPoint]) -> str:
    """Return the caption of the differences by a page's number of names."""
    return (
        f"Median of the paired differences of {findings.plt.outcome.phrase} against {baseline_label(findings)} by the "
        f"names a page has, with its interval; grey: the closed form. Pages of a panel differ in the number at the end "
        f"of their names. {how_sure(one.difference_ms for one in points)} {_describe_failed_loads(findings)} "
        f"{_dataset(findings)}"
    )


def connections_caption(findings: Findings, medians: Iterable[Estimate]) -> str:
    """Return the caption of the pages by the number of connections saved in a comparison."""
    return (
        f"Change of {findings.plt.outcome.phrase} by how many connections fewer the treatment opens for a page's "
        "names, used or not; each circle is a page, one load under the treatment less one under the baseline, and has "
        "no interval of its own. Line and band: the median of the paired differences over pages, with its interval. "
        f"Axes are logarithmic beyond 200 ms and 10 connections. {how_sure(medians)} "
        f"{_describe_failed_loads(findings)} {_dataset(findings)}"
    )


def difference_caption(findings: Findings, found: OutcomeFindings) -> str:
    """Return the caption of an outcome's paired differences."""
    compared = [comparison.difference_ms for _, comparison in found.compared]
    return (
        f"Median of the paired differences of {found.outcome.phrase} against {baseline_label(findings)}, with its "
        f"interval; small dots: single {_singles(findings)}. "
        f"{how_sure(compared)} {_describe_failed_loads(findings, found.outcome)} {_dataset(findings)}"
    )


def shift_caption(findings: Findings, offered: Iterable[Estimate]) -> str:
    """Return the caption of the primary outcome's quantile differences."""
    return (
        f"Quantiles of {findings.primary.outcome.phrase} under each treatment less those of its baseline: a level line "
        "is a shift of all loads alike, one that falls towards P90 a gain of the slow ones. "
        f"{how_sure(offered)} {_describe_failed_loads(findings, findings.primary.outcome)} {_dataset(findings)}"
    )


def exchange_caption(findings: Findings) -> str:
    """Return the caption of the exchanges' distribution."""
    failed = sum(one.failed_count for one in findings.exchanges)
    total = sum(one.n for one in findings.exchanges)
    medians = [one.median_ms for one in findings.exchanges]
    drawn = any(len(one.round_trips) + one.failed_count < one.n for one in findings.exchanges)
    curves = "Curves run through quantiles" if drawn else "The axis may end before the slowest exchange"
    return (
        f"{_exchanges_of(findings)}, in round trips to the resolver; dotted lines: round trips k of the "
        f"closed form; c = median - k x RTT. Failed exchanges keep a curve below 1: {failed} of {total}. "
        f"{curves}; the CSV holds all. {how_sure(medians)} {_dataset(findings)}"
    )


def _exchanges_of(findings: Findings) -> str:
    beside = " beside the page loads" if findings.plan.kind is TrialKind.PAGE_LOAD else ""
    return f"Cold DNS exchanges{beside}"


def _same(findings: Findings) -> str:
    if is_live(findings.plan):
        return "from the same vantage point; paired by site"
    return "on the same page and profile; paired by block"


def _singles(findings: Findings) -> str:
    if is_live(findings.plan):
        return "sites"
    return "blocks; grey tick: closed form, round trips times RTT and, where known, bytes over the rate"


def _describe_failed_loads(findings: Findings, outcome: LoadOutcome = PLT) -> str:
    failed = sum(one.failed_count for one in findings.conditions)
    unusable = sum(one.unusable_count for one in findings.conditions)
    text = f"{failed} of {findings.trials_count} loads failed and count as {outcome.failed_load_meaning}"
    alone = " or left alone" if is_live(findings.plan) else ""
    lost = f"; {unusable} more were lost to the instrument{alone}" if unusable else ""
    return f"{text}{lost}; {flags_and_drops(findings)}."


def _dataset(findings: Findings) -> str:
    return f"Dataset {findings.manifest.dataset_id}."
