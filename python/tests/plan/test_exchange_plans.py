"""Plans of the kind `exchange`: own factors, short identifiers, one outcome, and no part of a page load."""

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import ConnectionState, HandshakeMode, QuestionPacking, TrialKind
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.kind import list_written_levels

TEXT = """
name = "p"
question = "?"
kind = "exchange"
seed = 1
blocks = 2

[factors]
profile = ["4g"]
dns_transport = ["dot", "doq"]
{factors}

[baseline]
dns_transport = "dot"
{more}
"""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_project()


def plan_of(corpus: Corpus, factors: str = "", more: str = "") -> Plan:
    return parse_plan(TEXT.format(factors=factors, more=more), "p.toml", corpus)


def test_an_exchange_has_a_short_identifier_and_its_own_outcome(corpus: Corpus) -> None:
    plan = plan_of(
        corpus, 'requested_dns_handshake_mode = ["full", "zero_rtt"]', 'requested_dns_handshake_mode = "full"'
    )
    assert [one.id for one in plan.conditions()] == ["4g.dot.full", "4g.dot.zero_rtt", "4g.doq.full", "4g.doq.zero_rtt"]
    assert plan.kind is TrialKind.EXCHANGE
    assert plan.analysis.primary == "response_time"
    assert {one.kind for one in plan.conditions()} == {TrialKind.EXCHANGE}
    assert len(plan.comparisons()) == 3


def test_several_pages_stand_in_the_identifier(corpus: Corpus) -> None:
    plan = plan_of(corpus, 'page = ["example", "wikipedia"]')
    assert [one.id for one in plan.conditions()][:2] == ["4g.dot.example", "4g.doq.example"]
    assert plan.list_varying_factors() == ()


def test_a_trials_record_has_no_level_of_a_page_load(corpus: Corpus) -> None:
    levels = list_written_levels(plan_of(corpus).conditions()[0])
    absent = {factor for factor, level in levels.items() if level is None}
    assert absent == {
        "http_version",
        "requested_handshake_mode",
        "resolver_path",
        "browser",
        "doh_method",
        "browser_preset",
        "study_arm",
        "study_case",
    }
    assert levels["page"] == "example"


def test_names_and_gaps_are_whole_numbers(corpus: Corpus) -> None:
    plan = plan_of(
        corpus,
        'page = ["names-4"]\ndns_connection_state = ["warm"]\nidle_gap_ms = [0, 250]\nnames_count = [1, 3]\n'
        'question_packing = ["separate", "one_message"]',
        'idle_gap_ms = 0\nnames_count = 3\nquestion_packing = "separate"\n[[exclude]]\nnames_count = [1]\n',
    )
    one = plan.conditions()[-1]
    assert (one.idle_gap_ms, one.names_count, one.question_packing) == (250, 3, QuestionPacking.ONE_MESSAGE)
    assert one.id == "4g.doq.names-4.warm.250.3.one_message"
    assert one.dns_connection_state is ConnectionState.WARM
    assert one.requested_dns_handshake_mode is HandshakeMode.FULL


@pytest.mark.parametrize(
    ("factors", "more", "problem"),
    [
        ('browser = ["firefox"]', "", "factors.browser: is no factor with kind = 'exchange'; its factors: profile"),
        ('http_version = ["h3"]', "", "factors.http_version: is no factor with kind = 'exchange'"),
        ("idle_gap_ms = [10]", "", "factors.idle_gap_ms: 4g.dot.10: a new connection has no pause"),
        ("names_count = [2.5]", "", "factors.names_count: must hold whole numbers from 1 to 64, not 2.5"),
        ("names_count = [30]", "", "factors.names_count: 30 names are more than the 1 of page example"),
        ('question_packing = ["one_message"]', "", "one name makes one question"),
        ("", '[resolver_path]\ndot = "stub"', "resolver_path: has no meaning with kind = 'exchange'; remove it"),
        ("", "[queries]\nwarm_count = 1", "queries: has no meaning with kind = 'exchange'"),
        (
            "",
            '[analysis]\nprimary = "plt"',
            "analysis.primary: 'plt' is no outcome of these trials; allowed: response_time",
        ),
        ("", 'http_version = "h3"', "baseline.http_version: unknown key"),
    ],
)
def test_what_belongs_to_page_loads_is_refused_in_a_line(corpus: Corpus, factors: str, more: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        plan_of(corpus, factors, more)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_page_load_has_no_factor_of_an_exchange(corpus: Corpus) -> None:
    text = TEXT.replace('kind = "exchange"', "").format(
        factors='page = ["example"]\nhttp_version = ["h3"]\nrequested_handshake_mode = ["full"]\nidle_gap_ms = [5]',
        more='[resolver_path]\ndot = "stub"\ndoq = "stub"',
    )
    with pytest.raises(ConfigurationError, match=r"factors\.idle_gap_ms: is no factor with kind = 'page_load'"):
        parse_plan(text, "p.toml", corpus)
