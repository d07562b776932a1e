"""Live plans: the ordinary plan that follows from them, and what is wrong with those that are none."""

from pathlib import Path

import pytest
from test_plan_load import TEXT as LAB_TEXT

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, HttpVersion, ResolverPath
from resolab.plan import Plan, block_order, parse_plan, pool_pages
from resolab.plan.corpus import Corpus

TEXT = """
name = "live"
question = "q?"
seed = 7
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://study.resolab.test/"
[sites]
urls = ["https://a.test", "https://www.b.test/x?y=1"]
[resolvers.local]
doudp = "system"
[resolvers.quick]
doudp = "198.18.8.1"
dot = "tls://198.18.8.1:8853"
doh = "https://dns.quick.test/q{?dns}"
doq = "quic://dns.quick.test"
[factors]
resolver = ["local", "quick"]
dns_transport = ["doudp", "dot", "doh"]
browser = ["firefox"]
[baseline]
resolver = "local"
dns_transport = "doudp"
"""
LIST = "\n".join(f"{rank},site{rank}.test" for rank in range(1, 101))
DRAWN = '[sites]\nlist = "list.csv"\nlist_id = "XYZ"\nranks = ["1-50", "91"]\nsample = 12\n'


def read(text: str = TEXT, base: Path | None = None) -> Plan:
    return parse_plan(text, "live.toml", Corpus.from_project(), base=base)


def drawn(base: Path, sample: str = DRAWN) -> str:
    (base / "list.csv").write_text(LIST)
    begin, end = TEXT.index("[sites]"), TEXT.index("[resolvers.local]")
    return TEXT[:begin] + sample + TEXT[end:]


def test_a_live_plan_is_an_ordinary_one_over_pages() -> None:
    plan = read()
    assert plan.samples_pages
    assert (plan.blocks, plan.factors.page, plan.factors.profile) == (2, ("a_test", "www_b_test_x_y_1"), ("live",))
    assert plan.factors.levels["http_version"] == (HttpVersion.ANY,)
    ids = {one.id for one in pool_pages(plan).conditions()}
    rest = "firefox"
    assert ids == {
        f"all-pages.live.doudp.any.full.{rest}.local",
        *(f"all-pages.live.{transport}.any.full.{rest}.quick" for transport in ("doudp", "dot", "doh")),
    }
    assert {one.baseline.id for one in pool_pages(plan).comparisons()} == {
        f"all-pages.live.doudp.any.full.{rest}.local"
    }
    assert len(pool_pages(plan).comparisons()) == 3


def test_what_follows_is_as_the_papers_method() -> None:
    plan = read()
    assert plan.resolver_path[DnsTransport.DOUDP] == plan.resolver_path[DnsTransport.DOH] == (ResolverPath.NATIVE,)
    assert plan.resolver_path[DnsTransport.DOT] == (ResolverPath.STUB,)
    assert {one.page for one in block_order(plan, 1, 0)} in ({"a_test"}, {"www_b_test_x_y_1"})
    assert len(block_order(plan, 1, 0)) == 4


def test_resolvers_and_sites_are_read_whole() -> None:
    live = read().live
    assert live is not None
    assert (live.vantage_point, live.opt_out, dict(live.caps)) == ("here", None, {})
    assert [site.url for site in live.sites.values()] == ["https://a.test/", "https://www.b.test/x?y=1"]
    quick = live.resolvers["quick"].endpoints
    assert quick[DnsTransport.DOUDP].url == "udp://198.18.8.1:53"
    assert (quick[DnsTransport.DOT].host, quick[DnsTransport.DOT].port) == ("198.18.8.1", 8853)
    assert (quick[DnsTransport.DOH].host, quick[DnsTransport.DOH].path) == ("dns.quick.test", "/q")
    assert quick[DnsTransport.DOQ].port == 853
    assert live.resolvers["local"].is_system
    assert not live.resolvers["quick"].is_system


