"""`resolab query` against an edge on loopback: six transports side by side, from records to the table."""

import json
import os
import re
import subprocess

import pytest
from lab import resolab

from resolab.cli.query.arguments import PASSED
from resolab.lab.engine import find_core

HOST = "dns.resolab.test"
NAME = "example.resolab.test"
CONFIGURATION = """
[ca]
folder = "ca"
[resolver]
name = "{host}"
addresses = ["{address}"]
ports = {{ do53 = 5353, dot = 8853, doh = 8443, doh3 = 8443, doq = 8853 }}
origins = ["resolab.test"]
[[zone]]
name = "{name}"
type = "A"
value = "192.0.2.7"
ttl_s = 300
"""


@pytest.fixture(scope="module")
def edge(tmp_path_factory):
    """Arguments that name its resolvers, the first over UDP."""
    folder = tmp_path_factory.mktemp("edge")
    address = f"127.200.{os.getpid() >> 8 & 0xFF}.{os.getpid() & 0xFF or 1}"
    (folder / "edge.toml").write_text(CONFIGURATION.format(host=HOST, address=address, name=NAME))
    process = subprocess.Popen(
        [find_core(), "edge", "--config", folder / "edge.toml"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert json.loads(process.stdout.readline())["record"] == "start"
    assert json.loads(process.stdout.readline())["record"] == "edge_ready"
    do53 = [f"-r{scheme}://{address}:5353" for scheme in ("udp", "tcp")]
    encrypted = [("tls", 8853), ("https", 8443), ("h3", 8443), ("quic", 8853)]
    yield [
        *do53, *(f"-r{scheme}://{HOST}:{port}" for scheme, port in encrypted),
        "--ca", folder / "ca" / "ca.pem", "--resolve", f"{HOST}={address}",
    ]  # fmt: skip
    process.communicate()
    assert process.returncode == 0


NUMBER = re.compile(r"\d+\.\d+")
INTERVAL = re.compile(r"\[([+-]?[\d.]+), ([+-]?[\d.]+)\]( ~)?")


def query(*arguments, **more):
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    return resolab("query", NAME, *arguments, env=environment, timeout_s=120, **more)


def rows(ended):
    assert ended.returncode == 0, ended.stderr
    return [line.split() for line in ended.stdout.splitlines() if "://" in line]


def test_six_transports_answer_side_by_side(edge):
    found = rows(query(*edge))
    assert [one[6].partition("://")[0] for one in found] == ["udp", "tcp", "tls", "https", "h3", "quic"]
    for row in found:
        assert row[:4] == [f"{NAME}.", "A", "NOERROR", "192.0.2.7"]
        # Times, then the bar, which says its phases where it is too short for them: letters and milliseconds in turn.
        first = next(place for place, word in enumerate(row) if NUMBER.fullmatch(word))
        bar = next(place for place in range(first, len(row)) if not NUMBER.fullmatch(row[place]))
        assert all(float(time) > 0 for time in row[first:bar])
        assert set(row[bar]) <= set("ctqx-")
        assert set(row[bar + 1 :: 2]) <= set("ctqx-")
        assert all(NUMBER.fullmatch(word) for word in row[bar + 2 :: 2])


def test_rounds_are_compared_and_a_difference_that_may_be_none_is_marked(edge):
    ended = query(*edge, "--count", "20", "--handshake", "zero_rtt")
    found = {row[0].partition("://")[0]: " ".join(row) for row in rows(ended)}
    assert [row.split()[1] for row in found.values()] == ["doudp", "dotcp", "dot", "doh", "doh3", "doq"]
    assert all(" 20 " in row for row in found.values())
    assert "zero_rtt" in found["quic"]
    differences = {name: INTERVAL.search(row) for name, row in found.items()}
    assert [name for name, one in differences.items() if one is None] == ["udp"]  # the one the others are compared with
    for name, one in differences.items():
        if one is not None:
            low, high = float(one[1]), float(one[2])
            assert low <= high
            assert bool(one[3]) == (low <= 0 <= high), found[name]


def test_records_are_whole_and_a_warm_connection_is_opened_once(edge):
    ended = query(*edge, "--count", "4", "--connection", "warm", "--json")
    assert ended.returncode == 0, ended.stderr
    records = [json.loads(line) for line in ended.stdout.splitlines()]
    assert records[0]["record"] == "start"
    queries = [one for one in records if one["record"] == "query"]
    quic = [one for one in queries if one["dns_transport"] == "doq"]
    assert [one["connection"] for one in quic] == ["cold", "warm", "warm", "warm"]
    assert all(one["failure"] is None for one in queries)
    # The queries that opened connections stand apart.
    summed = [(one["dns_transport"], one["opening"], one["queries_count"]) for one in records[1 + len(queries) :]]
    assert {("doq", True, 1), ("doq", False, 3)} <= set(summed)


def test_a_dead_resolver_is_a_row_and_no_error(edge):
    ended = query(*edge[:1], "-r", "udp://127.0.0.1:9", "--count", "2")
    assert ended.returncode == 0
    assert "2 x query_refused" in ended.stdout
    assert ended.stderr == ""


def test_resolab_core_takes_whatever_is_passed_on():
    usage = subprocess.run([find_core(), "query", "--help"], capture_output=True, text=True, check=True).stdout
    taken = {word.strip(",") for word in usage.split() if word.startswith("--")}
    assert {f"--{name.replace('_', '-')}" for name in ("count", "timeout_ms", "connection", *PASSED)} <= taken


def test_a_stub_forwards_each_query_on_a_connection_of_its_own(edge):
    upstream = next(one for one in edge if one.startswith("-rquic://")).removeprefix("-r")
    stub = subprocess.Popen(
        [find_core(), "stub", "--listen", "127.0.0.1:0", "--upstream", upstream, *edge[-4:], "--connection", "cold",
         "--deadline-ms", "3000", "--ecs", "192.0.2.0/24"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert json.loads(stub.stdout.readline())["record"] == "start"
    listening = json.loads(stub.stdout.readline())["listen_address"]
    (row,) = rows(query(f"@{listening}", "--count", "3"))
    assert row[:3] == [f"udp://{listening}", "doudp", "3"]
    written, _ = stub.communicate(timeout=20)
    assert stub.returncode == 0
    forwarded = [json.loads(line) for line in written.splitlines()]
    assert [one["purpose"] for one in forwarded] == ["forwarded"] * 3
    assert {(one["connection"], one["ecs_sent"], one["failure"]) for one in forwarded} == {
        ("cold", "192.0.2.0/24", None)
    }
