import asyncio
import contextlib
import sys
from types import SimpleNamespace

import msgspec
import pytest

from benches.common import generators, servers, turns
from benches.common.part import DnsBench, Spread, verdict
from benches.common.progress import Progress, estimate_left_s
from benches.dns import clients, cold, load
from resolab.basics.errors import DeadlineError, MachineError, ResolabError
from resolab.basics.protocols import ExchangeSizes
from resolab.basics.records import Record

KDIG = """;; TLS session (TLS1.3)
;; QUESTION SECTION:
;; q00000.many.interop.test. 	IN	A

;; ANSWER SECTION:
q00000.many.interop.test.	300	IN	A	192.0.2.81

;; Received 58 B
;; From 127.0.0.1@8531(TCP) in 4.6 ms

;; QUESTION SECTION:
;; q00001.many.interop.test. 	IN	A

;; Received 58 B
;; From 127.0.0.1@8531(TCP) in 0.1 ms
"""
DIG = """;q00000.many.interop.test.	IN	A
;; Query time: 2285 usec
;q00001.many.interop.test.	IN	A
q00001.many.interop.test. 300	IN	A	192.0.2.81
;; Query time: 117 usec
"""
DNSPERF = """DNS Performance Testing Tool
> NOERROR q00000.many.interop.test A 0.000166
> NOERROR q00001.many.interop.test A 0.000019
Statistics:
"""


@pytest.mark.parametrize(
    ("program", "text", "us"), [("kdig", KDIG, 100.0), ("dig", DIG, 117.0), ("dnsperf", DNSPERF, 19.0)]
)
def test_what_others_print_is_read_without_the_first_query(program, text, us):
    answers = clients.READERS[program](clients.Answers(0), text, 0)
    assert answers.names == ["q00001.many.interop.test"]
    assert answers.reported_us == {"printed": [pytest.approx(us)]}


def record(**changes):
    plain = {
        "record": "query", "dns_transport": "doudp", "resolver": "udp://127.0.0.1", "resolver_address": "127.0.0.1:53",
        "bootstrap": "given", "qname": "q00001.many.interop.test.", "qtype": "A", "purpose": "measured", "sequence": 1,
        "time_origin_ns": 1_000_000, "query_exchange_start_ns": 2_000, "query_exchange_end_ns": 32_000, "query_bytes": 53,
        "response_bytes": 69, "attempt_count": 1, "addresses": [],
    }  # fmt: skip
    return msgspec.json.encode(plain | changes).decode()


def test_our_records_give_both_times_and_their_windows():
    text = "\n".join([record(sequence=0), record(kernel_transmit_ns=6_000, kernel_receive_ns=25_500)])
    answers = clients.READERS["resolab-core"](clients.Answers(0), text, 7_000_000)
    assert answers.reported_us == {"user space": [30.0], "kernel stamps": [19.5]}
    (window,) = answers.windows
    assert window.start_ns == 8_002_000 - clients.SLACK_NS
    assert (window.end_ns, window.query_bytes, window.response_bytes) == (8_032_000 + clients.SLACK_NS, 53, 69)


def test_on_a_connection_the_kernels_stamp_is_the_end_of_what_is_reported():
    text = record(dns_transport="doq", resolver="quic://127.0.0.1", kernel_receive_ns=25_500)
    answers = clients.READERS["resolab-core"](clients.Answers(0), text, 0)
    assert answers.reported_us == {"user space": [30.0], "kernel receive": [23.5]}


def test_stamps_that_only_some_queries_have_are_not_compared():
    text = "\n".join([record(kernel_receive_ns=25_500), record(sequence=2)])
    with pytest.raises(ResolabError, match="only 1 of 2 queries have kernel receive"):
        clients.READERS["resolab-core"](clients.Answers(0), text, 0)


def test_a_failed_query_ends_the_measurement():
    with pytest.raises(ResolabError, match="query_timeout"):
        clients.READERS["resolab-core"](clients.Answers(0), record(failure="query_timeout", response_bytes=None), 0)


def test_a_spread_has_all_values_median_and_the_rounds_medians():
    spread = Spread.from_rounds([[1.0, 2.0, 3.0], [], [11.0, 12.0, 13.0]])
    assert (spread.count, spread.median, spread.lowest, spread.highest) == (6, 7.0, 2.0, 12.0)
    assert spread.text(1) == "7.0 [2.0..12.0]"
    with pytest.raises(ValueError, match="no values"):
        Spread.from_rounds([[], []])


def test_ratios_are_of_the_same_round():
    ours = [generators.GeneratorRun(1, 0, cpu_us) for cpu_us in (1.0, 4.0, 3.0)]
    theirs = [generators.GeneratorRun(1, 0, cpu_us) for cpu_us in (2.0, 4.0, 10.0)]
    spread = load.ratios(ours, theirs)
    assert (spread.median, spread.lowest, spread.highest) == (0.5, 0.3, 1.0)
    with pytest.raises(ValueError, match="shorter"):
        load.ratios(ours, theirs[:2])


def test_every_other_round_goes_the_other_way_so_that_a_steady_drift_falls_on_all_alike():
    orders = [turns.order_arms(["a", "b", "c"], number) for number in range(4)]
    assert orders[:3] == [["a", "b", "c"], ["c", "b", "a"], ["a", "b", "c"]]
    places = [arm for order in orders for arm in order]
    assert len({sum(at for at, arm in enumerate(places) if arm == one) for one in "abc"}) == 1


