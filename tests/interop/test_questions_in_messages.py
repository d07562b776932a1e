"""What servers of other makers, and the edge, do with messages of no question and of several (RFC 9619)."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
from edge_under_test import NAME, SITE, edge_for
from real_servers import ENCRYPTED, NAMES, URLS, running

from resolab.lab.engine import find_core

COUNTS = (0, 2, 5, 20)
ASKED = [f"q{number}.many.interop.test" for number in range(max(COUNTS))]
REFUSED_ONCE = [2] * 3 + [1] * 3
"""Attempts of the questions of two messages: refused once, which is remembered."""
ATTEMPTS = {
    # It may have been the loss of a datagram: the message goes as often as the policy says, each time.
    ("kresd", "doudp"): [3] * 6,
    # What it sends is no DNS message, and is passed over.
    ("dnsdist", "doudp"): [3] * 6,
    # It may have been a restart, on a cold connection.
    ("coredns", "doq"): [2] * 6,
}
WAIT_MS = 1_500
"""For a response; what is dropped takes all of it."""
EVERY = [(server, transport) for server in NAMES for transport in ("doudp", "dotcp", *ENCRYPTED[server])]
REFUSED, BAD_REQUEST = ("FORMERR",) * 4, ("http",) * 4
SILENT, BROKEN = ("SERVFAIL", *("dropped",) * 3), ("NOTIMP", *("malformed",) * 3)
HANDLINGS = (
    {(server, transport): REFUSED for server in ("unbound", "bind9") for transport in ("doudp", "dotcp", "dot", "doh")}
    | {("kresd", transport): SILENT for transport in ("doudp", "dotcp", "dot")}
    | {("kresd", "doh"): ("SERVFAIL", *("http",) * 3)}
    | {("dnsdist", transport): BROKEN for transport in ("doudp", "dotcp", "dot", "doh")}
    | {("coredns", transport): REFUSED for transport in ("doudp", "dotcp", "dot")}
    | {("coredns", transport): BAD_REQUEST for transport in ("doh", "doh3")}
    | {("coredns", "doq"): ("closed",) * 4}
)
"""By count; of an error its response code, or `http` where a status stands for it; `malformed` is no DNS message."""


def probe(url, *trust):
    """Ask a resolver all counts."""
    command = [
        find_core(),
        "probe-questions",
        "--resolver",
        url,
        "--timeout-ms",
        str(WAIT_MS),
        *map(str, trust),
        *ASKED,
    ]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()][1:]


@pytest.fixture(scope="module")
def probed():
    """All servers asked at once: most of it is waiting for those that say nothing."""
    with running(*NAMES) as servers, ThreadPoolExecutor(len(EVERY)) as pool:
        asked = {
            (server, transport): pool.submit(probe, servers[server].url(transport), *servers[server].trust())
            for server, transport in EVERY
        }
        return {pair: future.result() for pair, future in asked.items()}


def word(record):
    if record["handling"] is None:
        assert record["failure"] == "query_malformed", record
        return "malformed"
    if record["handling"] == "error":
        return record["rcode"] or "http"
    return record["handling"]


@pytest.mark.parametrize(("server", "transport"), EVERY, ids=["-".join(pair) for pair in EVERY])
def test_a_servers_handling_is_the_known_one(probed, server, transport):
    records = probed[server, transport]
    assert [record["question_count"] for record in records] == list(COUNTS)
    assert {record["dns_transport"] for record in records} == {transport}
    assert tuple(map(word, records)) == HANDLINGS[server, transport], records


@pytest.mark.parametrize("transport", URLS)
def test_the_edge_takes_one_question(tmp_path, transport):
    with edge_for(tmp_path) as edge:
        scheme, _, path = URLS[transport]
        url = f"{scheme}://{NAME}:{edge.port(transport)}{path}"
        records = probe(url, "--ca", edge.ca, "--resolve", f"{NAME}={edge.address}")
    assert [word(record) for record in records] == ["FORMERR"] * len(COUNTS)
    assert [record["answered_count"] for record in records] == [0] * len(COUNTS)


@pytest.fixture(scope="module")
def asked_in_one_message():
    """Three questions in a message, to all servers at once."""
    with running(*NAMES) as servers, ThreadPoolExecutor(len(EVERY)) as pool:
        asked = {
            (server, transport): pool.submit(ask_at_once, servers[server], transport) for server, transport in EVERY
        }
        return {pair: future.result() for pair, future in asked.items()}


def ask_at_once(server, transport):
    """By GET, as knot-resolver takes one POST at a time; over DoUDP with a retry long before the deadline."""
    soon = ("--udp-timeout-ms", "500", "--udp-try-count", "2")
    return ask(server.url(transport), *server.trust(), "--doh-method", "get", *soon, *ASKED[:3])


def ask(url, *arguments):
    """Ask questions in one message, as a client that takes partial responses, twice."""
    command = [find_core(), "query", "--resolver", url, "--questions-per-message", "3", "--count", "2"]
    ended = subprocess.run([*command, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in ended.stdout.splitlines()][1:]


@pytest.mark.parametrize(("server", "transport"), EVERY, ids=["-".join(pair) for pair in EVERY])
def test_who_does_not_know_partial_responses_is_asked_one_by_one(asked_in_one_message, server, transport):
    records = asked_in_one_message[server, transport]
    assert [record["failure"] for record in records] == [None] * 6, records
    assert [record["asked_alone"] for record in records] == [True] * 6
    assert [record["message_sequence"] for record in records] == [0] * 3 + [1] * 3
    assert all(record["answer_count"] for record in records)
    assert [record["attempt_count"] for record in records] == ATTEMPTS.get((server, transport), REFUSED_ONCE)


@pytest.mark.parametrize("transport", URLS)
def test_the_edge_gives_partial_responses(tmp_path, transport):
    with edge_for(tmp_path) as edge:
        edge.command("set_name_behaviour", name=SITE, delay_ms=200)
        scheme, _, path = URLS[transport]
        url = f"{scheme}://{NAME}:{edge.port(transport)}{path}"
        records = ask(
            url, "--ca", edge.ca, "--resolve", f"{NAME}={edge.address}", "asked.interop.test", SITE, "x.interop.test"
        )
    assert [record["rcode"] for record in records] == ["NOERROR", "NOERROR", "NXDOMAIN"] * 2
    assert [record["partial_response_index"] for record in records] == [0, 1, 0] * 2
    assert [record["asked_alone"] for record in records] == [False] * 6


def test_too_few_names_are_one_line():
    command = [find_core(), "probe-questions", "--resolver", "udp://127.0.0.1", "a.test"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 2
    assert ended.stderr.splitlines() == [
        "resolab-core: failed to ask 20 questions in a message: names and types make 1; give more of them, or --counts"
    ]
