import contextlib
import subprocess
import sys
import time

import pytest

from benches.common import generators
from benches.common.progress import Progress
from benches.common.servers import EdgeSettings, Server, edge_configuration
from benches.edge import cache, cache_verdict, pages, queries, settings
from benches.edge.bench import EdgeBench, processor_time_s
from benches.edge.queries import CASES, QueriesRun
from resolab.basics.errors import MachineError, ResolabError


def bench(tmp_path, transports=("doudp", "dot", "doh", "doq", "doh3"), *, quick=False):
    return EdgeBench(quick, tmp_path, Progress(0.0), transports)


def test_a_servers_processor_time_is_of_all_its_threads_also_those_that_ended():
    busy = """
import sys, threading, time
def work():
    while time.thread_time() < 0.2: pass
for _ in range(2):
    thread = threading.Thread(target=work); thread.start(); thread.join()
print("done", flush=True); sys.stdin.read()
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", busy], stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        spent_s = processor_time_s(process.pid)
        assert 0.4 <= spent_s < 1.5
        time.sleep(0.3)
        assert processor_time_s(process.pid) - spent_s < 0.1
    with pytest.raises(MachineError, match="cannot be read"):
        processor_time_s(process.pid)


def test_ratios_are_of_the_same_round():
    def runs(*us):
        return [QueriesRun(generators.GeneratorRun(1, 0, 0.0), one) for one in us]

    spread = queries.ratio(runs(1.0, 4.0, 3.0), runs(2.0, 4.0, 10.0))
    assert (spread.median, spread.lowest, spread.highest) == (0.5, 0.3, 1.0)


def test_the_bars_are_the_issues():
    bars = {
        (case.transport, case.peer): (case.must_ratio, case.aim_ratio) for case in CASES if case.generator == "ours"
    }
    assert bars == {
        ("doudp", "dnsdist"): (0.75, None), ("dot", "dnsdist"): (0.5, None), ("doh", "unbound"): (0.6, None),
        ("doq", "coredns"): (0.5, 0.25), ("doh3", "coredns"): (0.5, 0.25),
    }  # fmt: skip


def test_edge_and_peer_are_loaded_in_turn_and_charged_for_their_own_run(tmp_path, monkeypatch):
    clocks = {1: 0.0, 2: 0.0}
    asked = []

    class Server:
        def __init__(self, pid):
            self.pid, self.program = pid, str(pid)

    def generator(_transport, server, _file, _scratch):
        asked.append(server.pid)
        clocks[server.pid] += server.pid * 0.001
        return generators.GeneratorRun(1_000, 0, 0.0)

    monkeypatch.setattr(queries, "processor_time_s", clocks.__getitem__)
    runs = queries.measure_in_turn(
        bench(tmp_path), {"edge": Server(1), "peer": Server(2)}, "doudp", generator, tmp_path
    )
    assert asked == [1, 2, 2, 1, 1, 2, 2, 1, 1, 2]
    assert [run.server_us for run in runs["edge"]] == pytest.approx([1.0] * 5)
    assert [run.server_us for run in runs["peer"]] == pytest.approx([2.0] * 5)


def test_settings_stand_in_the_table_they_belong_to(tmp_path):
    text = edge_configuration(tmp_path, "127.0.0.1", ["a.test"], "none", settings=EdgeSettings(True, True))
    assert 'wire_cache = true\n[records]\nqueries = "count"\n[[zone]]' in text
    assert "wire_cache" not in edge_configuration(tmp_path, "127.0.0.1", ["a.test"], "none")


@pytest.mark.parametrize(("said", "offered"), [(None, True), ("unknown field `wire_cache`, expected", False)])
def test_a_build_without_a_setting_is_told_from_one_that_fails(monkeypatch, said, offered):
    @contextlib.contextmanager
    def running_edge(*_):
        if said:
            raise MachineError(f"the edge did not start: {said}")
        yield

    monkeypatch.setattr(settings, "run_named_edge", running_edge)
    assert settings.offers(EdgeSettings(wire_cache=True)) is offered
    found, remarks = settings.best_settings()
    assert found == (EdgeSettings(True, True) if offered else EdgeSettings())
    assert any(settings.NOT_OFFERED in remark for remark in remarks) is not offered


def test_an_edge_that_fails_for_another_reason_is_an_error(monkeypatch):
    @contextlib.contextmanager
    def running_edge(*_):
        raise MachineError("the edge did not start: the address is in use")
        yield

    monkeypatch.setattr(settings, "run_named_edge", running_edge)
    with pytest.raises(MachineError, match="in use"):
        settings.offers(EdgeSettings(wire_cache=True))


def test_fewer_transports_and_rounds_take_less_time(tmp_path):
    for part in (queries, cache):
        assert part.estimate_s(bench(tmp_path, ["doq"])) < part.estimate_s(bench(tmp_path)) / 2
    assert pages.estimate_s(bench(tmp_path, quick=True)) < pages.estimate_s(bench(tmp_path)) / 2
    assert sum(part.estimate_s(bench(tmp_path, quick=True)) for part in (queries, cache, pages)) < 120


def test_what_came_from_the_cache_is_said_by_the_edge():
    summary = {"record": "edge_summary", "wire_cache": {"hit_ratio": 0.99}}

    def edge(*last):
        return Server("edge", "a.test", "ca.pem", {}, 1, list(last))

    assert cache._hit_ratio(edge({"record": "connection"}, summary)) == 0.99
    for last in ([], [{"record": "edge_summary", "wire_cache": None}]):
        with pytest.raises(ResolabError, match="without saying"):
            cache._hit_ratio(edge(*last))


def test_the_verdicts_margin_is_of_the_median_of_an_even_number_of_rounds():
    def rounds(*us):
        quantiles = [dict.fromkeys(cache_verdict.QUANTILES, one * 1e3) for one in us]
        records = [{"sent_count": 1_000, "query_response_time": each} for each in quantiles]
        return [QueriesRun(generators.GeneratorRun(1_000, 0, 0.0, record), 1.0) for record in records]

    part = cache_verdict._part(6)
    runs = {"on": rounds(1, 2, 3, 5, 6, 7), "off": rounds(10, 20, 30, 50, 60, 70)}
    cache_verdict._add(part, cache_verdict.SHAPES[0], 20_000, runs)
    assert part.rows[0][3] == "40.0"
    assert [one["margin_us"] for one in part.data] == pytest.approx([2.0] * 4)
