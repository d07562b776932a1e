"""Each of Chromium's settings inside a path, judged by the edge's records and by the browser's own log."""

import json
from collections import Counter

import pytest
from chromium_lab import ADVERTISED, PLAIN, RACES_COUNT, RESOLVER, browser_lab, play, play_in_turn, usual_winner

from resolab.basics.records import HttpVersion
from resolab.browser import Chromium, DohMethod, DohSettings, H3Discovery, NameResolution
from resolab.browser.chromium.netlog import read_netlog

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]

BY_DOH = [
    ("h2", None, "POST"), ("h2", DohMethod.POST, "POST"), ("h3", DohMethod.POST, "POST"),
    ("h2", DohMethod.GET, "GET"), ("h3", DohMethod.GET, "GET"),
]  # fmt: skip
"""HTTP version, the method told, the one used."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory, privileged):
    with browser_lab(tmp_path_factory.mktemp("settings")) as running:
        yield running


def good(load):
    assert (load.measured.failure, load.measured.failure_detail) == (None, None)
    assert load.queries()
    return load


def doh_requests(netlog):
    """Method and version of every exchange with the DoH server, from a log that must be whole."""
    log = json.loads(netlog.read_text())
    event = log["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [one["params"] for one in log["events"] if one["type"] == event and "method" in one.get("params", {})]
    return [(one["method"], one["url"].partition("?")[2].partition("=")[0]) for one in asked if RESOLVER in one["url"]]


@pytest.fixture(scope="module")
def by_doh(lab, tmp_path_factory):
    """A load by a browser of each DoH setting, and the browser's log."""
    folder = tmp_path_factory.mktemp("netlogs")

    def settings(version, told):
        doh = DohSettings(host=RESOLVER, address="10.77.0.1", http_version=HttpVersion(version), method=told)
        return {"doh": doh, "h3_hosts": (PLAIN,), "netlog_file": folder / f"{version}-{told}.json"}

    async def scene(browser):
        return await lab.load(browser, PLAIN, close="all")

    lab.set_policy(RESOLVER, "none")
    settings_of = {(version, told): settings(version, told) for version, told, _ in BY_DOH}
    loads = play_in_turn(Chromium, lab, scene, settings_of)
    return {case: (load, settings_of[case]["netlog_file"]) for case, load in loads.items()}


@pytest.mark.parametrize(("version", "told", "method"), BY_DOH)
def test_doh_goes_by_version_and_method_and_nothing_over_do53(by_doh, version, told, method):
    load, netlog = by_doh[version, told]
    good(load)
    queries = [one for one in load.before + load.after if one["record"] == "edge_query"]
    assert {query["dns_transport"] for query in queries} == {"doh" if version == "h2" else "doh3"}
    # POST has its query in the body, GET in the address.
    assert set(doh_requests(netlog)) == {(method, "dns" if method == "GET" else "")}


def test_the_log_read_as_connections_has_those_the_edge_saw_with_their_requests(by_doh):
    load, netlog = by_doh["h2", DohMethod.POST]
    log = read_netlog(netlog)
    assert not log.is_cut_off
    page = [one for one in log.connections if one.host == PLAIN and one.requests]
    asked = [one for one in load.before + load.after if one["record"] == "edge_request" and one["authority"] == PLAIN]
    by_connection = Counter(one["connection_id"] for one in asked)
    assert sorted(len(one.requests) for one in page) == sorted(by_connection.values())
    assert {one.protocol for one in page} == {one["http_version"] for one in asked}
    assert all(one.handshake_end_ms is not None for one in page)
    # A resumed handshake has no certificate in it.
    assert {one.certificate is not None or one.resumed for one in page} == {True}
    assert {one.address for one in page} == {"10.77.1.1"}
    resolver = [one for one in log.connections if one.host == RESOLVER and one.requests]
    assert {one.protocol for one in resolver} == {"h2"}


@pytest.mark.parametrize("version", ["h1", "h2", "h3"])
def test_pages_come_by_the_version_told_with_a_full_and_a_resumed_handshake(lab, version):
    async def scene(browser):
        loads = {}
        for policy in ("none", "resume"):
            lab.set_policy(PLAIN, policy)
            loads[policy] = await lab.load(browser, PLAIN, close="all")
        return loads

    loads = play(Chromium, lab, scene, http_version=HttpVersion(version), h3_hosts=(PLAIN,))
    for policy, mode in (("none", "full"), ("resume", "resumed")):
        request, connection = good(loads[policy]).document()
        assert (request["http_version"], request["in_early_data"]) == (version, False)
        assert connection["handshake_mode"] == mode
        assert connection["protocol"] == ("quic" if version == "h3" else "tcp")


def test_an_https_record_is_enough_for_h3(lab):
    async def scene(browser):
        # What lost the race is a connection that nobody uses: the edge must not have to wait for it.
        loads = [await lab.load(browser, ADVERTISED, close="all") for _ in range(RACES_COUNT)]
        return loads, await lab.load(browser, PLAIN, close="all", warmup=False)

    settings = {"h3_discovery": H3Discovery.HTTPS_RECORD, "h3_hosts": (ADVERTISED, PLAIN)}
    advertised, plain = play(Chromium, lab, scene, **settings)
    assert good(usual_winner(advertised)).document()[0]["http_version"] == "h3"
    # Nothing is forced: a host without a record stays with h2.
    assert good(plain).document()[0]["http_version"] == "h2"


def test_the_c_library_asks_for_addresses_alone(lab):
    async def scene(browser):
        return await lab.load(browser, PLAIN, close="all")

    def asked(**settings):
        load = good(play(Chromium, lab, scene, h3_hosts=(PLAIN,), **settings))
        return {query["qtype"] for query in load.queries()}

    assert "HTTPS" in asked()
    assert asked(name_resolution=NameResolution.GETADDRINFO) <= {"A", "AAAA"}