def test_verdicts():
    assert [verdict(value, 0.6, 0.5) for value in (0.5, 0.6, 0.61, None)] == ["aim met", "met", "MISSED", "MISSED"]
    assert verdict(99.0, None) == ""


def test_processor_time_is_that_of_the_child(tmp_path):
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint('done')"
    text, busy_s = generators.run_timed([sys.executable, "-c", busy], tmp_path / "out")
    _, idle_s = generators.run_timed([sys.executable, "-c", "import time; time.sleep(0.3)"], tmp_path / "out")
    assert text == "done\n"
    assert busy_s >= 0.3
    assert idle_s < busy_s


def test_a_load_generator_that_fails_or_hangs_is_said(tmp_path, monkeypatch):
    with pytest.raises(ResolabError, match="exit code 3: no such thing"):
        generators.run_timed(["sh", "-c", "echo no such thing >&2; exit 3"], tmp_path / "out")
    monkeypatch.setattr(generators, "PATIENCE_S", 0.2 - generators.RUN_S)
    with pytest.raises(DeadlineError):
        generators.run_timed(["sleep", "30"], tmp_path / "out")


def test_a_missing_program_is_named_with_what_to_do():
    with pytest.raises(MachineError, match=r"no-such-program not on this machine: run scripts/setup --interop"):
        servers.require_programs("sh", "no-such-program")


def test_what_is_left_follows_how_the_estimate_has_held():
    assert estimate_left_s(0.0, 0.0, 100.0) == 100.0
    assert estimate_left_s(20.0, 10.0, 100.0) == pytest.approx(180.0)
    assert estimate_left_s(300.0, 100.0, 100.0) == 0.0


def test_the_cold_part_foresees_the_hour_it_takes(tmp_path):
    bench = DnsBench(False, tmp_path, Progress(0.0), 200, 200, cold.PROFILES, cold.TRANSPORTS, cold.HANDSHAKES)
    assert 4_500 < cold.estimate_s(bench) < 9_000
    quick = DnsBench(True, tmp_path, Progress(0.0), 10, 10, ["fiber"], ["doudp"], ["full"])
    assert cold.estimate_s(quick) < 5


def test_cells_and_pauses():
    assert cold.cells(["doudp", "dot"]) == {"full": ["doudp", "dot"], "resumed": ["dot"], "zero_rtt": ["dot"]}
    assert cold.cells(["dotcp"]) == {"full": ["dotcp"]}
    assert cold.cells(["doudp", "dot"], ["zero_rtt"]) == {"zero_rtt": ["dot"]}
    # 2,500 bytes at 0.842 Mbit/s.
    assert cold.pause_ms("dsl") == 34
    assert cold.pause_ms("fiber") == 11


TIME = {"query_response_time_ns": 16_000_000}
QUERY = msgspec.json.Decoder(Record)


def cold_part(tmp_path, monkeypatch, fell_back_count, *, asleep_fell_back_count=0):
    """Part and rows of 40 exchanges in early data with keep-awake and 40 without, of which so many fell back."""
    bench = DnsBench(True, tmp_path, Progress(0.0), 40, 40, ["fiber"], ["doq"], ["zero_rtt"])
    fell_back = {True: fell_back_count, False: asleep_fell_back_count}

    @contextlib.asynccontextmanager
    async def testbed(*_, keep_awake, **__):
        async def ask(handshake, transports, count):
            modes = ["resumed"] * fell_back[keep_awake] + [handshake] * (count - fell_back[keep_awake])
            return [QUERY.decode(record(dns_transport="doq", handshake_mode=mode, **TIME)) for mode in modes]

        yield SimpleNamespace(ask=ask)

    monkeypatch.setattr(cold, "make_testbed", testbed)
    sizes = ExchangeSizes(128, 468, 1_595, 1_184, None, 2, 2)
    captured = cold.CriticalPathTable(1, 2_456.0, 3_150.0, [], sizes)
    measured = cold.ProfileMeasurement("fiber", cold.THIS, {("doq", "zero_rtt"): captured})
    for keep_awake in (True, False):
        asyncio.run(cold._round(bench, measured, "core", 40, keep_awake=keep_awake))
    part = cold._part(bench)
    cold._add(part, measured, bench)
    return part


def test_cold_exchanges_that_fell_back_are_left_out_and_said(tmp_path, monkeypatch):
    whole, few = cold_part(tmp_path, monkeypatch, 0), cold_part(tmp_path, monkeypatch, 2)
    assert [part.rows[0][7] for part in (whole, few)] == ["40", "38 of 40"]
    assert [part.rows[0][-1] for part in (whole, few)] == ["met", "met"]
    assert few.data[0]["not_as_asked_count"] == 2


@pytest.mark.parametrize(("awake", "asleep", "shown"), [(3, 0, ("37 of 40", "40")), (0, 30, ("40", "10 of 40"))])
def test_a_cell_of_which_more_fell_back_is_missed_however_good_the_rest(tmp_path, monkeypatch, awake, asleep, shown):
    part = cold_part(tmp_path, monkeypatch, awake, asleep_fell_back_count=asleep)
    assert (part.rows[0][7], part.rows[0][11], part.rows[0][-1]) == (*shown, "MISSED")
    assert part.missed_count == 1


def test_a_cell_without_any_exchange_left_is_missed(tmp_path, monkeypatch):
    for awake, asleep in ((40, 0), (0, 40)):
        part = cold_part(tmp_path, monkeypatch, awake, asleep_fell_back_count=asleep)
        assert (part.rows, part.missed_count) == ([], 1)