def test_the_gateway_is_the_labs_alone() -> None:
    with pytest.raises(ConfigurationError, match=r"resolver_path\.doh: the gateway is for pages of the lab"):
        read(TEXT + '[resolver_path]\ndoh = ["native", "gateway"]\n')


def test_doh_by_stub_is_the_plans_to_choose() -> None:
    plan = read(TEXT + '[resolver_path]\ndoh = ["native", "stub"]\n')
    paths = {one.resolver_path for one in plan.conditions() if one.dns_transport is DnsTransport.DOH}
    assert paths == {ResolverPath.NATIVE, ResolverPath.STUB}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "live"', 'kind = "real"', r"network.kind: must be one of live"),
        ('operator_url = "https://study.resolab.test/"\n', "", "network.operator_url: is missing"),
        ("https://study.resolab.test/", "https://example.com/", "network.operator_url: .*leads to nobody"),
        ('vantage_point = "here"', 'vantage_point = "lab"', "network.vantage_point: must be a name"),
        ("[sites]", "[network.caps]\nloads_per_hour = 999999\n[sites]", "network.caps: .*cannot raise"),
        ("[sites]", "[network.caps]\nloads = 9\n[sites]", "network.caps: .*no cap"),
        ('urls = ["https://a.test"', 'urls = ["ftp://a.test"', "sites.urls: 'ftp://a.test' is no site"),
        ('"https://a.test"', '"https://a.test/", "https://A.test:443/"', "are one page; leave one of them out"),
        ('"https://a.test"', r'"https://a.test\\.b.test/"', "is no site"),
        ('"https://a.test"', '"https://www.b.test/x/y/1"', "both be called 'www_b_test_x_y_1'"),
        ("urls =", 'list = "l.csv"\nurls =', "sites: takes one of urls and list"),
        ('doudp = "198.18.8.1"', 'doudp = "dns.quick.test"', "resolvers.quick.doudp: .*is no resolver over it"),
        ('dot = "tls', 'dot = "https', "resolvers.quick.dot: .*give tls://HOST"),
        ('doq = "quic://dns.quick.test"', 'dohq = "quic://x"', "resolvers.quick.dohq: unknown key"),
        ("[resolvers.quick]", "[resolvers.quack]", r"factors.resolver: 'quick' is declared nowhere"),
        ('resolver = ["local", "quick"]\n', "", "factors.resolver: is missing"),
        ('"doudp", "dot", "doh"]', '"doudp", "dotcp"]', "factors.dns_transport: no resolver has an address for 'dotcp'"),
        ('browser = ["firefox"]', 'http_version = ["h2"]', "factors.http_version: is no factor of a live plan"),
        ("[baseline]", "[instrument]\npcap = true\n[baseline]", "instrument.pcap: is about the lab's own parts"),
        ("[baseline]", "[instrument]\nnetlog = true\n[baseline]", "instrument.netlog: is about the lab's own parts"),
        ("[baseline]", "[analysis]\nequivalence_margin_rtts = 1\n[baseline]", "analysis.equivalence_margin_rtts: is about"),
        ("[baseline]", "[resolver]\nmiss_delay_ms = 1\n[baseline]", "resolver: is a lab's"),
        ("[baseline]", '[design]\nunit = "block"\n[baseline]', "design.unit: a live plan samples pages"),
        ("[baseline]", '[exclude]\nresolver = ["quick"]\n[baseline]', r"exclude: must be tables"),
        ("https://dns.quick.test/q{?dns}", "https://dns.quick.test:444/q", "resolver_path.doh: .*port 443 only"),
        ('dns_transport = "doudp"\n', 'dns_transport = "dot"\n', "baseline: .*is no condition of this plan"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(old: str, new: str, message: str) -> None:
    text = (
        TEXT[::-1].replace(old[::-1], new[::-1], 1)[::-1]
        if old.startswith("dns_transport")
        else TEXT.replace(old, new, 1)
    )
    with pytest.raises(ConfigurationError, match=f"live.toml: .*{message}"):
        read(text)


@pytest.mark.parametrize(
    ("factor", "message"),
    [('resolver = ["quick"]', "factors.resolver"), ('http_version = ["any"]', "factors.http_version")],
)
def test_a_plan_of_the_lab_has_none_of_it(factor: str, message: str) -> None:
    text = LAB_TEXT.replace('http_version = ["h3"]\n', "") if factor.startswith("http") else LAB_TEXT
    with pytest.raises(ConfigurationError, match=f"{message}: .*real network"):
        parse_plan(text.replace("[factors]\n", f"[factors]\n{factor}\n"), "lab.toml", None)


def test_sites_are_drawn_by_the_plans_seed(tmp_path: Path) -> None:
    plan = read(drawn(tmp_path), tmp_path)
    assert plan.live is not None
    assert plan.live.site_list is not None
    assert len(plan.factors.page) == plan.blocks == 12
    ranks = [site.rank or 0 for site in plan.live.sites.values()]
    assert ranks == sorted(ranks)
    assert set(ranks) <= {*range(1, 51), 91}
    assert (
        plan.live.sites["site1_test" if 1 in ranks else f"site{ranks[0]}_test"].url == f"https://site{ranks[0]}.test/"
    )
    assert read(drawn(tmp_path), tmp_path).factors.page == plan.factors.page
    assert read(drawn(tmp_path).replace("seed = 7", "seed = 8"), tmp_path).factors.page != plan.factors.page
    assert plan.live.site_list.list_id == "XYZ"
    assert len(plan.live.site_list.sha256 or "") == 64


def test_a_list_is_refused_for_what_it_is_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"sites.sample: 200 are more than the 51"):
        read(drawn(tmp_path, DRAWN.replace("12", "200")), tmp_path)
    with pytest.raises(ConfigurationError, match=r"sites.ranks: '9-1' is no range"):
        read(drawn(tmp_path, DRAWN.replace("1-50", "9-1")), tmp_path)
    text = drawn(tmp_path)
    (tmp_path / "list.csv").write_text("1,a.test\n2;b.test\n")
    with pytest.raises(ConfigurationError, match=r"sites.list: line 2 is '2;b.test' and not RANK,DOMAIN"):
        read(text, tmp_path)
    (tmp_path / "list.csv").unlink()
    with pytest.raises(ConfigurationError, match=r"sites.list: could not read"):
        read(text, tmp_path)


