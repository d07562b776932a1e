"""The sentence of a verdict: the difference or share with its interval, the bound, and the evidence.

For: every form of verdicts. Not for: lists and files (`forms`).
"""

import math

from resolab.basics.wording import format_count
from resolab.campaign.checks.decision import ShareDecision
from resolab.plan.expectation import Expectation
from resolab.report.verdicts.check_result import CheckResult
from resolab.report.verdicts.evidence import TAIL_SPREADS
from resolab.stats import LEVEL


def time_sentence(found: CheckResult) -> str:
    """Return the difference with its interval, level and looks, the spread, and the blocks for a verdict."""
    bound = found.expectation.bound
    if found.blocks_count == 0 or found.interval_ms is None:
        return f"no pair of blocks yet, bound {bound}"
    if found.estimate_ms is None:
        return f"the median is unknown, as too many trials failed, bound {bound}, {found.blocks_count} blocks"
    side = "slower" if found.estimate_ms > 0 else "faster"
    ends = f"[{_end(found.interval_ms.low)}, {_end(found.interval_ms.high)}]"
    seen = f"{format_count(found.blocks_count, 'block')}, {format_count(found.looks_count, 'look')}"
    difference = f"{abs(found.estimate_ms):.1f} ms {side} {ends} at {LEVEL:.0%}, bound {bound}, {seen}"
    clauses = [difference, *_spread(found), *_tails(found), *_undecided(found)]
    return "; ".join(clauses)


def across_sentence(found: CheckResult, blocks: tuple[int, int], reason: str | None) -> str:
    """Return the change of a difference between two datasets, with its interval, and the reason of no verdict."""
    counted = f"{blocks[0]} and {blocks[1]} blocks"
    if found.interval_ms is None:
        return f"too few pairs for an interval ({counted}), bound {found.expectation.bound}"
    if found.estimate_ms is None:
        return f"a median is unknown, as too many trials failed, bound {found.expectation.bound}, {counted}"
    side = "slower" if found.estimate_ms > 0 else "faster"
    ends = f"[{_end(found.interval_ms.low)}, {_end(found.interval_ms.high)}]"
    change = f"{abs(found.estimate_ms):.1f} ms {side} than in the first dataset {ends} at {LEVEL:.0%}"
    told = f"{change}, bound {found.expectation.bound}, {counted}"
    return "; ".join([told, *_spread(found), *([reason] if reason else [])])


def share_sentence(one: Expectation, found: ShareDecision, trials_count: int) -> str:
    """Return the share of slow and failed trials with its interval."""
    ends = f"[{found.interval.low:.1%}, {found.interval.high:.1%}]"
    told = f" ({found.slow_count / trials_count:.1%} {ends})" if trials_count else ""
    counted = f"{found.slow_count} of {trials_count} failed or above {one.slow_ms:g} ms"
    return f"{counted}{told}, bound {one.share_percent:g} %"


def _spread(found: CheckResult) -> list[str]:
    if found.spread_ms is None:
        return []
    reference = found.reference_spread_ms
    quiet = "no reference" if reference is None else f"quiet machine: at most {reference:g}"
    return [f"spread {found.spread_ms:.1f} ms ({quiet})"]


def _tails(found: CheckResult) -> list[str]:
    """Name the pairs in tails; they leave a median in place."""
    slower, faster = found.tail_counts
    if not slower + faster or found.spread_ms is None:
        return []
    far_ms = TAIL_SPREADS * found.spread_ms
    return [f"{slower} pairs lie more than {far_ms:.0f} ms above the median difference, {faster} below"]


def _undecided(found: CheckResult) -> list[str]:
    if found.interval_ms is not None and found.interval_ms.contradicts_itself:
        return ["two intervals without a common point: the pairs change over time"]
    needed = found.blocks_needed
    if needed is None:
        return []
    if needed.blocks is None:
        return [f"too near the bound: no verdict expected within {needed.most} blocks"]
    high = f"more than {needed.most}" if needed.high is None else str(needed.high)
    return [f"at most about {needed.blocks} blocks in all decide with a chance of 80 % ({needed.low} to {high})"]


def _end(value: float) -> str:
    return f"{value:.1f}" if math.isfinite(value) else "no bound"
