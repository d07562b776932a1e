"""Time limits of resolab-core's programs: what is slow within its own limits is measured, not thrown away."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from recorded_queries import FILE

from resolab.basics.errors import DeadlineError
from resolab.basics.records import Failure
from resolab.lab.engine import QueryOptions, ResolverTarget, programs, run_queries
from resolab.lab.engine.process import CoreProcess

QUERY = """#!{python} -S
import sys, time
words = sys.argv
inner_s = int(words[words.index("--timeout-ms") + 1]) / 1000 if "--timeout-ms" in words else 60
for _ in range({queries}):
    time.sleep(inner_s)
    print({line!r}, flush=True)
"""
RESOLVER = ResolverTarget(url="udp://10.77.0.1", name="dns.test", address="10.77.0.1", ca_file=Path("ca.pem"))


@pytest.fixture
def core(tmp_path, monkeypatch):
    """A query client every query of which takes as long as it may."""

    def make(queries):
        line = next(json.loads(line) for line in FILE.read_text().splitlines() if '"record":"query"' in line)
        line |= {"purpose": "measured", "failure": "query_timeout"}
        binary = tmp_path / "resolab-core"
        binary.write_text(QUERY.format(python=sys.executable, queries=queries, line=json.dumps(line)))
        binary.chmod(0o755)
        monkeypatch.setenv("RESOLAB_CORE", str(binary))

    return make


@pytest.mark.parametrize(("resolvers", "names"), [(1, 1), (2, 2)])
def test_queries_that_all_time_out_are_records_and_no_failure_of_the_instrument(core, resolvers, names):
    core(resolvers * names)
    asked = run_queries(1, [RESOLVER] * resolvers, ["a.test"] * names, QueryOptions(timeout_s=0.2))
    records = asyncio.run(asked)
    assert [record.failure for record in records] == [Failure.QUERY_TIMEOUT] * resolvers * names


def test_a_client_that_does_not_end_is_stopped(core, monkeypatch):
    core(50)
    monkeypatch.setattr(programs, "QUERY_PATIENCE_S", 0.2)
    with pytest.raises(DeadlineError, match="did not end"):
        asyncio.run(run_queries(1, [RESOLVER], ["a.test"], QueryOptions(timeout_s=0.1)))


def test_measured_programs_write_no_logs_that_no_record_tells_of(tmp_path, monkeypatch):
    seen = tmp_path / "environment"
    binary = tmp_path / "resolab-core"
    binary.write_text(f"#!/bin/sh\nenv > {seen}\n")
    binary.chmod(0o755)
    monkeypatch.setenv("RESOLAB_CORE", str(binary))
    for name in ("SSLKEYLOGFILE", "QLOGDIR", "KEPT"):
        monkeypatch.setenv(name, str(tmp_path))
    asyncio.run(run_queries(1, [RESOLVER], ["a.test"]))
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert "KEPT" in names
    assert not names & {"SSLKEYLOGFILE", "QLOGDIR"}
    # A plan that asks for keys names the file itself.
    asyncio.run(run_queries(1, [RESOLVER], ["a.test"], key_log_file=tmp_path / "keys"))
    assert f"SSLKEYLOGFILE={tmp_path / 'keys'}" in seen.read_text().splitlines()


def test_a_path_whose_profile_has_thousands_of_changes_is_read(tmp_path, monkeypatch):
    change = {"after_ms": 1.0, "up": {"one_way_delay_ms": 1.0}, "down": {"one_way_delay_ms": 1.0}, "profile": "x" * 300}
    profile = {"name": "x", "source": "test", "up": change["up"], "down": change["down"], "schedule": [change] * 10_000}
    line = {
        "record": "path_ready", "pid": 1, "client_address": "", "server_address": "", "server_network": "", "backend": "tun",
        "profile": profile, "seed": 1, "realtime_scheduling": False, "keep_awake": False, "rootless": False,
    }  # fmt: skip
    lines = tmp_path / "lines"
    lines.write_text(json.dumps(line) + "\n")
    binary = tmp_path / "resolab-core"
    script = f"import sys; print(open({str(lines)!r}).read(), flush=True); sys.stdin.read()"
    binary.write_text(f"#!{sys.executable} -S\n{script}\n")
    binary.chmod(0o755)
    monkeypatch.setenv("RESOLAB_CORE", str(binary))

    async def changes_count():
        path = await programs.Path.start(tmp_path, seed=1, keep_awake=False, on_record=lambda _record: None)
        await path.close()
        return len(path.ready.profile.schedule)

    assert asyncio.run(changes_count()) == 10_000


def test_the_stub_may_wait_for_the_connection_it_is_opening_before_it_closes_it():
    limits = []

    class Process:
        async def command(self, make, timeout_s=CoreProcess.command.__defaults__[0]):
            limits.append(timeout_s)

    asyncio.run(programs.Stub(Process()).close_connections(forget_tickets=True))
    of_a_query_s = 5.0
    assert limits[0] > of_a_query_s + 1
