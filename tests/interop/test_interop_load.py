"""The load generator against servers of other makers: every query answered, and with what belongs to it."""

import json
import subprocess

import pytest
from real_servers import ENCRYPTED, NAMES, running

from resolab.lab.engine import find_load

EVERY = [(server, transport) for server in NAMES for transport in ("doudp", "dotcp", *ENCRYPTED[server])]
BY_POST = [(server, "doh") for server in NAMES] + [("coredns", "doh3")]
ASKED = "www.interop.test\nabsent.interop.test AAAA\nwww.interop.test HTTPS\n"
QUERIES_COUNT = 600


@pytest.fixture(scope="module")
def servers():
    with running(*NAMES) as started:
        yield started


@pytest.fixture(scope="module")
def names_file(tmp_path_factory):
    file = tmp_path_factory.mktemp("load") / "names"
    file.write_text(ASKED)
    return file


def put_load(server, transport, names_file, *options):
    """What the generator says in the end: a closed loop, thirty at a time on three connections."""
    command = [
        find_load(),
        "--resolver",
        server.url(transport),
        *server.trust(),
        "--names",
        names_file,
        "--json",
    ]
    command += ["--count", QUERIES_COUNT, "--connections", 3, "--outstanding", 30, *options]
    ended = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


def judge(load):
    assert (load["record"], load["sent_count"], load["completed_count"]) == ("load", QUERIES_COUNT, QUERIES_COUNT), load
    assert load["rcodes"] == {"NOERROR": QUERIES_COUNT * 2 // 3, "NXDOMAIN": QUERIES_COUNT // 3}, load
    wrong = (
        "lost_count",
        "failed_count",
        "truncated_count",
        "alien_count",
        "duplicate_count",
        "handshake_failure_count",
    )
    assert {name: load[name] for name in wrong} == dict.fromkeys(wrong, 0)


@pytest.mark.parametrize(("server", "transport"), EVERY, ids=["-".join(pair) for pair in EVERY])
def test_every_query_of_a_load_is_answered(servers, names_file, server, transport):
    judge(put_load(servers[server], transport, names_file))


@pytest.mark.parametrize(("server", "transport"), BY_POST, ids=["-".join(pair) for pair in BY_POST])
def test_a_load_by_post(servers, names_file, server, transport):
    judge(put_load(servers[server], transport, names_file, "--doh-method", "post", "--edns"))
