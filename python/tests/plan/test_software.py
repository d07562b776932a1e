"""Tables of a plan's own software: reading, and the refusals in one line with the remedy."""

from dataclasses import replace
from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, HandshakeMode, ResolverPath, TrialKind
from resolab.basics.servers.template import PLACEHOLDER, fill_template
from resolab.lab.software.rack import list_words
from resolab.plan import Corpus, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.plan.software import CacheBefore
from resolab.plan.software.known import TEMPLATES, read_configuration
from resolab.plan.software.rules import find_impossible
from resolab.plan.software.table import PLACEHOLDERS

EXCHANGE = """
name = "own"
question = "?"
kind = "exchange"
seed = 1
blocks = 1
[factors]
profile = ["fiber"]
dns_transport = ["dot"]
resolver_software = ["edge", "mine"]
[baseline]
resolver_software = "edge"
"""
LOAD = """
name = "own"
question = "?"
seed = 1
blocks = 1
[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doh"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
resolver_software = ["edge", "mine"]
[resolver_path]
doh = "stub"
[baseline]
resolver_software = "edge"
"""
UNBOUND = '[software.mine]\ntemplate = "unbound"\n'


def read(text: str, base: Path = PROJECT_ROOT):
    return parse_plan(text, "own.toml", Corpus.from_project(), base=base)


def test_a_template_brings_command_configuration_and_transports() -> None:
    mine = read(EXCHANGE + UNBOUND).software["mine"]
    assert mine.command == ("unbound", "-d", "-p", "-c", "@CONFIGURATION@")
    assert "forward-addr: @BEHIND@@53" in mine.configuration
    assert DnsTransport.DOH in mine.transports
    assert mine.cache is CacheBefore.WARM


def test_another_build_and_another_configuration_stand_in_for_the_templates(tmp_path: Path) -> None:
    (tmp_path / "own.conf").write_text("interface: @ADDRESS@\n", "utf-8")
    table = UNBOUND + 'program = "./build/unbound"\nconfiguration = "own.conf"\ntransports = ["dot", "doq"]\n'
    mine = read(EXCHANGE + table, tmp_path).software["mine"]
    assert mine.command[0] == str(tmp_path / "build" / "unbound")
    assert mine.configuration == "interface: @ADDRESS@\n"
    assert mine.transports == (DnsTransport.DOT, DnsTransport.DOQ)


def test_a_plan_without_the_factor_has_the_identifiers_it_had() -> None:
    text = EXCHANGE.replace('resolver_software = ["edge", "mine"]\n', "").replace(
        'resolver_software = "edge"', 'dns_transport = "dot"'
    )
    assert [one.id for one in read(text).conditions()] == ["fiber.dot"]
    assert [one.id for one in read(EXCHANGE + UNBOUND).conditions()] == ["fiber.dot.edge", "fiber.dot.mine"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (EXCHANGE, "software.mine: is a level of a factor and declared nowhere; write [software.mine]"),
        (EXCHANGE + '[software.mine]\ntransports = ["dot"]\n', "needs a template or a command; templates: unbound"),
        (EXCHANGE + '[software.mine]\ncommand = ["a"]\n', "software.mine.transports: is missing"),
        (EXCHANGE + UNBOUND + '[software.edge]\ntemplate = "bind"\n', "software.edge: is the name of the lab's own"),
        (EXCHANGE + UNBOUND + 'command = ["a"]\n', "stands beside a template; give `program`"),
        (EXCHANGE + UNBOUND + 'tempalte = "a"\n', "tempalte: unknown key"),
        (EXCHANGE + UNBOUND.replace("unbound", "unbond"), "did you mean 'unbound'?"),
        (EXCHANGE + UNBOUND + 'configuration = "no-such.conf"\n', "failed to read"),
        (
            EXCHANGE + '[software.mine]\ncommand = ["a"]\nconfiguration = "a.conf"\ntransports = ["dot"]\n',
            "software.mine.configuration: is read by nobody: name @CONFIGURATION@ in the command",
        ),
        (
            EXCHANGE + '[software.mine]\ncommand = ["a", "@ADRESS@"]\ntransports = ["dot"]\n',
            "software.mine.command: @ADRESS@ is no placeholder; allowed: @ADDRESS@",
        ),
        (
            EXCHANGE.replace('["dot"]', '["dot", "doq"]') + UNBOUND,
            'mine speaks doudp, dotcp, dot, doh only; add [[exclude]] with resolver_software = ["mine"], dns_transport = ["doq"]',
        ),
        (LOAD.replace('doh = "stub"', 'doh = "native"') + UNBOUND, 'the handshake of the browser\'s own connection; use "stub"'),
        (LOAD + UNBOUND + 'cache = "cold"\n', 'the warm-up fills the cache of mine; give it cache = "warm"'),
        (
            EXCHANGE.replace("resolver_software = [", 'resolver_cache = ["miss"]\nresolver_software = [') + UNBOUND,
            'mine has warm caches; give it cache = "cold"',
        ),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_remedy(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_refused_that_somebody_judges() -> None:
    plan = read(LOAD + UNBOUND)
    own = next(one for one in plan.conditions() if one.resolver_software == "mine")
    for change in (
        {"requested_dns_handshake_mode": HandshakeMode.ZERO_RTT},
        {"resolver_path": ResolverPath.NATIVE, "dns_transport": DnsTransport.DOUDP},
        {"kind": TrialKind.FETCH},
    ):
        assert find_impossible(plan.software, replace(own, **change)) is None


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_has_only_words_that_the_lab_fills_in(name: str) -> None:
    texts = (read_configuration(name), *TEMPLATES[name].command)
    words = {word for text in texts for word in PLACEHOLDER.findall(text)}
    assert words <= set(PLACEHOLDERS)
    assert {"ADDRESS", "BEHIND", "CONFIGURATION", "KEY"} <= words
    filled = [fill_template(text, dict.fromkeys(PLACEHOLDERS, "x")) for text in texts]
    assert [text for text in filled if PLACEHOLDER.search(text)] == []


def test_the_words_of_plans_are_those_that_the_lab_fills_in() -> None:
    assert set(list_words(Path("/folder"), "10.77.255.1")) == set(PLACEHOLDERS)


def test_the_plans_of_the_project_read() -> None:
    resolvers = load_plan(PROJECT_ROOT / "plans" / "resolvers.toml")
    assert set(resolvers.software) == set(TEMPLATES)
