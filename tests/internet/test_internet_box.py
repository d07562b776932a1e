"""The internet in a box: real servers answer from home, recursion and caches are real, failures show, nothing stays.

What look-ups take is not judged here: that is `resolab internet check` on a quiet machine.
"""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from lab import ROOT, network_namespaces, wait_until

from resolab.basics.records import QueryRecord
from resolab.extras.internet import Box, ResolverKnowledge, box_folder, compose, read_recursion
from resolab.extras.internet.failures import OPT_OUT_URL
from resolab.extras.internet.server_processes import list_missing_programs
from resolab.extras.internet.truth import knowledge_behind
from resolab.lab.engine import CoreProcess, find_core

pytestmark = pytest.mark.privileged
PAGES = ("calibre-2020-07", "github-2017-02")
ASKED = ("local", "knot", "bind", "quick")
BRIEF_TTL_S = 2
FAILING = ("www.lame-zone.test", "www.servfail-zone.test", "www.no-such-name.test")
STATUSES = {"too-many": "429", "forbidden": "403", "busy": "503"}


class Seen:
    """What was seen of one box."""

    def __init__(self, layout):
        self.layout = layout
        self.look_ups = {}
        self.brief = []
        self.failing = []
        self.silent = []
        self.pages = {}
        self.opt_outs = []
        self.recursion = None
        self.contacts = None
        self.inside = []

    def known(self, record):
        """What the resolver knew, told by what it asked."""
        address = record.resolver_address.rpartition(":")[0]
        end_ns = record.time_origin_ns + record.query_exchange_end_ns
        asked = self.recursion.servers(address, record.qname, record.qtype, record.time_origin_ns, end_ns)
        return knowledge_behind(self.layout, record.qname, asked)


def a_layout(folder):
    layout = compose(folder / "opt-out", PAGES)
    kept = [one for one in layout.resolvers if one.name in {*ASKED, "deaf"}]
    return msgspec.structs.replace(layout, resolvers=tuple(kept))


def brief_name(layout):
    zones = (zone for zone in layout.zones if "-20" in zone.origin)
    return next(record.owner for zone in zones for record in zone.records if record.ttl_s == BRIEF_TTL_S)


def names_of_two_zones(layout):
    found = [zone.records[0].owner for zone in layout.zones if "-20" in zone.origin]
    return [name for name in found if name != brief_name(layout)][:2]


async def query(box, resolvers, names, *arguments):
    records = []

    def keep(record):
        if isinstance(record, QueryRecord):
            records.append(record)

    told = [word for one in resolvers for word in ("--resolver", one)]
    command = [*box.prefix("home"), str(find_core()), "query", *told, "--ca", str(box.authority_file), *arguments]
    process = await CoreProcess.start("query", [*command, *names], keep, environment=box.environment())
    await process.wait(60)
    return records


async def fetch(box, url):
    """Status and body, by curl at home."""
    command = [
        *box.prefix("home"),
        "curl",
        "-sS",
        "-m",
        "15",
        "--cacert",
        str(box.authority_file),
        "-w",
        "\n%{http_code}",
        url,
    ]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, env=box.environment())
    said, _ = await process.communicate()
    body, _, status = said.decode().rpartition("\n")
    return status, body


async def look(folder):
    layout = a_layout(folder)
    seen = Seen(layout)
    async with Box(layout, folder) as box:
        for name in ASKED:
            urls = layout.resolver(name).addresses.values()
            seen.look_ups[name] = await query(box, urls, names_of_two_zones(layout), "--connection", "warm")
        addresses = [layout.resolver(name).address for name in ASKED]
        # resolvers count whole seconds
        for pause_s in (0, 0, BRIEF_TTL_S + 1.2):
            await asyncio.sleep(pause_s)
            seen.brief.append(await query(box, addresses, [brief_name(layout)]))
        seen.failing = await query(box, addresses, FAILING, "--timeout-ms", "8000")
        seen.silent = await query(box, ["quic://dns.deaf.example"], [brief_name(layout)], "--timeout-ms", "1000")
        seen.pages = {name: await fetch(box, f"https://www.{name}.test/") for name in STATUSES}
        seen.pages["page"] = await fetch(box, layout.sites[0].url)
        await opt_out(box, seen)
        seen.inside = [server.pid for server in box.servers]
        seen.recursion = read_recursion(folder)
    seen.contacts = json.loads((folder / "contacts.json").read_text())
    return seen


async def opt_out(box, seen):
    seen.opt_outs.append(await fetch(box, OPT_OUT_URL))
    (box.folder / "opt-out" / "opt-out.txt").write_text("calibre.test\n")
    await asyncio.sleep(1.0)
    seen.opt_outs.append(await fetch(box, OPT_OUT_URL))


@pytest.fixture(scope="module")
def seen(privileged):
    with box_folder(None) as folder:
        layout = a_layout(folder)
        missing = list_missing_programs(Box(layout, folder).programs())
        assert missing == [], "scripts/setup --interop installs them"
        return asyncio.run(look(folder))


