"""Stock Chromium and Firefox load pages from our edge through a path and look their names up there, judged by the edge's records.

Each way of looking up and each HTTP version has a host name of its own, so that what a browser asks at one time or another
belongs to the load it is for.
"""

import asyncio
import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from edge_under_test import Edge, connection_of
from lab import ROOT
from real_servers import core_program, end

from resolab.basics.records import HttpVersion
from resolab.browser import BrowserSettings, Chromium, DohSettings, H3Discovery, LoadRequest
from resolab.lab.engine import enter_prefix, find_core

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]

RESOLVER, ADDRESS, PAGES_ADDRESS = "dns.resolab.test", "10.77.0.1", "10.77.1.1"
PROFILE = ROOT / "profiles/ideal.toml"
FIREFOX = Path(__file__).parent / "firefox.py"
TITLE = "interop"
DOMAIN = "browsers.test"
PLAIN, ADVERTISED = "h2", "h3"
"""First labels of hosts: without an HTTPS record, with one."""
CONFIGURATION = f"""
[ca]
folder = "ca"
[resolver]
name = "{RESOLVER}"
addresses = ["{ADDRESS}"]
origins = ["{DOMAIN}"]
ticket_policy = "none"
"""
SITE = """
[[site]]
host = "{host}"
address = "{address}"
folder = "site"
ticket_policy = "none"
https_record = {https_record}
"""
# Chromium asks every DoH server for this name until it gets an answer.
PROBED = '[[zone]]\nname = "www.gstatic.com"\ntype = "A"\nvalue = "10.77.1.254"\n'
LOOKUPS = ("doudp", "doh", "doh3")
LOADS_COUNT = 6
"""What a browser may take: whether the answer with the HTTPS record is there before the connection over TCP is a race."""
TIMEOUT_S = 20
BROWSERS_TIMEOUT_S = 120


def host(browser, lookup, version):
    return f"{version}.{lookup}.{browser}.{DOMAIN}"


CELLS = [
    (browser, lookup, version)
    for browser in ("chromium", "firefox") for lookup in LOOKUPS for version in (PLAIN, ADVERTISED)
]  # fmt: skip


@dataclass(frozen=True)
class Lab:
    """A path with the edge behind it."""

    path_pid: int
    edge: Edge
    hosts_file: Path

    def client(self, lookup):
        """Prefix of programs in the client's host; the DoH server's own name is not looked up over Do53."""
        hosts_file = None if lookup == "doudp" else self.hosts_file
        return enter_prefix(self.path_pid, "client", nameserver=ADDRESS, hosts_file=hosts_file)


@pytest.fixture(scope="module")
def lab(tmp_path_factory, privileged):
    folder = tmp_path_factory.mktemp("browsers")
    (folder / "site").mkdir()
    (folder / "site/index.html").write_text(f"<!doctype html><link rel=icon href=data:,><title>{TITLE}</title>a page")
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {RESOLVER}\n")
    sites = [
        SITE.format(host=host(*cell), address=PAGES_ADDRESS, https_record=str(cell[2] == ADVERTISED).lower())
        for cell in CELLS
    ]
    (folder / "edge.toml").write_text("".join([CONFIGURATION, *sites, PROBED]))
    with contextlib.ExitStack() as stack:
        _, ready = stack.enter_context(core_program(find_core(), "path", "--profile", PROFILE))
        server = enter_prefix(ready["pid"], "server")
        edge, _ = stack.enter_context(core_program(*server, find_core(), "edge", "--config", folder / "edge.toml"))
        yield Lab(ready["pid"], Edge(edge, ADDRESS, folder / "ca/ca.pem"), folder / "hosts")


async def with_chromium(lab, lookup):
    """Titles and protocols by HTTP version: of one load, or of several until one came by HTTP/3."""
    advertised = host("chromium", lookup, ADVERTISED)
    doh = DohSettings(
        host=RESOLVER, address=ADDRESS, http_version=HttpVersion.H3 if lookup == "doh3" else HttpVersion.H2
    )
    settings = BrowserSettings(
        resolvable_names=(f"*.{DOMAIN}",),
        h3_discovery=H3Discovery.HTTPS_RECORD,
        h3_hosts=(advertised,),
        doh=None if lookup == "doudp" else doh,
        ca_file=lab.edge.ca,
    )
    chromium = Chromium()
    try:
        await chromium.start(lab.client(lookup), settings)
        return {
            (lookup, version): [
                load async for load in chromium_loads(chromium, host("chromium", lookup, version), version)
            ]
            for version in (PLAIN, ADVERTISED)
        }
    finally:
        await chromium.close()


