"""Comparisons are decided one by one, and what no open one needs is loaded no more."""

from collections.abc import Mapping

import msgspec
import pytest

from resolab.basics.records import BrowserKind, DirectionProfile, PageFailure, PageLoadRecord
from resolab.campaign.decisions import ConfidenceSequenceRule
from resolab.plan import DecisionCriterion, Plan, StopRule, StopSettings, parse_plan
from resolab.stats import Sample, difference_at_any_look

TEXT = """
name = "decisions"
question = "Which comparison ends when?"
seed = 3
blocks = 40
[factors]
page = ["example"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh", "doq"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
doq = "stub"
[baseline]
dns_transport = "doudp"
"""
RULE = StopSettings(rule=StopRule.CONFIDENCE_SEQUENCE, min_blocks=8)
DOUDP, DOH, DOQ = (f"example.fiber.{one}.h3.full" for one in ("doudp", "doh", "doq"))
PLT_MS = {"doudp": 100.0, "doh": 150.0, "doq": 100.0}


def plan_of(more: str = "") -> Plan:
    return parse_plan(TEXT + more, "decisions.toml", None)


def load(plt_ms: float | None) -> PageLoadRecord:
    return PageLoadRecord(
        url="https://example.resolab.test/",
        browser=BrowserKind.CHROMIUM.value,
        browser_version="1",
        measured=True,
        requested_handshake_mode="full",
        plt_ms=plt_ms,
        failure=None if plt_ms is not None else PageFailure.PAGE_TIMEOUT,
        limit_ms=30_000.0,
    )


def value(condition: str, block: int) -> float:
    """DoH is 50 ms slower; DoQ swings by 5 ms around DoUDP, by 50 ms on 4g."""
    swing = 50.0 if ".4g." in condition else 5.0
    own = (-1) ** block * swing * (1 + block % 5) / 5 if ".doq." in condition else 0.0
    return PLT_MS[condition.split(".")[2]] + block + own


def filled(
    plan: Plan, stop: StopSettings = RULE, margins: Mapping[str, float] | None = None, blocks: int = 40
) -> ConfidenceSequenceRule:
    decisions = ConfidenceSequenceRule(plan, stop, margins)
    # From the last to the first: the order in which trials come does not matter.
    for block in reversed(range(blocks)):
        for condition in plan.conditions():
            decisions.add(condition.id, block, [load(value(condition.id, block))])
    return decisions


def test_a_difference_is_decided_and_its_treatment_loaded_no_more() -> None:
    plan = plan_of()
    decisions = filled(plan)
    assert [blocks for blocks in range(12) if RULE.is_due(blocks)] == [8, 9, 10, 11]
    look = decisions.look(8)
    doh, doq = look.decisions[0], look.decisions[1]
    assert (doh.treatment, doh.baseline, doh.after_blocks, doh.reasons) == (
        DOH,
        DOUDP,
        8,
        [DecisionCriterion.DIFFERENCE],
    )
    assert (doh.ci_low_ms, doh.ci_high_ms, doh.pairs_count) == (50.0, 50.0, 8)
    assert (doq.after_blocks, doq.reasons) == (None, [])
    assert look.loaded is not None
    assert DOH not in look.loaded
    assert {DOUDP, DOQ} < look.loaded
    assert not look.reached
    assert decisions.text(look) == "2 of 4 comparisons decided, 4 of 6 conditions still loaded"
    assert decisions.estimate_blocks(look, 40) == 40


def test_a_decision_stays_and_later_pairs_narrow_the_interval() -> None:
    plan = plan_of()
    decisions = filled(plan)
    first, last = decisions.look(8), decisions.look(40)
    assert first.decisions[0] == last.decisions[0]
    doq = last.decisions[1]
    assert (doq.after_blocks, doq.pairs_count) == (None, 40)
    treatment = Sample.exact([value(DOQ, block) for block in range(40)])
    baseline = Sample.exact([value(DOUDP, block) for block in range(40)])
    same = difference_at_any_look(treatment, baseline)
    assert (doq.ci_low_ms, doq.ci_high_ms) == (same.ci_low, same.ci_high)
    assert last.widths[1].ci_width_ms == same.ci_width


def test_the_same_blocks_give_the_same_look_whatever_was_looked_at_before() -> None:
    plan = plan_of()
    once, often = filled(plan), filled(plan)
    for blocks in range(8, 20):
        often.look(blocks)
    assert often.look(20).widths == once.look(20).widths
    assert often.look(20).decisions[1] == once.look(20).decisions[1]


