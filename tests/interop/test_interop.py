"""Every transport and handshake mode of our client against servers of other makers."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from lab import ROOT
from real_servers import ENCRYPTED, HANDSHAKES, NAMES, START, ask, running

from resolab.lab.engine import find_core

ALPN = {"doh": "h2", "doh3": "h3", "doq": "doq"}
SELECTS_DOT = {"bind9", "kresd", "dnsdist"}  # the others know no such protocol and select none
PADS = {("unbound", "dot"), ("bind9", "dot"), ("bind9", "doh"), ("kresd", "dot"), ("kresd", "doh")}
ACCEPTS_EARLY_DATA = {("coredns", "doh3"), ("coredns", "doq")}
CUTS_STREAMS = ACCEPTS_EARLY_DATA  # to the EDNS payload size, which is about datagrams (RFC 6891 section 6.2.3)
WHOLE = ("--edns-payload", "4096")
BIG_ADDRESSES_COUNT = 90

EVERY = [(server, transport) for server in NAMES for transport in ("doudp", "dotcp", *ENCRYPTED[server])]
EVERY_ENCRYPTED = [(server, transport) for server in NAMES for transport in ENCRYPTED[server]]
# knot-resolver leaves a TLS session some ten seconds, whatever it is told
LEAVES_IDLE = {("kresd", "dot"), ("kresd", "doh")}
CLOSES_IDLE = [pair for pair in EVERY if pair[1] != "doudp" and pair not in LEAVES_IDLE]
EVERY_DOH = [pair for pair in EVERY_ENCRYPTED if pair[1] in {"doh", "doh3"}]


def each(pairs):
    return pytest.mark.parametrize(("server", "transport"), pairs, ids=["-".join(pair) for pair in pairs])


@pytest.fixture(scope="module")
def servers():
    with running(*NAMES) as started:
        yield started


def succeeded(record):
    assert (record["rcode"], record["failure"]) == ("NOERROR", None), record
    assert record["query_response_time_ns"] > 0
    assert record["certificate_checked"] is (None if record["dns_transport"] in {"doudp", "dotcp"} else True)
    return record


def handshake_expected(server, transport, asked):
    """What must come of it: early data where the server takes it, a ticket used where it does not."""
    if asked == "zero_rtt" and (server, transport) not in ACCEPTS_EARLY_DATA:
        return "resumed"
    return asked


def judge_handshake(record, server, transport, asked):
    assert (record["dns_transport"], record["requested_handshake_mode"]) == (transport, asked)
    assert record["handshake_mode"] == handshake_expected(server, transport, asked), record
    sent_early = record["handshake_mode"] == "zero_rtt"
    assert record["early_data_accepted"] == (True if sent_early else None), record
    assert record["tls_version"] == "TLSv1_3"
    assert record["cipher_suite"].startswith("TLS_AES_")
    assert record["alpn"] == ALPN.get(transport, "dot" if server in SELECTS_DOT else None)


@pytest.mark.parametrize("transport", ["doudp", "dotcp"])
@pytest.mark.parametrize("server", NAMES)
def test_plain_dns_is_answered(servers, server, transport):
    (record,) = ask(servers[server], transport)
    assert succeeded(record)["addresses"] == ["192.0.2.80"]
    assert (record["attempt_count"], record["truncated"], record["handshake_mode"]) == (1, False, None)
    assert (record["tcp_connect_start_ns"] is not None) == (transport == "dotcp")


@pytest.mark.parametrize("handshake", HANDSHAKES)
@each(EVERY_ENCRYPTED)
def test_every_handshake_is_what_the_server_offers(servers, server, transport, handshake):
    (record,) = ask(servers[server], transport, "--handshake", handshake)
    assert succeeded(record)["addresses"] == ["192.0.2.80"]
    judge_handshake(record, server, transport, handshake)
    assert (record["connection"], record["ttl_s"]) == ("cold", 300)


@pytest.mark.parametrize("handshake", ["full", "zero_rtt"])
@each(EVERY_DOH)
def test_doh_by_get(servers, server, transport, handshake):
    (record,) = ask(servers[server], transport, "--doh-method", "get", "--handshake", handshake)
    assert succeeded(record)["addresses"] == ["192.0.2.80"]
    judge_handshake(record, server, transport, handshake)


@each(EVERY)
def test_a_warm_connection_carries_many_queries_and_names(servers, server, transport):
    names = ("www.interop.test", "absent.interop.test", "big.interop.test")
    records = ask(servers[server], transport, "--connection", "warm", "--count", "2", *WHOLE, names=names)
    assert [record["rcode"] for record in records] == ["NOERROR", "NXDOMAIN", "NOERROR"] * 2
    assert [len(record["addresses"]) for record in records] == [1, 0, BIG_ADDRESSES_COUNT] * 2
    assert {record["failure"] for record in records} == {None}
    states = [None] * 6 if transport == "doudp" else ["cold"] + ["warm"] * 5
    assert [record["connection"] for record in records] == states
    positions = [None] * 6 if transport == "doudp" else list(range(6))
    assert [record["connection_query_index"] for record in records] == positions


@each(EVERY)
def test_pipelined_queries_get_their_own_answers(servers, server, transport):
    # knot-resolver refuses a stream while the body of another's request is on its way, so it is asked by GET
    method = ("--doh-method", "get") if (server, transport) == ("kresd", "doh") else ()
    names = ("www.interop.test", "absent.interop.test")
    options = ("--connection", "warm", "--outstanding", "8", "--count", "12", *method)
    records = ask(servers[server], transport, *options, names=names)
    got = {(record["qname"], record["rcode"], *record["addresses"]) for record in records}
    assert got == {("www.interop.test.", "NOERROR", "192.0.2.80"), ("absent.interop.test.", "NXDOMAIN")}
    assert sorted(record["sequence"] for record in records) == list(range(24))
    if transport != "doudp":
        assert 1 <= max(record["outstanding_count"] for record in records) <= 7
        assert sorted(record["connection_query_index"] for record in records) == list(range(24))


def test_a_refused_stream_is_a_failure_of_its_own(servers):
    """What knot-resolver does with requests whose bodies come interleaved; a new connection is not needed for the others."""
    records = ask(servers["kresd"], "doh", "--connection", "warm", "--outstanding", "8", "--count", "12")
    failed = [record for record in records if record["failure"] is not None]
    assert {record["failure"] for record in failed} <= {"http_protocol"}
    assert all("refused stream" in record["failure_detail"] for record in failed)
    assert {record["rcode"] for record in records if record["failure"] is None} == {"NOERROR"}


@each(EVERY)
def test_types_asked_together_as_a_browser_does(servers, server, transport):
    types = ("--type", "A", "--type", "AAAA", "--type", "HTTPS", "--together")
    method = ("--doh-method", "get") if (server, transport) == ("kresd", "doh") else ()
    records = ask(servers[server], transport, *types, *method)
    got = {record["qtype"]: (record["rcode"], record["answer_count"], record["addresses"]) for record in records}
    assert got == {
        "A": ("NOERROR", 1, ["192.0.2.80"]), "AAAA": ("NOERROR", 1, ["2001:db8::80"]), "HTTPS": ("NOERROR", 1, []),
    }  # fmt: skip
    assert {record["group_sequence"] for record in records} == {0}


@pytest.mark.parametrize(("qtype", "addresses"), [("AAAA", ["2001:db8::80"]), ("HTTPS", []), ("TYPE65", [])])
@each([(server, "doudp") for server in NAMES] + [(server, ENCRYPTED[server][-1]) for server in NAMES])
def test_other_types(servers, server, transport, qtype, addresses):
    (record,) = ask(servers[server], transport, "--type", qtype)
    assert (succeeded(record)["addresses"], record["answer_count"]) == (addresses, 1)


@pytest.mark.parametrize("server", NAMES)
def test_a_truncated_answer_is_fetched_over_tcp(servers, server):
    (record,) = ask(servers[server], "doudp", names=["big.interop.test"])
    assert len(set(succeeded(record)["addresses"])) == BIG_ADDRESSES_COUNT
    assert record["tcp_connect_start_ns"] is not None
    assert record["attempt_count"] == 2


@each(sorted(CUTS_STREAMS))
def test_an_answer_cut_on_a_stream_is_a_failure_of_its_own(servers, server, transport):
    (record,) = ask(servers[server], transport, names=["big.interop.test"])
    assert (record["failure"], record["truncated"]) == ("query_truncated", True), record
    assert 0 < len(record["addresses"]) < BIG_ADDRESSES_COUNT


@pytest.mark.parametrize("server", NAMES)
def test_a_foreign_name_is_refused(servers, server):
    (record,) = ask(servers[server], "doudp", names=["example.org"])
    assert (record["rcode"], record["failure"], record["query_response_time_ns"]) == ("REFUSED", "dns_rcode", None)


@each(EVERY_ENCRYPTED)
def test_padding_is_answered_in_kind_where_the_server_pads(servers, server, transport):
    (record,) = ask(servers[server], transport)
    assert record["query_bytes"] % 128 == 0
    assert (record["response_bytes"] % 468 == 0) == ((server, transport) in PADS), record["response_bytes"]


@pytest.mark.parametrize("server", NAMES)
def test_cookies_where_the_server_has_them(servers, server):
    records = ask(servers[server], "doudp", "--cookie", "--count", "2")
    seen = [(succeeded(record)["cookie_sent"], record["cookie_received"]) for record in records]
    if server == "bind9":
        assert seen == [("client_only", "server"), ("server", "server")]
    else:
        assert seen == [("client_only", "none")] * 2


@each(EVERY_ENCRYPTED)
def test_a_certificate_of_another_authority_is_refused(servers, server, transport):
    other = servers["kresd" if server == "unbound" else "unbound"]
    trust = ["--ca", other.ca, "--resolve", f"{other.name}={other.address}"]
    (record,) = ask(servers[server], transport, trust=trust)
    assert (record["failure"], record["addresses"]) == ("tls_certificate_invalid", [])


@contextlib.contextmanager
def stub_before(server, transport):
    """A stub with the server upstream: its process and its address."""
    command = [find_core(), "stub", "--listen", "127.0.0.1:0", "--upstream", server.url(transport), *server.trust()]
    pipe = subprocess.PIPE
    stub = subprocess.Popen([*command, "--handshake", "zero_rtt"], stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    try:
        json.loads(stub.stdout.readline())
        yield stub, json.loads(stub.stdout.readline())["listen_address"]
    finally:
        stub.kill()
        stub.communicate()


def records_until(stub, last):
    """Its records up to the first of a kind."""
    records = []
    while not records or records[-1]["record"] != last:
        records.append(json.loads(stub.stdout.readline()))
    return records


def ask_plainly(address, *names):
    command = [find_core(), "query", "--resolver", f"udp://{address}", *WHOLE, *names]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()][1:]


@each(EVERY_ENCRYPTED)
def test_the_stub_forwards_to_it_and_comes_back_with_its_ticket(servers, server, transport):
    with stub_before(servers[server], transport) as (stub, address):
        got = ask_plainly(address, "www.interop.test", "absent.interop.test", "www.interop.test")
        stub.stdin.write('{"command":"close_connections","id":1,"forget_tickets":false}\n')
        stub.stdin.flush()
        first = records_until(stub, "command_done")[:-1]
        got += ask_plainly(address, "www.interop.test")
        (again,) = records_until(stub, "query")
    assert [record["rcode"] for record in got] == ["NOERROR", "NXDOMAIN", "NOERROR", "NOERROR"]
    assert [record["addresses"] for record in got] == [["192.0.2.80"], [], ["192.0.2.80"], ["192.0.2.80"]]
    states = [(record["purpose"], record["connection"], record["handshake_mode"]) for record in first]
    assert states == [("forwarded", "cold", "full")] + [("forwarded", "warm", "full")] * 2
    assert again["connection"] == "cold"
    judge_handshake(again, server, transport, "zero_rtt")


@pytest.fixture(scope="module")
def after_a_pause():
    """Two queries to each server that closes idle connections after a second, with a longer pause between them."""
    options = ("--connection", "warm", "--count", "2", "--interval-ms", "2500")
    with running(*NAMES, arguments=("--idle-s", "1")) as impatient, ThreadPoolExecutor(len(CLOSES_IDLE)) as pool:
        asked = [pool.submit(ask, impatient[server], transport, *options) for server, transport in CLOSES_IDLE]
        yield dict(zip(CLOSES_IDLE, [future.result() for future in asked], strict=True))


@each(CLOSES_IDLE)
def test_an_idle_connection_the_server_closes_is_opened_again(after_a_pause, server, transport):
    records = after_a_pause[server, transport]
    assert [(record["rcode"], record["failure"]) for record in records] == [("NOERROR", None)] * 2
    assert [record["connection"] for record in records] == ["cold", "cold"]
    assert [record["previous_connection_end"] for record in records] == [None, "peer_closed"]


def test_a_server_that_is_not_there_is_one_loud_line(tmp_path):
    shutil.copytree(ROOT / "interop", tmp_path / "interop")  # away from .setup/bin
    ended = subprocess.run(
        [sys.executable, tmp_path / "interop" / START.name, "coredns"], env={**os.environ, "PATH": "/usr/bin"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False,
    )  # fmt: skip
    assert ended.returncode == 4
    assert ended.stderr == (
        "interop: failed to start coredns: coredns is not on this machine; scripts/setup --interop installs it\n"
    )
