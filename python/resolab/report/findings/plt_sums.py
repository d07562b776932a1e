"""Page load times beside the sums that Sengupta et al. report as such: a load without look-up plus a look-up apart.

For: estimates and the table in which both stand. Not for: mixing them; every other number of the report is of `plt`.
"""

from collections.abc import Mapping, Sequence

from resolab.plan import Condition, Plan, stream_seed
from resolab.plots import ABSENT, estimate_text, interval_text
from resolab.report.findings.findings import Findings, PltSumResult
from resolab.report.findings.interval_level import level_of
from resolab.report.findings.page_loads import usable_loads
from resolab.report.labels import combination_of
from resolab.report.tables import Table
from resolab.stats import Estimate, Sample, median, paired_difference, pairs, relative_change
from resolab.store.rows import LoadRow


def plt_sum_results(plan: Plan, loads: Sequence[LoadRow]) -> list[PltSumResult]:
    """Sum up every condition of which a load has a sum."""
    by_condition: dict[str, list[LoadRow]] = {}
    for load in usable_loads(loads):
        if load.plt_sum_ms is not None or load.failure:
            by_condition.setdefault(load.condition, []).append(load)
    return [
        _result(plan, condition, by_condition)
        for condition in plan.conditions()
        if any(load.plt_sum_ms is not None for load in by_condition.get(condition.id, []))
    ]


def _result(plan: Plan, condition: Condition, by_condition: Mapping[str, Sequence[LoadRow]]) -> PltSumResult:
    loads = by_condition[condition.id]
    both = [load for load in loads if not load.failure and load.plt_ms is not None and load.plt_sum_ms is not None]
    baseline, level = plan.baseline_of(condition), level_of(plan)
    return PltSumResult(
        condition=condition,
        plt_ms=median(_sample(loads, [load.plt_ms for load in loads]), level=level),
        plt_sum_ms=median(_sums(loads), level=level),
        difference_ms=paired_difference(
            Sample.exact([load.plt_sum_ms or 0.0 for load in both]),
            Sample.exact([load.plt_ms or 0.0 for load in both]),
            level=level,
        ),
        change=None
        if baseline == condition or condition.replicate > 1
        else _change(plan, condition, loads, by_condition.get(baseline.id, [])),
    )


def _change(plan: Plan, condition: Condition, own: Sequence[LoadRow], other: Sequence[LoadRow]) -> Estimate:
    treated, compared = pairs([load.block for load in own], [load.block for load in other])
    seed = stream_seed(plan.seed, "plt_sum_change", condition.id)
    return relative_change(_sums(own).take(treated), _sums(other).take(compared), seed=seed, level=level_of(plan))


def _sums(loads: Sequence[LoadRow]) -> Sample:
    return _sample(loads, [load.plt_sum_ms for load in loads])


def _sample(loads: Sequence[LoadRow], values: Sequence[float | None]) -> Sample:
    known = [None if load.failure else value for load, value in zip(loads, values, strict=True)]
    return Sample.censored(known, [load.limit_ms or 0.0 for load in loads])


def plt_sum_table(findings: Findings) -> Table:
    """List both times of every condition that has sums."""
    columns = (
        "page", "profile", "condition", "n", "median PLT ms", "median PLT sum ms", "sum - PLT ms",
        "change of median PLT sum",
    )  # fmt: skip
    rows = [
        (
            one.condition.page,
            one.condition.profile,
            combination_of(findings, one.condition),
            str(one.plt_sum_ms.n),
            _both(one.plt_ms),
            _both(one.plt_sum_ms),
            _both(one.difference_ms, signed=True),
            (f"copy {copy}" if (copy := one.condition.replicate) > 1 else "baseline")
            if one.change is None
            else _percent(one.change),
        )
        for one in findings.plt_sums
    ]
    return Table(columns, rows, frozenset(range(3)))


def _both(estimate: Estimate, *, signed: bool = False) -> str:
    return f"{estimate_text(estimate, signed=signed)} {interval_text(estimate, signed=signed)}".rstrip()


def _percent(change: Estimate) -> str:
    if not change.n:
        return ABSENT
    value, interval = (text(change, scale=100, signed=True) for text in (estimate_text, interval_text))
    return f"{value} % {interval}".rstrip()