async def chromium_loads(chromium, name, version):
    for _ in range(LOADS_COUNT):
        measured = (
            await chromium.load(LoadRequest(url=f"https://{name}/", timeout_s=TIMEOUT_S, warmup=False))
        ).measured
        assert (measured.failure, measured.status) == (None, 200), measured
        yield measured.timings.next_hop_protocol
        if measured.timings.next_hop_protocol == version:
            return


def with_firefox(lab, process):
    """The same, of one browser that is told to look up in another way."""
    loads = {}
    for lookup in LOOKUPS:
        preferences = {
            # 3: by DoH only; 5: without
            "network.trr.mode": 5 if lookup == "doudp" else 3,
            "network.trr.uri": f"https://{RESOLVER}/dns-query",
            "network.trr.custom_uri": f"https://{RESOLVER}/dns-query",
            "network.trr.bootstrapAddr": ADDRESS,
            "network.trr.allow-rfc1918": True,
            "network.trr.wait-for-portal": False,
            "network.trr.confirmationNS": "skip",
            "network.trr.force_http3_first": lookup == "doh3",
            # no race between the HTTPS record and a connection over TCP
            "network.http.happy_eyeballs_enabled": False,
            "network.dns.force_use_https_rr": True,
        }
        for version in (PLAIN, ADVERTISED):
            asked = {"preferences": preferences, "url": f"https://{host('firefox', lookup, version)}/"}
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            # loud: a machine that runs the tests must have what scripts/setup --interop installs
            assert line, process.stderr.read()
            said = json.loads(line)
            assert (said["title"], said["error"]) == (TITLE, None), (lookup, version, said)
            loads[lookup, version] = [said["protocol"]]
    return loads


@pytest.fixture(scope="module")
def seen(lab):
    """What the browsers, all at the same time, were told they got, and the edge's records."""
    pipe = subprocess.PIPE
    command = [*lab.client("doh"), sys.executable, str(FIREFOX), str(lab.edge.ca)]
    firefox = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    async def play():
        async with asyncio.timeout(BROWSERS_TIMEOUT_S):
            return await asyncio.gather(
                asyncio.to_thread(with_firefox, lab, firefox), *(with_chromium(lab, lookup) for lookup in LOOKUPS)
            )

    try:
        of_firefox, *of_chromium = asyncio.run(play())
        firefox.communicate(timeout=TIMEOUT_S)
        assert firefox.returncode == 0
    finally:
        end(firefox)
    loads = {("firefox", *cell): protocols for cell, protocols in of_firefox.items()}
    loads |= {("chromium", *cell): protocols for one in of_chromium for cell, protocols in one.items()}
    return loads, lab.edge.records()


@pytest.mark.parametrize(("browser", "lookup", "version"), CELLS, ids=["-".join(cell) for cell in CELLS])
def test_a_page_is_looked_up_and_loaded_as_told(seen, browser, lookup, version):
    loads, records = seen
    cell = (browser, lookup, version)
    assert loads[cell][-1] == version, loads[cell]
    requests = [one for one in records if one["record"] == "edge_request" and one["authority"] == host(*cell)]
    pages = [request for request in requests if request["path"] == "/"]
    assert [page["http_version"] for page in pages] == loads[cell]
    for page in pages:
        connection = connection_of(page, records)
        assert (page["status"], connection["alpn"]) == (200, page["http_version"])
        assert (page["in_early_data"], connection["handshake_mode"]) == (False, "full")
        assert connection["protocol"] == ("quic" if page["http_version"] == "h3" else "tcp")


@pytest.mark.parametrize(("browser", "lookup", "version"), CELLS, ids=["-".join(cell) for cell in CELLS])
def test_its_name_is_asked_for_over_the_transport_only(seen, browser, lookup, version):
    _, records = seen
    name = host(browser, lookup, version)
    queries = [one for one in records if one["record"] == "edge_query" and one["qname"].rstrip(".").lower() == name]
    assert {query["dns_transport"] for query in queries} == {lookup}
    assert {"A", "HTTPS"} <= {query["qtype"] for query in queries}
    assert {query["rcode"] for query in queries} == {"NOERROR"}
    alpns = {connection_of(query, records)["alpn"] for query in queries if query["connection_id"] is not None}
    assert alpns == {"doudp": set(), "doh": {"h2"}, "doh3": {"h3"}}[lookup]
