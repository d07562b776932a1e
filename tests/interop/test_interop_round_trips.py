"""Round trips of cold exchanges with real servers over an emulated path; early data accepted and early data answered."""

import contextlib
import math
import statistics
from concurrent.futures import ThreadPoolExecutor

import pytest
from real_servers import ENCRYPTED, HANDSHAKES, NAMES, Server, ask, core_program, running

from resolab.lab.engine import enter_prefix, find_core

pytestmark = [pytest.mark.privileged]

# Half of the round trip is what hosts and machine may add to most exchanges of a cell; below the second after which a SYN is sent again.
PROFILE = """
name = "far"
source = "a test"
[up]
one_way_delay_ms = 150
[down]
one_way_delay_ms = 150
"""
ADDRESS = "10.77.0.1"
COUNT = 3
PLAIN = [(server, transport, "full") for server in NAMES for transport in ("doudp", "dotcp")]
SECURE = [(server, transport, mode) for server in NAMES for transport in ENCRYPTED[server] for mode in HANDSHAKES]
EDGE_EARLY = [("edge", transport, "zero_rtt") for transport in ("dot", "doh", "doh3", "doq")]
ROUND_TRIPS = {"doudp": 1, "dotcp": 2, "dot": 3, "doh": 3, "doh3": 2, "doq": 2}
ACCEPTS_EARLY_DATA = {("coredns", "doh3"), ("coredns", "doq")} | {pair[:2] for pair in EDGE_EARLY}
ANSWERS_EARLY = ACCEPTS_EARLY_DATA - {("coredns", "doq")}
# Nagle's algorithm holds their first answer back until the session tickets are acknowledged
ACKNOWLEDGED_FIRST = {("unbound", "dot"), ("bind9", "dot")}
DELAYED_ACKNOWLEDGEMENT_NS = 40e6
EDGE = f"""
[ca]
folder = "ca"
[resolver]
name = "dns.resolab.test"
addresses = ["{ADDRESS}"]
origins = ["interop.test"]
[[zone]]
name = "www.interop.test"
type = "A"
value = "192.0.2.80"
"""


@contextlib.contextmanager
def edge(folder, prefix):
    (folder / "edge.toml").write_text(EDGE)
    with core_program(*prefix, find_core(), "edge", "--config", folder / "edge.toml") as (process, _):
        ports = {"dot": 853, "doh": 443, "doh3": 443, "doq": 853}
        yield Server(process, process.pid, "dns.resolab.test", ADDRESS, ports, str(folder / "ca/ca.pem"))


class Exchanges:
    """Cold exchanges with every server."""

    def __init__(self, profile, exchange):
        self.rtt_ns = 1e6 * sum(profile[way]["one_way_delay_ms"] for way in ("up", "down"))
        self.exchange = exchange
        every = PLAIN + SECURE + EDGE_EARLY
        with ThreadPoolExecutor(16) as pool:
            self.records = dict(zip(every, pool.map(exchange, every), strict=True))

    def median(self, cell, quantity):
        """Most exchanges take no more and no less: one round trip too many in every second of them is seen."""
        return statistics.median(record[quantity] for record in self.records[cell])


@pytest.fixture(scope="module")
def exchanges(privileged, tmp_path_factory):
    profile = tmp_path_factory.mktemp("profile") / "far.toml"
    profile.write_text(PROFILE)
    with core_program(find_core(), "path", "--profile", profile) as (_, ready):
        server_host, client_host = (enter_prefix(ready["pid"], host) for host in ("server", "client"))
        with (
            edge(tmp_path_factory.mktemp("edge"), server_host) as ours,
            running(*NAMES, arguments=("--address", ADDRESS), prefix=server_host) as theirs,
        ):
            servers = {"edge": ours, **theirs}

            def exchange(cell):
                server, transport, mode = cell
                options = ("--handshake", mode, "--count", str(COUNT))
                return ask(servers[server], transport, *options, prefix=client_host)

            yield Exchanges(ready["profile"], exchange)


def cells(some):
    return pytest.mark.parametrize(("server", "transport", "mode"), some, ids=["-".join(cell) for cell in some])


def whole(trips):
    """Return the round trips a time has room for: a busy machine adds to them; what a server holds back is known to 5 %."""
    return math.floor(trips + 0.05)


@cells(PLAIN + SECURE + EDGE_EARLY)
def test_a_cold_exchange_takes_its_round_trips(exchanges, server, transport, mode):
    cell, rtt_ns = (server, transport, mode), exchanges.rtt_ns
    round_trips = ROUND_TRIPS[transport] - (mode == "zero_rtt" and (server, transport) in ANSWERS_EARLY)
    held_ns = rtt_ns + DELAYED_ACKNOWLEDGEMENT_NS if (server, transport) in ACKNOWLEDGED_FIRST else 0
    records = exchanges.records[cell]
    for record in records:
        assert (record["failure"], record["addresses"]) == (None, ["192.0.2.80"]), record
    assert whole((exchanges.median(cell, "query_response_time_ns") - held_ns) / rtt_ns) == round_trips, records
    if transport == "doudp":
        assert {record["round_trip_count"] for record in records} == {None}
    else:
        assert whole(exchanges.median(cell, "round_trip_count") - held_ns / rtt_ns) == round_trips, records
        assert min(record["connection_min_rtt_ns"] for record in records) > 0.99 * rtt_ns


@cells([(server, transport, "zero_rtt") for server, transport in sorted(ACCEPTS_EARLY_DATA)])
def test_accepted_and_answered_early_are_told_apart(exchanges, server, transport, mode):
    records = exchanges.records[server, transport, mode]
    for record in records:
        assert (record["handshake_mode"], record["early_data_accepted"]) == ("zero_rtt", True), record
        assert record["query_exchange_start_ns"] < handshake_end_ns(record)
    after_handshake = [record["query_exchange_end_ns"] - handshake_end_ns(record) for record in records]
    is_early = (server, transport) in ANSWERS_EARLY
    assert (statistics.median(after_handshake) < exchanges.rtt_ns / 2) is is_early, after_handshake
    assert statistics.median(record["answered_early"] for record in records) == is_early, records


@cells([cell for cell in SECURE if cell[:2] not in ACCEPTS_EARLY_DATA or cell[2] != "zero_rtt"])
def test_without_accepted_early_data_nothing_is_early(exchanges, server, transport, mode):
    assert {record["answered_early"] for record in exchanges.records[server, transport, mode]} == {None}


def handshake_end_ns(record):
    return record["quic_handshake_end_ns"] or record["tls_handshake_end_ns"]
