"""Early data over an emulated path: accepted is one thing, answered a round trip earlier another."""

import contextlib
import statistics
from concurrent.futures import ThreadPoolExecutor

import pytest
from lab import ROOT
from real_servers import Server, ask, core_program, running

from resolab.engine import enter_prefix, find_core

pytestmark = [pytest.mark.privileged]

PROFILE = ROOT / "profiles/4g.toml"  # a round trip of 92 ms, so that some milliseconds of the hosts do not count
ADDRESS = "10.77.0.1"
COUNT = 5
ANSWERED_EARLY = {  # who, over what, and the round trips of the whole exchange
    ("coredns", "doq"): (False, 2),
    ("coredns", "doh3"): (True, 1),
    ("edge", "doq"): (True, 1),
    ("edge", "doh3"): (True, 1),
}
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
        ports = {"doq": 853, "doh3": 443}
        yield Server(process, process.pid, "dns.resolab.test", ADDRESS, ports, str(folder / "ca/ca.pem"))


@pytest.fixture(scope="module")
def exchanges(privileged, tmp_path_factory):
    """The path's round trip, and the records of each pair of server and transport, all asked at the same time."""
    with core_program(find_core(), "path", "--profile", PROFILE) as (_, ready):
        server_host, client_host = (enter_prefix(ready["pid"], host) for host in ("server", "client"))
        with (
            edge(tmp_path_factory.mktemp("edge"), server_host) as ours,
            running("coredns", arguments=("--address", ADDRESS), prefix=server_host) as theirs,
        ):
            servers = {"edge": ours, **theirs}

            def exchange(pair):
                options = ("--handshake", "zero_rtt", "--count", str(COUNT))
                return ask(servers[pair[0]], pair[1], *options, prefix=client_host)

            with ThreadPoolExecutor() as pool:
                records = dict(zip(ANSWERED_EARLY, pool.map(exchange, ANSWERED_EARLY), strict=True))
        profile = ready["profile"]
    return 1e6 * sum(profile[way]["one_way_delay_ms"] for way in ("up", "down")), records


@pytest.mark.parametrize(("server", "transport"), ANSWERED_EARLY, ids=["-".join(pair) for pair in ANSWERED_EARLY])
def test_accepted_and_answered_early_are_told_apart(exchanges, server, transport):
    rtt_ns, records = exchanges
    is_early, round_trips = ANSWERED_EARLY[server, transport]
    of_pair = records[server, transport]
    assert len(of_pair) == COUNT
    for record in of_pair:
        assert (record["failure"], record["addresses"]) == (None, ["192.0.2.80"]), record
        assert (record["handshake_mode"], record["early_data_accepted"]) == ("zero_rtt", True), record
        assert record["query_exchange_start_ns"] < record["quic_handshake_end_ns"]
    times = [record["query_response_time_ns"] for record in of_pair]
    after_handshake = [record["query_exchange_end_ns"] - record["quic_handshake_end_ns"] for record in of_pair]
    assert round(min(times) / rtt_ns) == round_trips, times  # what hosts and machine add only ever adds
    assert (statistics.median(after_handshake) < rtt_ns / 2) is is_early, after_handshake