def test_a_dataset_is_read_without_its_list(tmp_path: Path) -> None:
    begun = ["site3_test", "site9_test"]
    plan = parse_plan(drawn(tmp_path), "plan.toml", None, base=tmp_path / "elsewhere", begun_with=begun)
    assert plan.factors.page == tuple(begun)
    assert plan.live is not None
    assert not plan.live.sites
    with pytest.raises(ConfigurationError, match="'gone_test', which the run began with, is not drawn any more"):
        parse_plan(drawn(tmp_path), "plan.toml", Corpus.from_project(), base=tmp_path, begun_with=["gone_test"])


def test_a_list_that_has_grown_gives_a_run_no_further_sites(tmp_path: Path) -> None:
    text = drawn(tmp_path)
    now = parse_plan(text, "plan.toml", Corpus.from_project(), base=tmp_path)
    begun = now.factors.page[:2]  # as if the others had come later
    plan = parse_plan(text, "plan.toml", Corpus.from_project(), base=tmp_path, begun_with=begun)
    assert plan.factors.page == begun
    assert plan.live is not None
    assert tuple(plan.live.sites) == begun


def test_a_dataset_is_read_though_its_plan_asked_for_what_was_not_kept() -> None:
    text = TEXT.replace("[baseline]", "[instrument]\nnetlog = true\n[baseline]", 1)
    assert parse_plan(text, "plan.toml", None).live is not None
