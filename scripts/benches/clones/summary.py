"""Fidelity of many pages as markdown: the number of pages within each bar, the similarity of orders, the worst pages.

For: `--summary` and the end of `--fidelity`. Pure. Not for: judging (`verdicts`).
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from benches.clones.lines import Line
from benches.clones.verdicts import BARS, PageLoads, group_by_browser, pages_of
from resolab.extras.fidelity import bars

LEAST_ALIKE_COUNT = 5
_NOT_TOLD = "not told"


def summary(lines: Sequence[Line]) -> str:
    """Write the summary, ready for a page of the documentation."""
    pages = group_by_browser(pages_of(lines))
    return "\n".join([*_bars(pages), "", *_orders(pages), "", *_short(pages), "", *_least_alike(pages)])


def _bars(pages: Mapping[str, Sequence[PageLoads]]) -> Iterator[str]:
    yield _row("pages that meet it", pages)
    yield "| --- |" + " --: |" * len(pages)
    for bar in BARS:
        yield _row(bar, [_count([one.meets(bar) for one in of_one]) for of_one in pages.values()])
    yield _row("every load ended", [_count([not one.failures for one in of_one]) for of_one in pages.values()])
    yield _row("**all of these**", [_count([one.is_good for one in of_one]) for of_one in pages.values()])


def _orders(pages: Mapping[str, Sequence[PageLoads]]) -> Iterator[str]:
    yield _row("median Kendall's tau of the order of starts (pages)", pages)
    yield "| --- |" + " --: |" * len(pages)
    evident = {browser: [one for one in of_one if one.is_evident] for browser, of_one in pages.items()}
    yield _row(
        f"against the recording, pairs more than 50 ms apart, evidence ratio {bars.EVIDENCE_RATIO} or more",
        [_median([one.tau_apart for one in of_one], bars.TAU_APART[name]) for name, of_one in evident.items()],
    )
    yield _row(
        "between two loads of a clone, all pairs",
        [_median([one.tau_of_two for one in of_one], bars.TAU_OF_TWO[name]) for name, of_one in pages.items()],
    )


def _short(pages: Mapping[str, Sequence[PageLoads]]) -> Iterator[str]:
    worst = sorted(
        (one for of_one in pages.values() for one in of_one if not one.is_good),
        key=lambda one: (-len(one.failures), -len(one.short), one.page, one.browser),
    )
    yield f"Short of a bar: {len(worst)} of {sum(map(len, pages.values()))} pages and browsers, the worst first."
    for one in worst:
        failures = [f"{len(one.failures)} of {len(one.loads)} loads failed: {one.failures[0]}"] if one.failures else []
        yield f"- `{one.page}`, {one.browser}: {'; '.join([*failures, *one.short])}"


def _least_alike(pages: Mapping[str, Sequence[PageLoads]]) -> Iterator[str]:
    yield "Orders least alike, of pages with that evidence ratio (tau against the recording; between two loads):"
    for browser, of_one in pages.items():
        known = [(tau, one) for one in of_one if one.is_evident and (tau := one.tau_apart) is not None]
        known.sort(key=lambda pair: (pair[0], pair[1].page))
        told = (f"`{one.page}` {tau:.3f}; {_number(one.tau_of_two)}" for tau, one in known[:LEAST_ALIKE_COUNT])
        yield f"- {browser}: {', '.join(told) or 'none'}"


def _row(first: str, cells: Sequence[str] | Mapping[str, object]) -> str:
    return f"| {' | '.join([first, *cells])} |"


def _count(met: Sequence[bool | None]) -> str:
    told = [one for one in met if one is not None]
    return f"{sum(told)} of {len(told)}" if told else _NOT_TOLD


def _median(values: Sequence[float | None], bar: float) -> str:
    known = [one for one in values if one is not None]
    if not known:
        return _NOT_TOLD
    median = statistics.median(known)
    return f"{median:.3f} ({len(known)}), bar {bar}: {'met' if median >= bar else 'MISSED'}"


def _number(value: float | None) -> str:
    return _NOT_TOLD if value is None else f"{value:.3f}"
