"""Exchanges, end to end without a browser: run, kill, resume, report; times beside the closed form."""

import json
import signal
import subprocess
import time

import duckdb
import pytest
from lab import COMMAND, ROOT, finished, processes_of_the_lab, resolab, wait_until

from resolab.basics.protocols import lookup_round_trips
from resolab.plan import Corpus, load_plan
from resolab.plan.access_link import access_rtt_ms
from resolab.report.findings.oracle import Oracle
from resolab.store import find_finished_trials, open_dataset, read_trial
from resolab.store.outcomes import RESPONSE_TIME

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

PLAN = """
name = "exchanges"
question = "What do handshakes cost?"
kind = "exchange"
seed = 3
blocks = {blocks}
[factors]
page = ["names-4"]
profile = ["4g"]
dns_transport = ["doudp", "dot", "doq"]
dns_connection_state = ["cold", "warm"]
requested_dns_handshake_mode = ["full", "zero_rtt"]
names_count = [1, 4]
question_packing = ["separate", "one_message"]
idle_gap_ms = [0, 120]
[[exclude]]
dns_transport = ["doudp"]
dns_connection_state = ["warm"]
[[exclude]]
dns_transport = ["doudp"]
requested_dns_handshake_mode = ["zero_rtt"]
[[exclude]]
dns_connection_state = ["warm"]
requested_dns_handshake_mode = ["zero_rtt"]
[[exclude]]
dns_connection_state = ["cold"]
idle_gap_ms = [120]
[[exclude]]
dns_connection_state = ["warm"]
idle_gap_ms = [0]
[[exclude]]
names_count = [1]
question_packing = ["one_message"]
[baseline]
dns_transport = "doudp"
dns_connection_state = "cold"
requested_dns_handshake_mode = "full"
idle_gap_ms = 0
"""


def write_plan(folder, blocks):
    file = folder / "exchanges.toml"
    file.write_text(PLAN.format(blocks=blocks))
    return file


@pytest.fixture(scope="module")
def dataset(tmp_path_factory, privileged):
    folder = tmp_path_factory.mktemp("exchanges")
    plan = write_plan(folder, 2)
    ended = resolab("run", plan, "--out", folder / "out")
    assert ended.returncode == 0, ended.stderr
    return folder / "out", load_plan(plan)


def test_every_exchange_takes_its_round_trips_and_no_flag_but_lateness(dataset):
    out, plan = dataset
    rtt_ms = access_rtt_ms(Corpus.from_project().profile("4g"))
    conditions = {one.id: one for one in plan.conditions()}
    with open_dataset(out) as opened:
        loads = opened.measured_loads()
    assert len(loads) == 2 * len(conditions)
    for load in loads:
        one, time_ms = conditions[load.condition], load.times_ms["response_time"]
        assert load.failure is None
        assert set(load.flags) <= {"lateness_exceeded"}, (load.condition, load.flags)
        trips = lookup_round_trips(one.dns_transport, one.requested_dns_handshake_mode, one.dns_connection_state)
        # One round trip more would be another protocol; less is a busy machine.
        assert trips * rtt_ms - 1 < time_ms < (trips + 0.95) * rtt_ms, (load.condition, time_ms)


def test_a_trial_file_and_its_row_contribute_the_same(dataset):
    out, _ = dataset
    files = find_finished_trials(out)
    with open_dataset(out) as opened:
        for load in opened.measured_loads():
            of_records = RESPONSE_TIME.contribution_of_records(list(read_trial(files[load.trial_id])))
            assert of_records == RESPONSE_TIME.contribution(load)


def test_no_record_names_a_browser(dataset):
    out, _ = dataset
    with duckdb.connect() as connection:
        told = connection.execute(
            f"select distinct kind, browser, http_version, resolver_path from '{out}/tables/trials.parquet'"
        ).fetchall()
    assert told == [("exchange", None, None, None)]


def test_the_report_answers_in_exchanges(dataset):
    out, _ = dataset
    html = (out / "report" / "index.html").read_text()
    assert "DNS response time" in html
    assert "page load time" not in html.partition('id="reading"')[0]
    assert html.index("exchanges failed") < html.index('<section id="failures">')


def test_a_killed_run_of_exchanges_is_resumed_with_the_same_trials(tmp_path, privileged, lab_is_clean):
    out = tmp_path / "out"
    run = subprocess.Popen(
        [*COMMAND, "run", write_plan(tmp_path, 2), "--out", out], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    wait_until(lambda: len(finished(out)) >= 5, timeout_s=60)
    run.send_signal(signal.SIGKILL)
    run.wait()
    wait_until(lambda: not processes_of_the_lab(), timeout_s=20)
    before = {file.name: file.read_bytes() for file in finished(out)}
    began = time.monotonic()
    ended = resolab("resume", out)
    assert ended.returncode == 0, ended.stderr
    assert time.monotonic() - began < 200
    after = {file.name: file.read_bytes() for file in finished(out)}
    assert {name: after[name] for name in before} == before
    assert len(after) == 2 * len(load_plan(tmp_path / "exchanges.toml").conditions())


def test_a_run_with_checks_ends_with_verdicts_and_stops_early(tmp_path, privileged):
    xml = tmp_path / "verdicts.xml"
    ended = resolab("run", "check-exchange", "--check", "--junit", xml, "--out", tmp_path / "out", "--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    told = json.loads(ended.stdout)
    assert told["not_met"] == 0
    # The first interval comes with the eighth block; differences of a round trip and more need few beyond.
    assert 8 <= max(one["blocks_count"] for one in told["checks"]) <= 60
    assert xml.read_text().count("<testcase") == len(told["checks"]) == 12
    never = tmp_path / "never.toml"
    never.write_text((ROOT / "plans/check-exchange.toml").read_text().replace("margin_ms = 10\n", "margin_ms = 500\n"))
    ended = resolab("run", never, "--check", "--out", tmp_path / "never")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "not met" in ended.stdout


def test_a_fetch_has_its_document_on_the_connection_asked_for(tmp_path, privileged):
    ended = resolab("run", "name-and-page", "--blocks", "1", "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    rtts = {name: access_rtt_ms(Corpus.from_project().profile(name)) for name in ("4g", "fiber")}
    with open_dataset(tmp_path / "out") as opened:
        loads = opened.measured_loads()
        assert opened.sql("select count(*) as n from fetches where purpose = 'measured'") == [{"n": len(loads)}]
    plan = load_plan(ROOT / "plans/name-and-page.toml")
    conditions = {one.id: one for one in plan.conditions()}
    assert len(loads) == len(conditions) == 24
    oracle = Oracle(plan, rtts)
    for load in loads:
        assert load.failure is None
        assert set(load.flags) <= {"lateness_exceeded"}, (load.condition, load.flags)
        # The request's own round trip comes after the wait before it.
        expected_ms = oracle.predict_wait_before_request_ms(conditions[load.condition]) + rtts[load.profile]
        assert expected_ms - 1 < load.times_ms["first_byte"] < expected_ms + 0.95 * rtts["4g"], load
