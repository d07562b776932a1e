"""Builds of browsers a plan names, and the loads a headless shell cannot have."""

from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserKind
from resolab.plan import Corpus, Plan, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT

BASE = Path("/builds")
BUILDS = """
[browser.nightly]
kind = "chromium"
path = "nightly/chromium"
[browser.shell-153]
kind = "chromium-headless-shell"
path = "/opt/shell-153"
[browser.shell-143]
kind = "chromium-headless-shell"
path = "/opt/shell-143"
"""


def plan_of(levels: str, *, builds: str = BUILDS, factors: str = "", transports: str = '["doudp"]') -> Plan:
    given = f"""
name = "builds"
question = "Does a build change page loads?"
seed = 1
blocks = 3
{builds}
[factors]
page = ["example"]
profile = ["4g"]
dns_transport = {transports}
http_version = ["h3"]
requested_handshake_mode = ["full"]
browser = {levels}
{factors}
[resolver_path]
doudp = "native"
doh = "native"
doq = "stub"
[baseline]
browser = {levels[1:-1].split(", ")[-1]}
"""
    if "requested_handshake_mode" in factors:
        given = given.replace('requested_handshake_mode = ["full"]\n', "", 1)
    return parse_plan(given, "p.toml", Corpus.from_project(), base=BASE)


def test_a_build_is_a_level_with_kind_and_path() -> None:
    plan = plan_of('["nightly", "chromium", "firefox"]')
    kinds = [(one.id, one.browser_kind, one.own_browser_kind, one.browser_build.path) for one in plan.conditions()]
    assert kinds == [
        ("example.4g.doudp.h3.full.nightly", BrowserKind.CHROMIUM, BrowserKind.CHROMIUM, BASE / "nightly/chromium"),
        ("example.4g.doudp.h3.full.chromium", BrowserKind.CHROMIUM, None, None),
        ("example.4g.doudp.h3.full.firefox", BrowserKind.FIREFOX, None, None),
    ]
    # A comparison's other arm has its own build.
    assert plan.find_baseline(plan.conditions()[0]).browser_kind is BrowserKind.FIREFOX


def test_rules_about_a_browser_follow_its_kind() -> None:
    with pytest.raises(ConfigurationError, match="Chromium's warm-up") as caught:
        plan_of(
            '["nightly", "firefox"]',
            factors='requested_handshake_mode = ["full", "resumed"]\nh3_discovery = ["alt_svc"]',
        )
    assert 'browser = ["nightly"]' in str(caught.value)


WRONG = [
    ('kind = "chromium"\npath = "a"', "chromium", "is a name of resolab's own"),
    ('kind = "chromium"\npath = "a"', "stub", "is a name of resolab's own"),
    ('kind = "chrome"\npath = "a"', "mine", "must be one of chromium, firefox, chromium-headless-shell"),
    ('kind = "chromium"', "mine", "path: is missing"),
    ('kind = "chromium"\npath = "a"\nflags = "b"', "mine", "unknown key"),
    ('kind = "chromium"\npath = "a"', '"a b"', "is no name"),
]


@pytest.mark.parametrize(("table", "name", "problem"), WRONG)
def test_a_wrong_table_is_one_line(table: str, name: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem) as caught:
        plan_of('["chromium"]', builds=f"[browser.{name}]\n{table}\n")
    assert "\n" not in str(caught.value)


def test_a_level_without_table_is_unknown() -> None:
    with pytest.raises(ConfigurationError, match=r"unknown level 'nightli'; allowed: chromium, firefox, nightly"):
        plan_of('["nightli"]')


SHELLS = '["shell-153", "shell-143"]'
GETADDRINFO = 'name_resolution = ["getaddrinfo"]'
REFUSED = [
    ("", '["doudp"]', "the headless shell has no resolver of its own"),
    (GETADDRINFO, '["doh"]', 'resolver_path.doh: .* the headless shell has no DoH of its own; use "stub"'),
    (f'{GETADDRINFO}\nrequested_handshake_mode = ["resumed"]', '["doudp"]', "tickets end with the warm-up"),
    (f'{GETADDRINFO}\nh3_discovery = ["alt_svc"]', '["doudp"]', "has forgotten Alt-Svc"),
    (f'{GETADDRINFO}\nbrowser_preset = ["s24"]', '["doudp"]', "no headless shell"),
]


@pytest.mark.parametrize(("factors", "transports", "reason"), REFUSED)
def test_a_headless_shell_is_refused_everything_but_cold_loads(factors: str, transports: str, reason: str) -> None:
    with pytest.raises(ConfigurationError, match=reason) as caught:
        plan_of(SHELLS, factors=factors, transports=transports)
    assert "\n" not in str(caught.value)


def test_two_headless_shells_are_compared_natively_and_behind_the_stub() -> None:
    plan = plan_of(SHELLS, factors=GETADDRINFO, transports='["doudp", "doq"]')
    assert len(plan.comparisons()) == 2


def test_a_headless_shell_is_not_compared_with_a_full_browser() -> None:
    with pytest.raises(ConfigurationError, match="a headless shell with a full browser"):
        plan_of('["shell-153", "chromium"]', factors=GETADDRINFO)


@pytest.mark.parametrize("name", ["browser-builds", "same-build-twice"])
def test_the_plans_with_builds_are_valid(name: str) -> None:
    plan = load_plan(PROJECT_ROOT / "plans" / f"{name}.toml")
    assert all(one.own_browser_kind is not None for one in plan.conditions())


def test_a_live_plan_names_no_program() -> None:
    text = (PROJECT_ROOT / "plans/live-demo.toml").read_text("utf-8") + BUILDS
    with pytest.raises(ConfigurationError, match="browser: is for plans of the lab"):
        parse_plan(text, "p.toml", None, base=PROJECT_ROOT / "plans")
