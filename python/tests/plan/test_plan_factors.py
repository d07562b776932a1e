import dataclasses
import re
from typing import Any

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.installation import project_root
from resolab.basics.records import BrowserKind, ConnectionState, DohMethod, HandshakeMode, HttpVersion, ResolverPath
from resolab.plan import Plan, load_plan, parse_plan
from resolab.plan.corpus import Corpus
from resolab.plan.factors import (
    FREE_NAMES,
    NAMED_ORDER,
    NUMBERS,
    OPTIONAL_FACTORS,
    list_allowed_words,
    list_differing_factors,
)
from resolab.plan.support import impossible

HEAD = """
name = "n"
question = "q?"
seed = 1
blocks = 2
"""
FACTORS = """
[factors]
page = ["example"]
profile = ["4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
"""
PATHS = """
[resolver_path]
doudp = "native"
doh = "native"
"""
BASELINE = """
[baseline]
dns_transport = "doudp"
"""


@pytest.fixture
def corpus() -> Corpus:
    return Corpus.from_project()


def text(factors: str = "", *, paths: str = PATHS, baseline: str = "", exclude: str = "") -> str:
    return "\n".join((HEAD + FACTORS, factors, paths, BASELINE + baseline, exclude))


def plan_of(factors: str = "", *, paths: str = PATHS, baseline: str = "", exclude: str = "") -> Plan:
    return parse_plan(text(factors, paths=paths, baseline=baseline, exclude=exclude), "p.toml", Corpus.from_project())


def problem_of(written: str, corpus: Corpus) -> str:
    try:
        parse_plan(written, "p.toml", corpus)
    except ConfigurationError as error:
        return str(error)
    return ""


def exclusion_of(problem: str) -> str:
    """The tables a message advises, as text of a plan."""
    advised = [part.partition("add [[exclude]] with ")[2] for part in problem.split("; also ")]
    tables = ["\n[[exclude]]\n" + re.sub(r"\], ", "]\n", keys) + "\n" for keys in advised if keys]
    assert tables, problem
    return "".join(tables)


def ids(plan: Plan) -> list[str]:
    return [one.id for one in plan.conditions()]


def test_a_plan_without_optional_factors_has_the_defaults_and_short_identifiers() -> None:
    plan = plan_of()
    assert ids(plan) == ["example.4g.doudp.h3.full", "example.4g.doh.h3.full"]
    condition = plan.conditions()[0]
    assert {factor: getattr(condition, factor) for factor in OPTIONAL_FACTORS} == dict(OPTIONAL_FACTORS)


def test_named_factors_follow_in_the_identifier_even_with_one_level() -> None:
    plan = plan_of('browser = ["firefox"]\ndns_connection_state = ["cold"]')
    assert ids(plan)[0] == "example.4g.doudp.h3.full.firefox.cold"
    assert plan.conditions()[0].browser_kind is BrowserKind.FIREFOX
    assert plan.list_varying_factors() == ()


def test_every_optional_factor_varies_when_named() -> None:
    plan = plan_of(
        'browser = ["chromium", "firefox"]\nrequested_dns_handshake_mode = ["full", "resumed"]\n',
        exclude='[[exclude]]\ndns_transport = ["doudp"]\nrequested_dns_handshake_mode = ["resumed"]',
        baseline='requested_dns_handshake_mode = "full"',
    )
    assert plan.list_varying_factors() == ("browser", "requested_dns_handshake_mode")
    assert len(ids(plan)) == 2 * (1 + 2)
    assert "example.4g.doh.h3.full.firefox.resumed" in ids(plan)
    assert "example.4g.doudp.h3.full.firefox.resumed" not in ids(plan)


def test_a_list_of_paths_is_a_factor_and_one_path_is_none() -> None:
    plan = plan_of(paths='[resolver_path]\ndoudp = ["native", "stub"]\ndoh = "stub"\n')
    assert ids(plan) == [
        "example.4g.doudp.h3.full.native",
        "example.4g.doudp.h3.full.stub",
        "example.4g.doh.h3.full.stub",
    ]
    by_id = {one.id: one for one in plan.conditions()}
    # The condition's own path where the baseline's transport has it, else the first of its list.
    assert plan.find_baseline(by_id["example.4g.doh.h3.full.stub"]).id == "example.4g.doudp.h3.full.stub"
    other = plan_of(paths='[resolver_path]\ndoudp = "native"\ndoh = ["native", "stub"]\n')
    stubbed = next(one for one in other.conditions() if one.resolver_path is ResolverPath.STUB)
    assert other.find_baseline(stubbed).id == "example.4g.doudp.h3.full.native"


