"""Live mode in two namespaces: inside the path's client host it cannot tell them from the internet."""

import asyncio
import json
import socket
from pathlib import Path

import msgspec
import pytest
from lab import SHORT_REPORTS, finished
from live_world import OPERATOR, live_world, write_live_plan

from resolab.basics.records import EdgeQueryRecord, EdgeRequestRecord
from resolab.store import load_manifest

RESOLV_CONF = Path("/etc/resolv.conf")
NEWS, GONE = "https://news.resolab.test/?q=secret", "https://gone.resolab.test/"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """One run: what it left, what the edge got, and what its dry run had named."""
    folder, records = tmp_path_factory.mktemp("live"), []

    async def run():
        async with live_world(folder, on_record=records.append) as (world, edge):
            plan = write_live_plan(folder, urls=(NEWS, GONE), resolver=("edge",))
            dry = await asyncio.to_thread(
                world.resolab, "run", plan, "--dry-run", "--json", command=SHORT_REPORTS, timeout_s=60
            )
            got_before = [one for one in records if isinstance(one, EdgeQueryRecord | EdgeRequestRecord)]
            done = await asyncio.to_thread(
                world.resolab, "run", plan, "--out", folder / "out", command=SHORT_REPORTS, timeout_s=200
            )
            await edge.flush()
            return dry, got_before, done

    before = RESOLV_CONF.read_text()
    dry, got_before, done = asyncio.run(run())
    assert done.returncode == 0, done.stderr
    assert RESOLV_CONF.read_text() == before
    trials = [[json.loads(line) for line in file.read_text().splitlines()] for file in finished(folder / "out")]
    return folder / "out", trials, records, dry, got_before


def of_kind(trial, kind):
    return [one for one in trial if one["record"] == kind]


def of_page(trials, page):
    return {trial[0]["dns_transport"]: trial for trial in trials if trial[0]["page"] == page}


@pytest.mark.usefixtures("privileged")
def test_a_site_loads_over_every_transport(ran):
    _, trials, _, _, _ = ran
    found = of_page(trials, "news_resolab_test_q_secret")
    assert set(found) == {"doudp", "dot", "doh"}
    for transport, trial in found.items():
        (load,), (own,) = of_kind(trial, "page_load"), of_kind(trial, "live_trial")
        assert load["failure"] is None, transport
        assert load["measured"]
        assert load["handshake_mode"] == "full"
        # Of Firefox's own DoH nobody tells: its log is off.
        assert load["dns_handshake_mode"] == ("full" if transport == "dot" else None)
        assert own["names"] == ["news.resolab.test", "cdn.resolab.test"]
        assert own["resolver_address"] == "10.77.0.1"
        assert f"(+{OPERATOR})" in own["user_agent"]
        assert trial[0]["vantage_point"] == "two-namespaces"
        assert "secret" not in json.dumps(trial).replace("news_resolab_test_q_secret", "")


@pytest.mark.usefixtures("privileged")
def test_our_own_client_asks_for_the_same_over_each(ran):
    _, trials, _, _, _ = ran
    for transport, trial in of_page(trials, "news_resolab_test_q_secret").items():
        own = [one for one in of_kind(trial, "query") if one["purpose"] == "measured"]
        assert {one["dns_transport"] for one in own} == {transport}
        asked = [(one["qname"], one["qtype"]) for one in own]
        one_round = [(f"{name}.resolab.test.", qtype) for name in ("news", "cdn") for qtype in ("A", "AAAA")]
        assert asked == one_round * 2
        connections = [one["connection"] for one in own]
        assert connections == ([None] * 8 if transport == "doudp" else ["cold", *["warm"] * 7])
        # The browser has asked for A before.
        assert {one["cache_state"] for one in own if one["qtype"] == "A"} == {"within_ttl"}
    first = next(trial for trial in trials if trial[0]["page"] == "news_resolab_test_q_secret")
    fresh = [one for one in of_kind(first, "query") if one["qtype"] == "AAAA" and one["purpose"] == "measured"]
    assert [one["cache_state"] for one in fresh] == ["first_asked"] * 2 + ["within_ttl"] * 2


@pytest.mark.usefixtures("privileged")
def test_a_name_that_does_not_exist_is_its_class(ran):
    _, trials, _, _, _ = ran
    for trial in of_page(trials, "gone_resolab_test").values():
        (load,) = of_kind(trial, "page_load")
        assert (load["failure"], load["dns_failure"]) == ("dns", "nxdomain")


@pytest.mark.usefixtures("privileged")
def test_the_resolver_is_pinged_beside_each_load(ran):
    _, trials, _, _, _ = ran
    for trial in trials:
        (pinged,) = of_kind(trial, "ping")
        assert pinged["method"] == "icmp"
        assert len(pinged["rtt_ns"]) == 5
        assert min(one for one in pinged["rtt_ns"] if one) > 14e6, "the emulated link is in between"


@pytest.mark.usefixtures("privileged")
def test_the_dry_run_named_everybody_and_contacted_nobody(ran):
    _, _, records, dry, got_before = ran
    assert dry.returncode == 0, dry.stderr
    assert got_before == []
    named = {json.loads(line)["host"] for line in dry.stdout.splitlines()}
    assert {"news.resolab.test", "gone.resolab.test", "10.77.0.1", "dns.resolab.test"} == named
    pages = {one.authority for one in records if isinstance(one, EdgeRequestRecord)}
    assert pages == {"news.resolab.test", "cdn.resolab.test"}, "the page's own third party, which nobody knew before"


@pytest.mark.usefixtures("privileged")
def test_browsers_and_client_asked_for_nothing_else(ran):
    _, _, records, _, _ = ran
    names = {one.qname.rstrip(".") for one in records if isinstance(one, EdgeQueryRecord)}
    assert names <= {
        "news.resolab.test",
        "cdn.resolab.test",
        "gone.resolab.test",
        "dns.resolab.test",
        socket.gethostname(),
    }


@pytest.mark.usefixtures("privileged")
def test_the_manifest_says_what_was_live(ran):
    out, _, _, _, _ = ran
    manifest = load_manifest(out)
    assert manifest.live is not None
    assert manifest.profiles == []
    assert [site.url for site in manifest.live.sites] == [NEWS, GONE]
    assert manifest.live.resolvers["edge"]["dot"] == "tls://dns.resolab.test"
    assert msgspec.to_builtins(manifest)["live"]["caps"]["loads_per_hour"] > 0
