"""A factor is declared once, as a field of `Condition`; this names what else a new factor or level still lacks."""

import re
from dataclasses import MISSING, dataclass
from pathlib import Path

import msgspec
import pytest

from resolab.basics.protocols.closed_form import PAGE_HANDSHAKES
from resolab.basics.records import BrowserKind, BrowserPreset, HttpVersion, TrialRecord
from resolab.browser.drivers import MAKERS
from resolab.browser.find import VERSION_OF
from resolab.browser.presets import find_presets
from resolab.campaign.expectation import COSTS
from resolab.lab.offers import OFFERS, POLICIES
from resolab.plan.condition import DECLARED
from resolab.plan.factors import EVERY_FACTOR, FACTORS, NAMED_ORDER, OPTIONAL_FACTORS, applies
from resolab.report.plots.style import HANDSHAKE_MARKERS

PROJECT = Path(__file__).resolve().parents[3]
ROW = re.compile(r"^\| `(?:factors\.)?(\w+)(?:\.TRANSPORT)?` \| (.*)$", re.MULTILINE)
PAGE = dict(ROW.findall((PROJECT / "docs/formats/plan.md").read_text("utf-8")))
FIELDS = {one.name: one for one in msgspec.structs.fields(TrialRecord)}


@pytest.mark.parametrize("factor", EVERY_FACTOR)
def test_every_trial_says_its_level(factor: str) -> None:
    assert factor in FIELDS, f"`TrialRecord` of crates/record has no field {factor}"
    default = MISSING if FIELDS[factor].default is msgspec.NODEFAULT else FIELDS[factor].default
    # Records of other kinds of trial lack the factors that every plan of page loads names.
    wanted = None if DECLARED[factor].default is MISSING and default is None else DECLARED[factor].default
    assert wanted == default, f"{factor}: the plan's default is not the record's"


@pytest.mark.parametrize("factor", EVERY_FACTOR)
def test_the_page_of_the_format_has_every_level(factor: str) -> None:
    assert factor in PAGE, f"docs/formats/plan.md has no row `factors.{factor}`"
    lacking = [word for word in DECLARED[factor].words or () if f"`{word}`" not in PAGE[factor]]
    assert not lacking, f"docs/formats/plan.md: the row of {factor} lacks {lacking}"


@pytest.mark.parametrize("factor", EVERY_FACTOR)
def test_the_glossary_has_the_word(factor: str) -> None:
    rows = (line for line in (PROJECT / "docs/glossary.md").read_text("utf-8").splitlines() if line.startswith("| `"))
    assert any(f"`{factor}`" in row.split(" | ")[0] for row in rows), f"docs/glossary.md has no row of `{factor}`"


@pytest.mark.parametrize("factor", [name for name, one in DECLARED.items() if one.about.labels])
def test_every_level_has_its_word_for_people(factor: str) -> None:
    words, labels = DECLARED[factor].words or (), DECLARED[factor].about.labels
    assert set(words) == set(labels), f"python/resolab/plan/condition.py: the labels of {factor} are not its levels"


@pytest.mark.parametrize(
    ("table", "factor"),
    [
        (OFFERS, "h3_discovery"),
        (POLICIES, "requested_handshake_mode"),
        (POLICIES, "requested_dns_handshake_mode"),
        (find_presets(), "browser_preset"),
        (HANDSHAKE_MARKERS, "requested_handshake_mode"),
        (PAGE_HANDSHAKES, "http_version"),
    ],
    ids=[
        "lab/offers.py: OFFERS",
        "lab/offers.py: POLICIES",
        "lab/offers.py: POLICIES of the resolver",
        "studies/*: browser_preset",
        "plots/style.py: HANDSHAKE_MARKERS",
        "protocols/closed_form.py: PAGE_HANDSHAKES",
    ],
)
def test_no_table_lacks_a_level(table: dict[str, object], factor: str, request: pytest.FixtureRequest) -> None:
    # Whatever is agreed on is known afterwards, not beforehand.
    lacking = [str(level) for level in DECLARED[factor].kind if level not in table and level is not HttpVersion.ANY]
    assert not lacking, f"{request.node.callspec.id} has no row for {lacking} of {factor}"


def test_every_kind_of_browser_has_driver_version_and_costs() -> None:
    for table in (MAKERS, VERSION_OF, COSTS):
        assert set(table) == set(BrowserKind)


def test_the_lists_follow_from_the_fields() -> None:
    assert FACTORS == ("page", "profile", "dns_transport", "http_version", "requested_handshake_mode")
    assert EVERY_FACTOR[:7] == (*FACTORS, "resolver_path", "browser")
    assert NAMED_ORDER[:3] == ("browser", "resolver_path", "h3_discovery")
    assert OPTIONAL_FACTORS["browser_preset"] is None
    assert DECLARED["browser_preset"].words == ("none", *BrowserPreset)
    assert DECLARED["resolver_extra_rtt_ms"].words is DECLARED["page"].words is None


@dataclass
class At:
    """What a row of a table has of a condition."""

    dns_transport: str
    resolver_path: str = "stub"
    http_version: str = "h3"
    dns_connection_state: str | None = "cold"


def test_a_level_says_something_where_another_could_be() -> None:
    stubbed, native = At("doh", "stub"), At("doh3", "native")
    assert [applies("doh_method", one) for one in (stubbed, native)] == [False, True]
    assert [applies("name_resolution", one) for one in (stubbed, native)] == [True, False]
    assert [applies("dns_connection_state", At(one)) for one in ("doudp", "dotcp", "doq")] == [False, True, True]
    asked = [At("doq"), At("dotcp"), At("doq", dns_connection_state="warm")]
    assert [applies("requested_dns_handshake_mode", one) for one in asked] == [True, False, False]
    assert [applies("h3_discovery", At("dot", http_version=one)) for one in ("h2", "h3")] == [False, True]
    assert applies("browser", stubbed)