def test_a_baseline_may_name_any_factor() -> None:
    plan = plan_of(
        'doh_method = ["default", "get", "post"]\nbrowser = ["chromium", "firefox"]',
        exclude='[[exclude]]\ndns_transport = ["doudp"]\ndoh_method = ["get", "post"]',
        baseline='doh_method = "default"\nbrowser = "firefox"',
    )
    posted = next(one for one in plan.conditions() if one.doh_method is DohMethod.POST)
    assert plan.find_baseline(posted).id == "example.4g.doudp.h3.full.firefox.default"
    assert all(plan.find_baseline(plan.find_baseline(one)) == plan.find_baseline(one) for one in plan.conditions())


def test_exclusions_match_all_their_keys_and_may_name_levels_that_are_not_there() -> None:
    both = 'dns_connection_state = ["cold", "warm"]'
    one = '[[exclude]]\ndns_transport = ["doudp", "doq"]\ndns_connection_state = ["warm"]\n'
    other = '[[exclude]]\npage = ["wikipedia"]\n'
    plan = plan_of(both, exclude=one + other, baseline='dns_connection_state = "cold"')
    assert [(c.dns_transport, c.dns_connection_state) for c in plan.conditions()] == [
        ("doudp", ConnectionState.COLD),
        ("doh", ConnectionState.COLD),
        ("doh", ConnectionState.WARM),
    ]