def first_asked(seen, name):
    """The first look-up of each name of a resolver, and all later ones."""
    records = seen.look_ups[name]
    first = {}
    for record in records:
        first.setdefault(record.qname, record)
    return list(first.values()), [record for record in records if record not in first.values()]


@pytest.mark.parametrize("name", ASKED)
def test_every_transport_answers_cold_and_warm(seen, name):
    addresses = {record.owner: record.value for zone in seen.layout.zones for record in zone.records}
    asked = set()
    for record in seen.look_ups[name]:
        assert (record.rcode, record.failure) == ("NOERROR", None), record
        assert record.addresses == [addresses[record.qname.rstrip(".")]]
        assert record.certificate_checked in ({None} if record.dns_transport in {"doudp", "dotcp"} else {True})
        asked.add((record.dns_transport.value, record.connection and record.connection.value))
    transports = {one.value for one in seen.layout.resolver(name).transports}
    states = {(one, state) for one in transports - {"doudp"} for state in ("cold", "warm")}
    assert asked == states | {("doudp", None)}


@pytest.mark.parametrize("name", ASKED)
def test_recursion_goes_from_the_root_to_the_zone_and_only_once(seen, name):
    first, later = first_asked(seen, name)
    assert [seen.known(record) for record in first] == [ResolverKnowledge.ROOT, ResolverKnowledge.TOP]
    assert {seen.known(record) for record in later} == {ResolverKnowledge.ANSWER}


def test_caches_keep_an_answer_as_long_as_its_ttl(seen):
    known = [{seen.known(record) for record in records} for records in seen.brief]
    assert known[0] <= {ResolverKnowledge.ZONE, ResolverKnowledge.TOP}
    assert known[1:] == [{ResolverKnowledge.ANSWER}, {ResolverKnowledge.ZONE}]


def test_failures_show_as_what_they_are(seen):
    rcodes = {(record.qname.rstrip("."), record.rcode) for record in seen.failing}
    assert rcodes == {(FAILING[0], "SERVFAIL"), (FAILING[1], "SERVFAIL"), (FAILING[2], "NXDOMAIN")}
    assert [record.failure.value for record in seen.silent] == ["quic_handshake_timeout"]
    assert {name: seen.pages[name][0] for name in STATUSES} == STATUSES
    status, document = seen.pages["page"]
    assert (status, "<html" in document.lower()) == ("200", True)


def test_the_opt_out_list_is_what_its_file_says_now(seen):
    (first, before), (second, after) = seen.opt_outs
    assert (first, second) == ("200", "200")
    assert "calibre.test" not in before
    assert after == "calibre.test\n"


def test_every_contact_is_counted(seen):
    sites = seen.contacts["sites"]
    assert {name: sites[f"{name}.test"]["statuses"] for name in STATUSES} == {
        name: {status: 1} for name, status in STATUSES.items()
    }
    assert len(sites[seen.layout.sites[0].domain]["documents_ns"]) == 1
    from_home = {
        (flow["name"], flow["protocol"], flow["port"]) for flow in seen.contacts["flows"] if flow["source"] == "home"
    }
    assert {("local", "udp", 53), ("knot", "tcp", 853), ("quick", "udp", 853), ("deaf", "udp", 853)} <= from_home
    # Home asks resolvers, not those that they ask.
    assert not {name for name, _, _ in from_home} & {server.host for server in seen.layout.servers}
    assert {*seen.contacts["resolver_queries"]["quick"]} == {"doudp", "dotcp", "dot", "doh", "doh3", "doq"}


def test_no_server_outlives_its_box(seen):
    assert seen.inside
    assert [pid for pid in seen.inside if Path("/proc", str(pid)).exists()] == []


def test_a_killed_box_takes_everything_along(privileged, lab_is_clean):
    before = network_namespaces()
    command = [sys.executable, "-m", "resolab", "internet", "run", "--page", PAGES[0], "--as-user", "nobody"]
    # Its name is not told: whoever is in the box finds out by environment and name server alone.
    asked = ["echo $RESOLAB_BOX $RESOLAB_AUTHORITY", "touch $XDG_STATE_HOME/x; ls $XDG_STATE_HOME", "id -u"]
    inside = "; ".join([*asked, "getent hosts h0.s0-calibre-2020-07.test", "exec sleep 600"])
    box = subprocess.Popen([*command, "--", "sh", "-c", inside], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        told = [box.stdout.readline().split() for _ in range(4)]
        folder = Path(told[0][0])
        assert told[0][1] == str(folder / "ca" / "ca.pem")
        assert (told[1:3], told[3][0][:7]) == ([["x"], ["65534"]], "198.19.")
        assert network_namespaces() > before
    finally:
        os.kill(box.pid, signal.SIGKILL)
        box.wait()
        box.stdout.close()
    wait_until(lambda: network_namespaces() <= before, 10)
    wait_until(lambda: not of_the_box(folder), 10)
    # Files are all that a kill leaves, until the next box or run.
    with box_folder(None):
        assert not folder.exists()


def of_the_box(folder):
    """Processes whose command line names the box's folder."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and bytes(folder) in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found
