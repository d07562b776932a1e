"""The pool starts what is needed, replaces the dead, and never holds more than may live."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from made_loads import CONDITION

from resolab.basics.records import (
    BrowserKind,
    BrowserPreset,
    ConnectionState,
    DnsTransport,
    DohMethod,
    H3Discovery,
    HandshakeMode,
    HttpVersion,
    NameResolution,
    ResolverPath,
)
from resolab.browser.chromium.flags import command_line
from resolab.lab import layout
from resolab.lab.artifacts import KeptFolders
from resolab.lab.layout import Http3Offer
from resolab.plan import Condition
from resolab.trials.page_load.browser_setup import (
    TestbedPaths,
    build_prefix,
    build_settings,
    choose_forgotten_state,
    choose_offer,
    choose_way,
    looks_up,
    warms_up,
)
from resolab.trials.page_load.browsers import LIVE_LIMIT, BrowserPool, choose_first_browsers, find_log_number

SURROUNDINGS = TestbedPaths(
    path_pid=1,
    ca_file=Path("/ca.pem"),
    addresses={"example.resolab.test": "10.77.1.1", "n01.example.resolab.test": "10.77.1.2"},
    folder=Path("/tmp"),
    hosts_file=Path("/hosts"),
)
STUB = replace(CONDITION, resolver_path=ResolverPath.STUB)


@pytest.fixture(autouse=True)
def binary(monkeypatch):
    monkeypatch.setenv("RESOLAB_CORE", "/bin/true")


class Fake:
    living = 0

    def __init__(self):
        self.usable = False

    async def start(self, prefix, settings):
        self.settings, self.usable = settings, True
        type(self).living += 1

    async def close(self):
        self.usable = False
        type(self).living -= 1


def pool(limit):
    Fake.living = 0
    return BrowserPool(SURROUNDINGS, live_limit=limit, makers=dict.fromkeys(BrowserKind, Fake))


def test_before_the_first_trial_only_browsers_start_that_send_nothing_by_themselves():
    versions = [replace(CONDITION, http_version=version) for version in HttpVersion]
    silent = [choose_way(replace(one, dns_transport=DnsTransport.DOUDP)) for one in versions]
    probing = [choose_way(replace(one, dns_transport=DnsTransport.DOH)) for one in versions]
    firefox = choose_way(replace(CONDITION, dns_transport=DnsTransport.DOH, browser=BrowserKind.FIREFOX))
    assert (
        choose_first_browsers([probing[0], *silent, probing[1], firefox, silent[0]]) == [*silent, firefox][:LIVE_LIMIT]
    )
    # One starts in any case: a machine that cannot run it is to be known before there is a dataset.
    assert choose_first_browsers(probing) == probing[:1]


def test_a_way_keeps_its_browser_until_it_dies():
    async def scenario():
        browsers, way = pool(2), choose_way(CONDITION)
        first = await browsers.get(way)
        assert await browsers.get(way) is first
        first.usable = False
        second = await browsers.get(way)
        assert second is not first
        assert second.usable
        await browsers.close()
        assert Fake.living == 0

    asyncio.run(scenario())


def test_a_browser_is_replaced_after_its_share_of_trials(monkeypatch):
    monkeypatch.setattr("resolab.trials.page_load.browsers.RENEWED_AFTER_COUNT", 3)

    async def scenario():
        browsers, way = pool(2), choose_way(CONDITION)
        used = [await browsers.get(way) for _ in range(7)]
        assert [used.index(one) for one in used] == [0, 0, 0, 3, 3, 3, 6]
        assert [one.usable for one in used] == [False] * 6 + [True]
        assert Fake.living == 1

    asyncio.run(scenario())


def test_the_browser_not_used_for_longest_makes_room():
    async def scenario():
        browsers = pool(2)
        ways = [choose_way(replace(CONDITION, http_version=version)) for version in (HttpVersion.H2, HttpVersion.H3)]
        other = choose_way(replace(CONDITION, dns_transport=DnsTransport.DOUDP))
        for way in (*ways, ways[0], other):
            await browsers.get(way)
        assert browsers.ways == [ways[0], other]
        assert Fake.living == 2

    asyncio.run(scenario())


def test_one_browser_serves_every_transport_behind_the_stub_and_every_handshake():
    conditions = [
        replace(STUB, dns_transport=transport, requested_handshake_mode=mode, requested_dns_handshake_mode=mode)
        for transport in DnsTransport
        for mode in HandshakeMode
    ]
    assert len({choose_way(condition) for condition in conditions}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"browser": BrowserKind.FIREFOX},
        {"resolver_path": ResolverPath.STUB},
        {"dns_transport": DnsTransport.DOH3},
        {"http_version": HttpVersion.H2},
        {"h3_discovery": H3Discovery.ALT_SVC},
        {"doh_method": DohMethod.GET},
        {"browser_preset": BrowserPreset.S24},
    ],
)
def test_what_is_fixed_at_a_browsers_start_makes_another_way(change):
    assert choose_way(replace(CONDITION, **change)) != choose_way(CONDITION)


def test_settings_follow_the_way():
    settings = build_settings(choose_way(replace(CONDITION, dns_transport=DnsTransport.DOH3)), SURROUNDINGS)
    assert settings.doh is not None
    assert settings.doh.http_version is HttpVersion.H3
    assert build_settings(choose_way(STUB), SURROUNDINGS).doh is None
    assert layout.STUB_ADDRESS in build_prefix(choose_way(STUB), SURROUNDINGS)
    native = build_prefix(choose_way(CONDITION), SURROUNDINGS)
    assert native[native.index("--hosts") + 1] == "/hosts"
    assert native[native.index("--nameserver") + 1] == layout.RESOLVER_ADDRESS


def test_browsers_may_ask_for_the_labs_names_and_no_others():
    settings = build_settings(choose_way(CONDITION), SURROUNDINGS)
    assert settings.resolvable_names == ("*.test",)
    rules = next(flag for flag in command_line(Path("chromium"), settings, Path("/p")) if "resolver-rules" in flag)
    assert rules.split("=")[1].split(" , ")[:2] == ["MAP * ~NOTFOUND", "EXCLUDE *.test"]


def test_forced_http_3_is_for_every_name_of_the_pages():
    assert build_settings(choose_way(CONDITION), SURROUNDINGS).h3_hosts == (
        "example.resolab.test",
        "n01.example.resolab.test",
    )
    some = replace(SURROUNDINGS, hosts_without_h3=frozenset({"n01.example.resolab.test"}))
    assert build_settings(choose_way(CONDITION), some).h3_hosts == ("example.resolab.test",)


def test_a_preset_changes_the_browser_of_its_way_and_of_no_other():
    h20 = replace(CONDITION, browser=BrowserKind.FIREFOX, browser_preset=BrowserPreset.H20)
    doh = build_settings(choose_way(h20), SURROUNDINGS)
    assert doh.doh is not None
    assert (doh.http_version, doh.doh.method) == (HttpVersion.H2, DohMethod.POST)
    assert doh.extra_preferences["network.trr.request_timeout_mode_trronly_ms"] == 1500
    do53 = build_settings(choose_way(replace(h20, dns_transport=DnsTransport.DOUDP)), SURROUNDINGS)
    assert do53.name_resolution is NameResolution.GETADDRINFO
    assert build_settings(choose_way(replace(h20, browser_preset=None)), SURROUNDINGS).extra_preferences == {}


def test_with_the_2024_preset_the_browser_is_told_every_address_and_asks_for_none():
    s24 = replace(CONDITION, browser_preset=BrowserPreset.S24)
    (rules,) = [
        flag for flag in build_settings(choose_way(s24), SURROUNDINGS).extra_flags if "host-resolver-rules" in flag
    ]
    assert "MAP example.resolab.test 10.77.1.1" in rules
    assert "MAP n01.example.resolab.test 10.77.1.2" in rules
    assert [looks_up(one) for one in (s24, CONDITION)] == [False, True]


@pytest.mark.parametrize(
    ("changes", "warmed"),
    [
        ({}, False),
        ({"requested_handshake_mode": HandshakeMode.ZERO_RTT}, True),
        ({"requested_dns_handshake_mode": HandshakeMode.RESUMED}, True),
        ({"dns_connection_state": ConnectionState.WARM}, True),
    ],
)
def test_with_a_preset_only_what_needs_a_warm_up_has_one(changes, warmed):
    assert warms_up(replace(CONDITION, browser_preset=BrowserPreset.H20, **changes)) is warmed
    assert warms_up(replace(CONDITION, **changes))


def test_only_chromium_keeps_a_log_and_each_process_its_own():
    logging = replace(SURROUNDINGS, kept=KeptFolders(netlog_folder=Path("/netlogs")))
    first, second = (
        build_settings(choose_way(CONDITION), logging, start_number=number).netlog_file for number in (1, 2)
    )
    assert first == Path("/netlogs/0001.native.doh.h3.json")
    assert second != first
    assert build_settings(choose_way(replace(CONDITION, browser=BrowserKind.FIREFOX)), logging).netlog_file is None
    assert build_settings(choose_way(CONDITION), SURROUNDINGS).netlog_file is None


def test_logs_of_an_earlier_testbed_keep_their_names(tmp_path):
    surroundings = replace(SURROUNDINGS, kept=KeptFolders(netlog_folder=tmp_path))

    async def first_log():
        browsers = BrowserPool(surroundings, makers=dict.fromkeys(BrowserKind, Fake))
        await browsers.get(choose_way(CONDITION))
        file = browsers.netlog_file(choose_way(CONDITION))
        file.touch()
        await browsers.close()
        return file.name.partition(".")[0]

    # Trials name these files: after a resume, or a failure of the instrument, none may be moved or written anew.
    assert [asyncio.run(first_log()) for _ in range(3)] == ["0001", "0002", "0003"]
    assert find_log_number(tmp_path / "none") == find_log_number(None) == 0


@pytest.mark.parametrize(
    ("version", "discovery", "offer"),
    [
        (HttpVersion.H3, H3Discovery.FORCED, Http3Offer.NOTHING),
        (HttpVersion.H3, H3Discovery.HTTPS_RECORD, Http3Offer.HTTPS_RECORD),
        (HttpVersion.H3, H3Discovery.ALT_SVC, Http3Offer.ALT_SVC),
        (HttpVersion.H2, H3Discovery.ALT_SVC, Http3Offer.NOTHING),
    ],
)
def test_a_site_gives_only_the_sign_by_which_it_shall_be_found(version, discovery, offer):
    assert choose_offer(replace(CONDITION, http_version=version, h3_discovery=discovery)) is offer


def test_only_a_browsers_own_warm_connection_outlives_the_clearing():
    def cleared(condition: Condition):
        found = choose_forgotten_state(replace(condition, dns_connection_state=ConnectionState.WARM))
        return found.sockets, found.doh_connection

    assert cleared(CONDITION) == (False, False)
    # Firefox can close the page's connections and keep this one.
    assert cleared(replace(CONDITION, browser=BrowserKind.FIREFOX)) == (True, False)
    assert choose_forgotten_state(CONDITION).sockets
    assert cleared(STUB) == (True, True)
    assert cleared(replace(CONDITION, dns_transport=DnsTransport.DOUDP)) == (True, True)


def test_an_alt_svc_field_outlives_the_clearing():
    assert not choose_forgotten_state(replace(CONDITION, h3_discovery=H3Discovery.ALT_SVC)).http_cache
    assert choose_forgotten_state(CONDITION).http_cache
