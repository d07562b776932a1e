"""Decisions on expectations: each kind on both sides of its bound, and the promised error rates at the bound."""

import math
from dataclasses import replace

import numpy as np
import pytest

from resolab.campaign.checks.decision import (
    Interval,
    Verdict,
    interval_at_any_look,
    interval_of_fixed_blocks,
    judge_failures,
    judge_share,
    judge_times,
)
from resolab.plan.analysis import OutcomeName
from resolab.plan.comparison import ComparisonRule
from resolab.plan.condition import Baseline
from resolab.plan.expectation import Expectation, ExpectationKind
from resolab.stats import Sample, share_at_any_look

RULE = ComparisonRule("c", {"dns_transport": ["doq"]}, Baseline({"dns_transport": "doudp"}))
SLOWER = Expectation("e", RULE, ExpectationKind.NOT_SLOWER_THAN, OutcomeName.PLT, margin_ms=5.0)
MET, NOT_MET, UNDECIDED = Verdict.MET, Verdict.NOT_MET, Verdict.UNDECIDED


def samples(difference_ms: float, count: int = 20, noise_ms: float = 1.0) -> tuple[Sample, Sample]:
    noise = np.random.default_rng(1).normal(0.0, noise_ms, count)
    baseline = 100.0 + np.arange(count) % 7
    return Sample.exact(baseline + difference_ms + noise), Sample.exact(baseline)


@pytest.mark.parametrize("interval_of", [interval_at_any_look, interval_of_fixed_blocks])
@pytest.mark.parametrize(
    ("kind", "difference_ms", "verdict"),
    [
        ("not_slower_than", 0.0, MET),
        ("not_slower_than", -50.0, MET),
        ("not_slower_than", 5.0, UNDECIDED),
        ("not_slower_than", 10.0, NOT_MET),
        ("faster_by", -10.0, MET),
        ("faster_by", -5.0, UNDECIDED),
        ("faster_by", 0.0, NOT_MET),
        ("equivalent_within", 0.0, MET),
        ("equivalent_within", 10.0, NOT_MET),
        ("equivalent_within", -10.0, NOT_MET),
        ("equivalent_within", 5.0, UNDECIDED),
    ],
)
def test_each_kind_on_both_sides_of_its_margin(interval_of, kind: str, difference_ms: float, verdict: Verdict) -> None:
    one = replace(SLOWER, kind=ExpectationKind(kind))
    assert judge_times(one, *samples(difference_ms), interval_of) is verdict
    # 5 % of about 103 ms is about the same margin.
    percent = replace(one, margin_ms=None, margin_percent=5.0 / 1.03)
    assert judge_times(percent, *samples(difference_ms), interval_of) is verdict


def test_a_few_blocks_decide_nothing_and_a_failed_treatment_is_slower() -> None:
    assert judge_times(SLOWER, *samples(10.0, count=4), interval_at_any_look) is UNDECIDED
    failed = Sample(np.full(20, 30_000.0), np.full(20, math.inf))
    assert judge_times(SLOWER, failed, samples(0.0)[1], interval_at_any_look) is NOT_MET


def test_a_tail_that_leaves_the_median_is_seen_by_the_share_alone() -> None:
    treatment, baseline = samples(0.0, count=300)
    waits = treatment.low.copy()
    waits[::10] += 1000
    assert judge_times(SLOWER, Sample.exact(waits), baseline, interval_at_any_look) is MET
    share = replace(SLOWER, kind=ExpectationKind.SLOW_SHARE_AT_MOST, share_percent=1.0, slow_ms=500.0)
    slow: list[float | None] = [*[None] * 10, *[share.slow_ms + 1.0] * 20, *[share.slow_ms] * 270]
    assert judge_share(share, slow).slow_count == 30
    assert judge_share(share, slow).verdict is NOT_MET
    assert judge_share(share, [1.0] * 300).verdict is UNDECIDED
    assert judge_share(replace(share, share_percent=5.0), [1.0] * 300).verdict is MET


def test_failures_count_at_once_and_their_absence_at_the_end() -> None:
    one = replace(SLOWER, kind=ExpectationKind.FAILURES_AT_MOST, failures_count=2)
    assert judge_failures(one, 3, is_complete=False) is NOT_MET
    assert judge_failures(one, 2, is_complete=False) is UNDECIDED
    assert judge_failures(one, 2, is_complete=True) is MET


@pytest.mark.slow
@pytest.mark.parametrize("tail", [False, True])
def test_wrong_verdicts_at_the_margin_are_as_rare_as_promised(tail: bool) -> None:
    """The truth is exactly the margin, and the campaign is looked at after each of 60 blocks."""
    chance, wrong = np.random.default_rng(46), {MET: 0, NOT_MET: 0}
    campaigns = 300
    for _ in range(campaigns):
        noise = chance.standard_t(2, 60) * 8 if tail else chance.normal(0, 8, 60)
        baseline = Sample.exact(np.full(60, 100.0))
        for blocks in range(8, 61, 4):
            found = judge_times(
                SLOWER, Sample.exact(105.0 + noise[:blocks]), baseline.take(list(range(blocks))), interval_at_any_look
            )
            if found is not UNDECIDED:
                wrong[found] += 1
                break
    # 2.5 % of 300 are 7.5; 15 would come by chance once in a hundred tests.
    assert max(wrong.values()) <= 15, wrong


def test_the_interval_of_a_share_holds_it_at_every_look() -> None:
    chance, missed = np.random.default_rng(7), 0
    for _ in range(300):
        slow = np.cumsum(chance.random(200) < 0.05)
        missed += any(
            not low <= 0.05 <= high
            for low, high in (share_at_any_look(int(slow[n - 1]), n, level=0.975) for n in range(10, 201, 10))
        )
    assert missed <= 14, missed
    assert share_at_any_look(0, 0) == (0.0, 1.0)
    assert share_at_any_look(0, 100)[0] == 0.0
    with pytest.raises(ValueError, match="count between"):
        share_at_any_look(2, 1)


def test_five_pairs_have_no_interval_of_the_level() -> None:
    assert interval_of_fixed_blocks(Sample.exact([3.0, 3.1, 3.2, 3.3, 3.4])) == Interval(-math.inf, math.inf)