WRONG = [
    ('browser = ["safari"]', {}, "factors.browser: unknown level 'safari'; allowed: chromium, firefox"),
    ("browser = []", {}, "factors.browser: has no level"),
    ('doh_method = ["put"]', {}, "factors.doh_method: unknown level 'put'; allowed: default, get, post"),
    ('resolver_path = ["stub"]', {}, "factors.resolver_path: unknown key"),
    ("", {"paths": '[resolver_path]\ndoudp = []\ndoh = "stub"'}, "resolver_path.doudp: has no level"),
    ("", {"exclude": "[[exclude]]\n"}, r"exclude\[0\]: names no factor"),
    ("", {"exclude": "exclude = 3\n"}, "baseline.exclude: unknown key"),
    ("", {"exclude": '[[exclude]]\npgae = ["example"]'}, r"exclude\[0\].pgae: unknown key; allowed: page"),
    ("", {"exclude": '[[exclude]]\nbrowser = "firefox"'}, r"exclude\[0\].browser: must be a list"),
    ("", {"exclude": '[[exclude]]\npage = ["gone"]'}, r"exclude\[0\].page: unknown level 'gone'"),
    ("", {"exclude": '[[exclude]]\npage = ["example"]'}, "exclude: leaves no condition"),
    ("", {"baseline": 'browser = "firefox"'}, "baseline.browser: unknown level 'firefox'; allowed: chromium"),
    ("", {"baseline": 'resolver_path = "stub"'}, "baseline.resolver_path: unknown level 'stub'"),
    (
        'name_resolution = ["built_in", "getaddrinfo"]',
        {"exclude": '[[exclude]]\nname_resolution = ["getaddrinfo"]\ndns_transport = ["doh", "doudp"]\n[[exclude]]\ndns_transport = ["doudp"]'},
        "baseline: .*doh.* would be compared with example.4g.doudp.h3.full.built_in, which is no condition.*name_resolution",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("factors", "rest", "message"), WRONG)
def test_every_mistake_is_one_line(factors: str, rest: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        plan_of(factors, **rest)
    assert str(caught.value).startswith("p.toml: ")
    assert "\n" not in str(caught.value)


IMPOSSIBLE = [
    ('dns_connection_state = ["cold", "warm"]', "", "there is no connection over DoUDP"),
    ('requested_dns_handshake_mode = ["full", "zero_rtt"]', "", "no TLS or QUIC handshake"),
    ('doh_method = ["default", "post"]', "", "it is no DoH"),
    ('name_resolution = ["built_in", "getaddrinfo"]', "", "Do53 only"),
    ('h3_discovery = ["forced", "alt_svc"]', 'http_version = ["h2", "h3"]', "discovers no HTTP/3"),
    ("", 'http_version = ["h2", "h3"]\nrequested_handshake_mode = ["full", "zero_rtt"]', "early data over TCP"),
    ("", 'http_version = ["h1", "h3"]', "browser's DoH needs HTTP/2"),
    ('browser = ["firefox", "chromium"]', 'http_version = ["h1", "h3"]', "browser's DoH needs HTTP/2"),
]


@pytest.mark.parametrize(("factors", "other_levels", "reason"), IMPOSSIBLE)
def test_an_impossible_combination_names_the_exclusion_that_helps(
    corpus: Corpus, factors: str, other_levels: str, reason: str
) -> None:
    written = text(factors)
    for line in other_levels.splitlines():
        written = re.sub(rf"^{line.split(' ')[0]} = .*$", line, written, count=1, flags=re.MULTILINE)
    problem = problem_of(written, corpus)
    assert re.search(reason, problem)
    assert "\n" not in problem
    # What remains, if anything, is another matter: the baseline, or a further impossible combination.
    assert reason not in problem_of(written + exclusion_of(problem), corpus)


@pytest.mark.parametrize(
    ("changes", "browsers"),
    [
        ({"http_version": HttpVersion.H2, "requested_handshake_mode": HandshakeMode.ZERO_RTT}, {"firefox"}),
        ({"requested_dns_handshake_mode": HandshakeMode.ZERO_RTT}, {"firefox"}),
        ({"requested_dns_handshake_mode": HandshakeMode.ZERO_RTT, "doh_method": DohMethod.POST}, set()),
        (
            {"requested_dns_handshake_mode": HandshakeMode.RESUMED, "doh_method": DohMethod.POST},
            {"chromium", "firefox"},
        ),
    ],
)
def test_early_data_over_tcp_is_firefoxs_alone(changes: dict[str, Any], browsers: set[str]) -> None:
    over_doh = [one for one in plan_of('browser = ["chromium", "firefox"]').conditions() if one.dns_transport == "doh"]
    wanted = [dataclasses.replace(one, **changes) for one in over_doh]
    assert {one.browser for one in wanted if impossible(one) is None} == browsers


def test_following_every_hint_ends_with_a_plan_of_possible_conditions(corpus: Corpus) -> None:
    # The first and the last level of each: all of them would be twenty times as many conditions.
    levels = "\n".join(
        f"{factor} = {[list_allowed_words(factor)[0], list_allowed_words(factor)[-1]]}"
        for factor in OPTIONAL_FACTORS
        if factor not in {*NUMBERS, *FREE_NAMES, "question_packing"}
    )
    written = HEAD + re.sub(
        r'dns_transport = .*\n.*\n.*\n',
        'dns_transport = ["doudp", "dotcp", "doh"]\nhttp_version = ["h1", "h3"]\n'
        'requested_handshake_mode = ["full", "zero_rtt"]\n',
        FACTORS,
    ) + levels  # fmt: skip
    written += '\n[resolver_path]\ndoudp = ["native", "stub"]\ndotcp = "stub"\ndot = "stub"\ndoh = ["native", "stub"]\n'
    written += 'doh3 = ["native", "stub"]\ndoq = "stub"\n[baseline]\ndns_transport = "doudp"\nhttp_version = "h3"\n'
    written += "".join(
        f'{factor} = "{list_allowed_words(factor)[0]}"\n'
        for factor in NAMED_ORDER
        if factor not in {"browser", "resolver_path", "question_packing", *NUMBERS, *FREE_NAMES}
    )  # fmt: skip
    for _ in range(30):
        problem = problem_of(written, corpus)
        if not problem:
            break
        written += exclusion_of(problem)
    plan = parse_plan(written, "p.toml", corpus)
    assert all(impossible(one) is None for one in plan.conditions())
    # Nothing possible was lost on the way.
    assert len(plan.conditions()) == sum(impossible(one) is None for one in plan.combinations())
    assert len(set(ids(plan))) == len(ids(plan))
    assert HandshakeMode.ZERO_RTT in {one.requested_dns_handshake_mode for one in plan.conditions()}


def test_an_old_dataset_with_what_is_called_impossible_now_is_still_read() -> None:
    old = text().replace('doh = "native"', 'doh = "native"\ndoq = "native"').replace('"doh"]', '"doq"]')
    assert parse_plan(old, "p.toml", None).conditions()


def test_differing_factors_are_all_that_tells_conditions_apart() -> None:
    plan = load_plan(project_root() / "plans" / "s24.toml")
    conditions = plan.conditions()
    differing = list_differing_factors(conditions)
    assert {"page", "profile", "dns_transport"} <= set(differing)
    levels = {tuple(getattr(one, factor) for factor in differing) for one in conditions}
    assert len(levels) == len({dataclasses.replace(one, replicate=1).id for one in conditions})
    assert list_differing_factors(conditions[:1]) == ()
