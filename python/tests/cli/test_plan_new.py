"""`resolab plan new`: whatever levels are asked for, the file is a plan that can run, or one line says why not."""

from pathlib import Path

import pytest

from resolab.basics.records import TrialKind
from resolab.cli.main import main
from resolab.plan import Plan, load_plan
from resolab.plan.condition import DECLARED
from resolab.plan.factors import FREE_NAMES, NUMBERS, OPTIONAL_FACTORS, list_allowed_words


def new(folder: Path, *words: str) -> Plan:
    file = folder / "my-plan.toml"
    assert main(["plan", "new", str(file), *words]) == 0
    return load_plan(file)


def test_without_levels_it_is_the_smallest_plan_with_a_question(tmp_path: Path) -> None:
    plan = new(tmp_path)
    assert (plan.name, plan.blocks, plan.seed) == ("my-plan", 8, 1)
    assert plan.question == "What does DoH change in page load time against DoUDP?"
    assert [one.id for one in plan.conditions()] == ["example.4g.doudp.h3.full", "example.4g.doh.h3.full"]


@pytest.mark.parametrize("question", ["Which is faster? 😀", 'A "quote", a \\ and a \x7f', "lines\n[factors]\n\t#"])
def test_any_question_comes_back(question: str, tmp_path: Path) -> None:
    assert new(tmp_path, "--question", question).question == question


@pytest.mark.parametrize(
    "factor",
    [
        one
        for one in OPTIONAL_FACTORS
        if one not in {*NUMBERS, *FREE_NAMES} and DECLARED[one].belongs_to(TrialKind.PAGE_LOAD)
    ],
)
def test_every_level_of_a_factor_beside_every_transport_is_a_plan(factor: str, tmp_path: Path) -> None:
    if factor == "browser_preset":
        pytest.skip("a preset's look-ups differ in two factors at a time: its author says what they are compared with")
    words = ["--dns-transport", ",".join(list_allowed_words("dns_transport"))]
    words += ["--http-version", "h2,h3", "--requested-handshake-mode", "full,zero_rtt"]
    words += [f"--{factor.replace('_', '-')}", ",".join(list_allowed_words(factor))]
    if factor == "connection_sharing":
        words += ["--page", "bing-2024-07"]  # It has two names of one site, of which a certificate can be shared.
    plan = new(tmp_path, *words)
    conditions = set(plan.conditions())
    assert conditions
    assert all(plan.find_baseline(one) in conditions for one in conditions)


def test_an_exchange_and_a_fetch_need_no_level_of_a_page_load(tmp_path: Path) -> None:
    exchange = new(tmp_path, "--kind", "exchange", "--requested-dns-handshake-mode", "full,zero_rtt")
    assert exchange.question == "What does DoH change in DNS response time against DoUDP?"
    assert [one.id for one in exchange.conditions()] == ["4g.doudp.full", "4g.doh.full", "4g.doh.zero_rtt"]
    (tmp_path / "my-plan.toml").unlink()
    fetch = new(tmp_path, "--kind", "fetch", "--connection-sharing", "separate,resolver_connection")
    assert fetch.question == "What does DoQ change in time to the document's first byte against DoH3?"
    assert len(fetch.conditions()) == 4
    (tmp_path / "my-plan.toml").unlink()
    with pytest.raises(AssertionError):
        new(tmp_path, "--kind", "exchange", "--browser", "firefox")


def test_levels_that_some_transports_lack_are_excluded_with_the_reason(tmp_path: Path) -> None:
    plan = new(
        tmp_path, "--dns-transport", "doudp,doq", "--dns-connection-state", "cold,warm", "--browser", "chromium,firefox"
    )
    text = (tmp_path / "my-plan.toml").read_text()
    assert "# There is no connection over DoUDP.\n[[exclude]]" in text
    assert 'dns_connection_state = "cold"' in text.partition("[baseline]")[2]
    # Each browser has its own baseline still.
    assert {plan.find_baseline(one).browser for one in plan.conditions() if one.browser == "firefox"} == {"firefox"}


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        (("--dns-transport", "doudp", "--resolver-miss-ratio", "0,0.3,0.5"), {"resolver_miss_ratio"}),
        (("--dns-transport", "doudp", "--http-version", "h3,h2"), {"http_version"}),
        (("--dns-transport", "doudp,doq", "--resolver-miss-ratio", "0,0.5"), {"dns_transport"}),
        (("--dns-transport", "doudp", "--browser", "chromium,firefox"), set()),
    ],
)
def test_what_is_asked_for_is_compared(words: tuple[str, ...], changed: set[str], tmp_path: Path) -> None:
    pairs = new(tmp_path, *words).comparisons()
    factors = ("dns_transport", "http_version", "resolver_miss_ratio", "browser")
    differing = {
        factor
        for pair in pairs
        for factor in factors
        if getattr(pair.treatment, factor) != getattr(pair.baseline, factor)
    }
    assert differing == changed


