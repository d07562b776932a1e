"""What the box's servers are told: complete, without anything left to fill in, and no address given twice."""

import re
import tomllib
from collections import Counter
from pathlib import Path

import dns.zone
import pytest
from made_box import a_layout

from resolab.extras.internet.edges import configure_edges
from resolab.extras.internet.exchange_config import exchange_configuration
from resolab.extras.internet.layout import list_names
from resolab.extras.internet.servers import authoritative, recursive
from resolab.extras.internet.zones import root_hints, zone_file

FOLDER = Path("/nowhere")


def every_program():
    layout = a_layout()
    authorities = [authoritative(layout, server, FOLDER) for server in layout.servers]
    return [*authorities, *(program for one in layout.resolvers for program in recursive(layout, one, FOLDER))]


@pytest.mark.parametrize("program", every_program(), ids=lambda program: program.name)
def test_nothing_is_left_to_fill_in(program):
    left = [re.findall(r"@[A-Z]+@", text) for text in [*program.files.values(), *program.command]]
    assert [words for words in left if words] == []
    configuration = program.files["configuration"]
    assert program.address in configuration
    named = re.findall(
        r'(?:file|zonefile|hints|root_file)[^"\n]*["\'](?:/nowhere/[^/]+/)?([a-z0-9.-]+)["\']', configuration
    )
    missing = {name for name in named if name.endswith((".zone", "hints"))} - {*program.files}
    # The zone of which the server has nothing to say.
    assert missing <= {"servfail-zone.test.zone"}


def test_no_program_shares_name_or_socket():
    programs = every_program()
    assert max(Counter(program.name for program in programs).values()) == 1
    assert max(Counter((program.host, program.address, program.port) for program in programs).values()) == 1


@pytest.mark.parametrize("zone", a_layout().zones, ids=lambda zone: zone.origin or "root")
def test_zones_are_zones_and_refer_to_servers_with_addresses(zone):
    layout = a_layout()
    read = dns.zone.from_text(zone_file(layout, zone), origin=f"{zone.origin}.", relativize=False, check_origin=True)
    servers = {rdata.target for _, _, rdata in read.iterate_rdatas("NS")}
    glued = {name for name, _, _ in read.iterate_rdatas("A")}
    # Each inside what refers to it: else a resolver would have to look up its servers first.
    assert servers
    assert servers <= glued


def test_every_zone_is_referred_to_by_its_parent():
    layout = a_layout()
    referred = {
        str(name).rstrip(".")
        for zone in layout.zones
        for name, _, _ in dns.zone.from_text(
            zone_file(layout, zone), origin=f"{zone.origin}.", relativize=False
        ).iterate_rdatas("NS")
    }
    assert referred == {zone.origin for zone in layout.zones}
    assert layout.server_address("root") in root_hints(layout)


def test_every_name_of_a_page_is_in_a_zone_at_its_site():
    layout = a_layout()
    records = {record.owner: record.value for zone in layout.zones for record in zone.records}
    origins = {origin.host: origin.address for site in layout.sites for origin in site.origins}
    assert len(origins) == len(list_names(layout.sites))
    assert {host: records[host] for host in origins} == origins


def test_the_exchange_knows_each_prefix_once():
    layout = a_layout()
    told = tomllib.loads(exchange_configuration(layout, 7))
    assert told["seed"] == 7
    prefixes = [network["prefix"] for host in told["host"] for network in host["network"]]
    assert len(prefixes) == len({*prefixes})
    assert len(told["host"]) == len(layout.hosts)
    farther = [network for host in told["host"] for network in host["network"] if network["extra_one_way_ms"] > 0]
    assert {host["name"] for host in told["host"] if len(host["network"]) > 1} == {"web"}
    assert len(farther) > 5
    assert told["host"][0] == {
        "name": "home",
        "one_way_ms": 2.0,
        "network": [{"prefix": "198.18.0.1/32", "extra_one_way_ms": 0.0}],
    }


def test_edges_serve_every_name_at_its_address():
    layout = a_layout()
    configured = {name: tomllib.loads(text) for name, (_, text) in configure_edges(layout, FOLDER / "ca").items()}
    assert {*configured} == {"web", "quick"}
    served = {site["host"]: site["address"] for site in configured["web"]["site"]}
    assert served == {origin.host: origin.address for site in layout.sites for origin in site.origins}
    assert configured["quick"]["resolver"]["addresses"] == [layout.resolver("quick").address]
    assert configured["quick"]["resolver"]["forward"]["url"] == "udp://127.0.0.1:5353"


def test_a_domain_of_a_list_leads_to_its_page():
    layout = a_layout()
    site = layout.sites[0]
    origin = next(one for one in site.origins if one.host == site.domain)
    assert origin.table["response"] == [{"path": "/", "status": 302, "location": site.url}]
