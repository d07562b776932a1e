"""Pages of several host names in both browsers: every file comes, every name is asked for, and presets are in force."""

import asyncio
import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from browser_lab import measured

from resolab.basics.records import (
    BrowserPreset,
    ConnectionRecord,
    ConnectionState,
    DnsTransport,
    EdgeQueryRecord,
    EdgeRequestRecord,
    HttpVersion,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    ResolverCache,
)
from resolab.lab.artifacts import KeptFolders
from resolab.plan import Corpus, parse_plan
from resolab.trials.page_load.runner import PageLoadRunner

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
PLAN = """
name = "names"
question = "Are pages of several names whole?"
seed = 1
blocks = 1
[factors]
page = ["names-4", "names-12-chain"]
profile = ["fiber"]
dns_transport = ["doudp", "doh"]
http_version = ["h2", "h3"]
requested_handshake_mode = ["full"]
browser = ["{browser}"]
[resolver_path]
doudp = "native"
doh = "native"
[[exclude]]
dns_transport = ["doudp"]
http_version = ["h3"]
[[exclude]]
dns_transport = ["doh"]
http_version = ["h2"]
[baseline]
dns_transport = "doudp"
http_version = "h2"
[resolver]
miss_delay_ms = 80
[queries]
warm_count = 2
[limits]
page_timeout_s = 20
"""
OF_THE_PAGE = {"no_lookup_in_load", "lookup_in_load", "resources_missing", "foreign_name", "dns_transport_mismatch"}
PAGES = Path(__file__).parents[2] / "pages"
PRESETS = {
    "chromium": (BrowserPreset.S24, HttpVersion.H3),
    "firefox": (BrowserPreset.H20, HttpVersion.H2),
}


def conditions_of(plan, browser):
    """Each thing once in as few loads as can be: `far` is over HTTP/3 too, `chain` is of cache misses too."""
    light, light_doh, chain = (plan.conditions()[index] for index in (0, 1, 2))
    preset, version = PRESETS[browser]
    studied = light_doh if preset is BrowserPreset.H20 else light
    return {
        "light": light,
        "far": replace(light_doh, resolver_extra_rtt_ms=100.0),
        "chain": replace(chain, resolver_cache=ResolverCache.MISS),
        "preset": replace(studied, browser_preset=preset, http_version=version),
    }


