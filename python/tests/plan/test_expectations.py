"""Expectations of plans: read, counted, and refused in one line."""

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.plan import Corpus, Plan, StopRule, parse_plan
from resolab.plan.expectation import ExpectationKind

TEXT = """
name = "p"
question = "?"
kind = "exchange"
seed = 1
blocks = 20
[factors]
profile = ["4g", "fiber"]
dns_transport = ["doudp", "doq"]
[baseline]
dns_transport = "doudp"
[[comparison]]
name = "DoQ"
treatment = { dns_transport = ["doq"] }
baseline = { dns_transport = "doudp" }
"""
ARMS = 'treatment = { dns_transport = ["doq"] }\nbaseline = { dns_transport = "doudp" }'
STOP = '[stop]\nrule = "expectations"\n'


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_project()


def expect(keys: str, more: str = "") -> str:
    return f'{TEXT}[[expect]]\nname = "e"\n{keys}\n{more}'


def plan_of(corpus: Corpus, text: str) -> Plan:
    return parse_plan(text, "p.toml", corpus)


def test_an_expectation_is_of_a_comparison_by_name_or_of_its_own_arms(corpus: Corpus) -> None:
    keys = 'kind = "not_slower_than"\nmargin_ms = 2\n'
    named = plan_of(corpus, expect(keys + 'comparison = "DoQ"'))
    own = plan_of(corpus, expect(keys + ARMS))
    for plan in (named, own):
        (one,) = plan.expectations
        pairs = one.list_comparisons(plan.conditions(), plan.find_with_levels)
        assert [(pair.treatment.id, pair.baseline.id) for pair in pairs] == [
            ("4g.doq", "4g.doudp"),
            ("fiber.doq", "fiber.doudp"),
        ]
        assert (one.kind, one.outcome, one.bound) == (ExpectationKind.NOT_SLOWER_THAN, "response_time", "2 ms")


def test_the_stop_by_expectations_has_the_least_blocks_of_a_sequence(corpus: Corpus) -> None:
    plan = plan_of(corpus, expect(f'kind = "equivalent_within"\nmargin_percent = 5\n{ARMS}', STOP))
    assert plan.stop is not None
    assert (plan.stop.rule, plan.stop.min_blocks, plan.stop.drops_conditions) == (StopRule.EXPECTATIONS, 8, True)


@pytest.mark.parametrize(
    ("keys", "more", "problem"),
    [
        (f'kind = "slower"\n{ARMS}', "", "expect[0].kind: must be one of not_slower_than, faster_by"),
        (f'kind = "faster_by"\n{ARMS}', "", "takes margin_ms or margin_percent"),
        (f'kind = "faster_by"\nmargin_ms = 1\nmargin_percent = 1\n{ARMS}', "", "takes margin_ms or margin_percent"),
        (f'kind = "failures_at_most"\nmargin_ms = 1\n{ARMS}', "", "'failures_at_most' takes count"),
        (f'kind = "slow_share_at_most"\npercent = 5\n{ARMS}', "", "takes percent and slow_ms"),
        ('kind = "faster_by"\nmargin_ms = 1\n', "", "expect[0].treatment: is missing"),
        (f'kind = "faster_by"\nmargin_ms = 1\ncomparison = "DoQ"\n{ARMS}', "", "not both"),
        ('kind = "faster_by"\nmargin_ms = 1\ncomparison = "DoH"', "", "unknown level 'DoH'; allowed: DoQ"),
        (f'kind = "faster_by"\nmargin_ms = 1\noutcome = "plt"\n{ARMS}', "", "allowed: response_time"),
        (f'kind = "failures_at_most"\ncount = 0\n{ARMS}', STOP, "there is no expectation that blocks could decide"),
        (f'kind = "faster_by"\nmargin_ms = 1\n{ARMS}', STOP + "ci_width_ms = 3\n", "takes no decided_by and no width"),
    ],
)
def test_mistakes_are_one_line(corpus: Corpus, keys: str, more: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        plan_of(corpus, expect(keys, more))
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_two_expectations_of_one_name_are_refused(corpus: Corpus) -> None:
    one = f'[[expect]]\nname = "e"\nkind = "faster_by"\nmargin_ms = 1\n{ARMS}\n'
    with pytest.raises(ConfigurationError, match="another expectation's name"):
        plan_of(corpus, TEXT + one + one)