def test_an_own_page_lies_beside_the_plan(tmp_path: Path) -> None:
    assert main(["page", "new", str(tmp_path / "shop"), "--requests", "1"]) == 0
    assert new(tmp_path, "--page", "./shop,wikipedia").factors.page == ("shop", "wikipedia")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--profile", "5g"), "x.toml: factors.profile: unknown level '5g'"),
        (("--dns-transport", "doqq"), "unknown level 'doqq'"),
        (("--dns-transport", "dot", "--resolver-path", "native"), 'use "stub"'),
        (("--blocks", "0"), "blocks"),
    ],
)
def test_what_cannot_be_is_one_line_and_no_file(
    words: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "new", str(tmp_path / "x.toml"), *words]) == 3
    assert says in capsys.readouterr().err
    assert not (tmp_path / "x.toml").exists()


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.toml").write_text("mine")
    assert main(["plan", "new", str(tmp_path / "x.toml")]) == 3
    assert "is there" in capsys.readouterr().err
    assert (tmp_path / "x.toml").read_text() == "mine"


def test_questions_with_any_letters_are_kept(tmp_path: Path) -> None:
    question = 'Is "quick" \\ ähnlich?'
    assert new(tmp_path, "--question", question).question == question
    # As people write it, not in JSON's escapes.
    assert r'"Is \"quick\" \\ ähnlich?"' in (tmp_path / "my-plan.toml").read_text("utf-8")


def test_builds_of_a_resolver_are_compared_over_each_transport_until_a_verdict(tmp_path: Path) -> None:
    plan = new(
        tmp_path, "--kind", "exchange", "--profile", "fiber,4g", "--dns-transport", "doudp,dot",
        "--software", "release=unbound", "--software", "mine=unbound:./build/unbound", "--not-slower-than", "2",
    )  # fmt: skip
    assert {name: one.template for name, one in plan.software.items()} == {"release": "unbound", "mine": "unbound"}
    assert plan.software["mine"].command[0] == str(tmp_path / "build" / "unbound")
    (times, tail, failures) = plan.expectations
    assert (times.margin_ms, tail.share_percent, failures.failures_count) == (2.0, 5.0, 0)
    compared = {
        (
            pair.treatment.dns_transport,
            pair.treatment.profile,
            pair.treatment.resolver_software,
            pair.baseline.resolver_software,
        )
        for pair in times.list_comparisons(plan.conditions(), plan.find_with_levels)
    }
    assert compared == {(way, link, "mine", "release") for way in ("doudp", "dot") for link in ("fiber", "4g")}
    assert plan.stop is not None
    assert plan.blocks == 150


def test_a_margin_without_software_is_about_transports(tmp_path: Path) -> None:
    plan = new(tmp_path, "--equivalent-within", "10", "--blocks", "40")
    assert plan.blocks == 40
    assert [str(one.kind) for one in plan.expectations] == [
        "equivalent_within",
        "slow_share_at_most",
        "failures_at_most",
    ]
    assert plan.expectations[0].outcome == "response_start"


def test_one_build_is_compared_with_the_lab_and_wrong_words_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = new(tmp_path, "--dns-transport", "doh", "--software", "mine=bind")
    assert plan.find_baseline(plan.conditions()[-1]).resolver_software == "edge"
    other = str(tmp_path / "other.toml")
    assert main(["plan", "new", other, "--software", "a=bind", "--software", "a=unbound"]) == 2
    assert main(["plan", "new", other, "--software", "a=nonsense"]) == 3
    assert "unknown level 'nonsense'; allowed: unbound" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main(["plan", "new", other, "--software", "a"])
    assert not (tmp_path / "other.toml").exists()