def test_a_margin_and_a_width_decide_what_has_no_difference() -> None:
    plan = plan_of()
    names = [one.id for one in plan.comparisons()]
    margins = dict.fromkeys(names, 6.0)
    look = filled(plan, RULE, margins).look(40)
    assert [one.reasons for one in look.decisions] == [
        [DecisionCriterion.DIFFERENCE], [DecisionCriterion.EQUIVALENCE], [DecisionCriterion.DIFFERENCE], [],
    ]  # fmt: skip
    wide = StopSettings(rule=StopRule.CONFIDENCE_SEQUENCE, min_blocks=8, ci_width_ms=12.0)
    look = filled(plan, wide).look(40)
    assert look.decisions[1].reasons == [DecisionCriterion.WIDTH]
    assert look.decisions[0].reasons == [DecisionCriterion.DIFFERENCE, DecisionCriterion.WIDTH]
    assert not look.reached
    only = StopSettings(
        rule=StopRule.CONFIDENCE_SEQUENCE, min_blocks=8, ci_width_ratio=2.0, decided_by=(DecisionCriterion.WIDTH,)
    )
    look = filled(plan, only).look(40)
    assert look.reached
    assert look.loaded == frozenset()
    assert {tuple(one.reasons) for one in look.decisions} == {(DecisionCriterion.WIDTH,)}
    # Of the baseline's median over the blocks: 100 ms and some 20 for the rising blocks.
    width = look.widths[3].ci_width_ratio
    assert width is not None
    assert 0.3 < width < 0.9


MORE = """
[[comparison]]
name = "DoH"
treatment = { dns_transport = ["doh"], profile = ["fiber"] }
baseline = { dns_transport = "doudp" }
[[comparison]]
name = "DoQ"
treatment = { dns_transport = ["doq"], profile = ["fiber"] }
baseline = { dns_transport = "doudp" }
[[repeat]]
dns_transport = ["doh"]
times = 3
[[repeat]]
dns_transport = ["doudp"]
profile = ["fiber"]
"""


def test_copies_go_with_their_first_and_what_nothing_decides_about_stays() -> None:
    plan = plan_of(MORE)
    look = filled(plan).look(8)
    assert look.loaded is not None
    gone = {one.id for one in plan.conditions()} - look.loaded
    assert gone == {DOH, f"{DOH}.copy2", f"{DOH}.copy3"}


def test_failed_loads_are_bounds_and_lost_ones_make_no_pair() -> None:
    plan = plan_of()
    decisions = ConfidenceSequenceRule(plan, RULE)
    for block in range(20):
        decisions.add(DOUDP, block, [load(100.0)])
        decisions.add(DOH, block, [load(None)])
        if block % 2:
            decisions.add(DOQ, block, [load(101.0)])
    look = decisions.look(20)
    doh, doq = look.decisions[:2]
    assert (doh.reasons, doh.ci_low_ms, doh.ci_high_ms) == ([DecisionCriterion.DIFFERENCE], 29_900.0, None)
    assert (doq.pairs_count, doq.reasons) == (10, [DecisionCriterion.DIFFERENCE])
    nothing = look.decisions[2]
    assert (nothing.pairs_count, nothing.after_blocks, nothing.ci_low_ms) == (0, None, None)
    assert look.widest == float("inf")


@pytest.mark.parametrize("extra", [0.0, 25.0])
def test_a_margin_in_round_trips_is_of_the_links_wherever_the_resolver_is(extra: float) -> None:
    from synthetic_dataset import RTT_MS, profile

    from resolab.campaign.margins import margins_ms

    text = TEXT.replace('["full"]\n', f'["full"]\nresolver_extra_rtt_ms = [{extra}]\n', 1)
    links = [profile("fiber"), profile("4g")]
    assert margins_ms(parse_plan(text, "p", None), links) == {}
    found = margins_ms(parse_plan(text + "[analysis]\nequivalence_margin_rtts = 0.25\n", "p", None), links)
    assert sorted(set(found.values())) == pytest.approx([RTT_MS[name] / 4 for name in ("fiber", "4g")])
    without = DirectionProfile(one_way_delay_ms=0)
    flat = [links[0], msgspec.structs.replace(links[1], up=without, down=without)]
    found = margins_ms(parse_plan(text + "[analysis]\nequivalence_margin_rtts = 0.25\n", "p", None), flat)
    assert set(found.values()) == {RTT_MS["fiber"] / 4}, "a link without a round trip has no margin in round trips"
    in_ms = margins_ms(parse_plan(text + "[analysis]\nequivalence_margin_ms = 5.0\n", "p", None), links)
    assert set(in_ms.values()) == {5.0}
