"""Plans of the kind `fetch`: own factors, identifiers that begin with the page, two outcomes."""

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import HandshakeMode
from resolab.plan import Corpus, Plan, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.plan.factors import applies

PLAN = PROJECT_ROOT / "plans" / "name-and-page.toml"


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return Corpus.from_project()


def changed(corpus: Corpus, old: str, new: str) -> Plan:
    text = PLAN.read_text("utf-8")
    assert old in text
    return parse_plan(text.replace(old, new), "p.toml", corpus)


def test_a_fetch_begins_with_its_page_and_has_its_own_outcomes(corpus: Corpus) -> None:
    plan = load_plan(PLAN, corpus)
    assert plan.conditions()[0].id == "example.4g.doq.full.separate.off"
    assert plan.analysis.primary == "first_byte"
    assert changed(corpus, "[analysis]", '[analysis]\nprimary = "page_complete"').analysis.primary == "page_complete"
    assert {one.requested_handshake_mode for one in plan.conditions()} == {HandshakeMode.FULL}
    assert {one.page_handshake_mode for one in plan.conditions()} == {HandshakeMode.FULL, HandshakeMode.ZERO_RTT}


def test_the_sharing_of_a_fetch_is_told_in_its_label(corpus: Corpus) -> None:
    first = load_plan(PLAN, corpus).conditions()[0]
    assert applies("connection_sharing", first)
    assert applies("speculation", first)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('["doq", "doh3"]', '["doh"]', "a fetch has its name over QUIC"),
        ('connection_sharing = ["separate", "', 'connection_sharing = ["separate", "certificate", "', "on its own"),
        ('page = ["example"]\n', "", "factors.page: is missing"),
        ("[analysis]", '[analysis]\nprimary = "plt"', "allowed: first_byte, page_complete"),
        (
            'profile = ["4g", "fiber"]',
            'profile = ["4g"]\ndns_connection_state = ["warm"]',
            "is no factor with kind = 'fetch'",
        ),
    ],
)
def test_what_a_fetch_cannot_be_is_refused_in_a_line(corpus: Corpus, old: str, new: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        changed(corpus, old, new)
    assert problem in str(raised.value)