async def scenario(browser, folder):
    corpus = Corpus.from_project()
    plan = parse_plan(PLAN.format(browser=browser), "names", corpus)
    results = {}
    async with PageLoadRunner(plan, corpus, plan.seed, kept=KeptFolders(netlog_folder=folder / "netlogs")) as testbed:
        for name, condition in conditions_of(plan, browser).items():
            results[name] = condition, await testbed.run_trial(condition, f"b000-{name}")
    return results


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def results(request, privileged, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    return asyncio.run(scenario(request.param, folder)) | {"browser": request.param, "folder": folder}


def files_of(page):
    """Every file of a page by its name and path as they are asked for."""
    folders = {"00": f"{page}.resolab.test"} | {
        below.name: f"n{below.name}.{page}.resolab.test" for below in (PAGES / page / "sites").iterdir() if below.name != "00"
    }  # fmt: skip
    return {
        (host, "/" if file.name == "index.html" else f"/{file.name}")
        for below, host in folders.items()
        for file in (PAGES / page / "sites" / below).iterdir()
    }


@pytest.mark.parametrize("name", ["light", "far", "chain", "preset"])
def test_every_file_of_the_page_comes_and_nothing_is_wrong_with_its_names(results, name):
    condition, result = results[name]
    load = measured(result)
    assert (load.failure, load.failure_detail) == (None, None)
    answered = [r for r in result.records if isinstance(r, EdgeRequestRecord) and r.status == 200]
    assert {(r.authority.partition(":")[0], r.path) for r in answered} == files_of(condition.page)
    assert {r.http_version for r in answered} == {condition.http_version}
    assert load.request_count == len(files_of(condition.page))
    assert (load.foreign_names, load.console_errors) == ([], [])
    assert OF_THE_PAGE & set(result.flags) == set()


def test_no_two_names_share_a_connection(results):
    _, result = results["light"]
    requests = [r for r in result.records if isinstance(r, EdgeRequestRecord)]
    hosts = {}
    for record in requests:
        hosts.setdefault(record.connection_id, set()).add(record.authority)
    assert len(hosts) >= 4
    assert all(len(names) == 1 for names in hosts.values())


def test_names_of_a_later_step_are_asked_for_after_those_of_the_step_before(results):
    _, result = results["chain"]
    loads = [r for r in result.records if isinstance(r, PageLoadRecord)]
    asked = {}
    for record in (r for r in result.records if isinstance(r, EdgeQueryRecord)):
        number = record.qname.partition(".")[0]
        if number.startswith("n") and number != "names-12-chain":
            asked.setdefault(number, []).append(record.received_ns)
    assert len(loads) == 2
    assert len(asked) == 11
    last = {number: max(instants) for number, instants in asked.items()}
    steps = [[f"n{number:02}" for number in numbers] for numbers in (range(1, 5), range(5, 9), range(9, 12))]
    for before, after in itertools.pairwise(steps):
        # A script of the first name of a step asks for the next: a look-up, a connection and a request lie between.
        assert min(last[number] for number in after) > last[before[0]] + 3 * 14_000_000


def test_a_resolver_far_away_makes_look_ups_slow_and_connections_not(results):
    near, far = (measured(results[name][1]) for name in ("light", "far"))

    def lookup_ms(load):
        start_ms = load.fetch_start_ms if results["browser"] == "firefox" else load.domain_lookup_start_ms
        return load.domain_lookup_end_ms - start_ms

    # DoH: three round trips of 115 ms in place of one of 15 ms.
    assert lookup_ms(far) > 3 * 114 > lookup_ms(near)
    # QUIC: one of 15 ms; one of 115 ms if the pages had moved too.
    assert far.connect_end_ms - far.connect_start_ms < 114


def test_a_miss_delays_the_browser_and_our_client_alike(results):
    hit, miss = (results[name][1] for name in ("light", "chain"))
    loads = [measured(result) for result in (hit, miss)]
    assert loads[1].domain_lookup_end_ms - loads[1].fetch_start_ms > 80
    hit_ns, miss_ns = (
        min(r.query_response_time_ns for r in result.records if isinstance(r, QueryRecord) and r.query_response_time_ns)
        for result in (hit, miss)
    )
    assert hit_ns < 80e6 < miss_ns


def test_the_other_names_are_asked_on_the_connections_of_the_cold_exchanges(results):
    _, result = results["light"]
    asked = [r for r in result.records if isinstance(r, QueryRecord) and r.purpose is QueryPurpose.MEASURED]
    by_transport = {
        transport: [r for r in asked if r.dns_transport is transport]
        for transport in (DnsTransport.DOUDP, DnsTransport.DOH)
    }
    names = ["names-4.resolab.test.", "n01.names-4.resolab.test.", "n02.names-4.resolab.test."]
    for records in by_transport.values():
        assert [r.qname for r in records] == names
        assert [r.sequence for r in records] == [0, 1, 2]
    warm, cold = ConnectionState.WARM, ConnectionState.COLD
    assert [r.connection for r in by_transport[DnsTransport.DOH]] == [cold, warm, warm]
    assert [r.connection_query_index for r in by_transport[DnsTransport.DOH]] == [0, 1, 2]
    accepted = [r for r in result.records if isinstance(r, ConnectionRecord) and r.server_name == "dns.resolab.test"]
    assert len({r.connection_id for r in accepted}) == 1


def test_the_study_s_browser_looks_up_as_the_study_had_it(results):
    condition, result = results["preset"]
    loads = [r for r in result.records if isinstance(r, PageLoadRecord)]
    assert [load.measured for load in loads] == [True]
    asked = {r.qtype for r in result.records if isinstance(r, EdgeQueryRecord) and "n01" in r.qname}
    # Our client's own question is there in any case; over Do53 getaddrinfo asks no AAAA on a host without IPv6.
    assert asked == ({"A"} if condition.browser_preset is BrowserPreset.S24 else {"A", "AAAA"})
    if condition.browser_preset is BrowserPreset.S24:
        exchange = next(r for r in result.records if isinstance(r, QueryRecord) and r.dns_transport == "doudp")
        lookup_ms = loads[0].domain_lookup_end_ms - loads[0].domain_lookup_start_ms
        assert lookup_ms < 5
        assert loads[0].plt_sum_ms == pytest.approx(
            loads[0].plt_ms - lookup_ms + exchange.query_response_time_ns / 1e6, abs=0.01
        )


def test_chromium_s_logs_are_kept_one_for_each_process(results):
    kept = sorted(file.name for file in (results["folder"] / "netlogs").iterdir())
    ways = ["native.doudp.h2", "native.doh.h3", "native.doudp.h3.s24"]
    expected = {f".{way}.json" for way in ways} if results["browser"] == "chromium" else set()
    assert {name[4:] for name in kept} == expected
