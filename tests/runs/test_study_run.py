"""Studies with trials of their own, end to end: run, kill, resume, report; the edge's records judge the client's values."""

import signal
import subprocess

import pytest
from lab import COMMAND, ROOT, finished, processes_of_the_lab, resolab, wait_until

from resolab.plan import Corpus, load_plan
from resolab.plan.access_link import access_rtt_ms
from resolab.store import open_dataset
from resolab.store.study_values import read_study_values

pytestmark = [pytest.mark.privileged, pytest.mark.slow]

REDIAL = """
name = "redial-test"
question = "What does an idle timeout cost?"
kind = "study"
seed = 3
blocks = 2
[study]
name = "redial"
queries_count = 6
mean_gap_ms = 60
[factors]
profile = ["fiber"]
dns_transport = ["dot", "doq"]
requested_dns_handshake_mode = ["full", "zero_rtt"]
study_arm = ["kept_open", "timeout_20_percent"]
[baseline]
study_arm = "kept_open"
"""
PARTIAL = """
name = "partial-test"
question = "Do names come sooner in one message?"
kind = "study"
seed = 4
blocks = 1
[study]
name = "partial"
names_count = 6
late_ms = 120
[factors]
profile = ["4g"]
dns_transport = ["doudp", "dot", "doq"]
study_arm = ["one_message", "separate_messages"]
study_case = ["none_late", "one_late", "drawn_late"]
[baseline]
study_arm = "separate_messages"
"""


def run(folder, text):
    plan = folder / "plan.toml"
    plan.write_text(text)
    ended = resolab("run", plan, "--out", folder / "out")
    assert ended.returncode == 0, ended.stderr
    return folder / "out", load_plan(plan)


def check_loads(out, plan):
    """Compare each trial's main outcome with the study's closed form."""
    rtts = {name: access_rtt_ms(Corpus.from_project().profile(name)) for name in plan.factors.profile}
    conditions = {one.id: one for one in plan.conditions()}
    with open_dataset(out) as opened:
        loads = opened.measured_loads()
    assert len(loads) == plan.blocks * len(conditions)
    for load in loads:
        assert load.failure is None
        assert set(load.flags) <= {"lateness_exceeded"}, (load.condition, load.flags)
        yield load, plan.study.predict_ms(conditions[load.condition], rtts[load.profile]), rtts[load.profile]


def test_redials_are_the_connections_that_the_edge_saw(tmp_path, privileged, lab_is_clean):
    out, plan = run(tmp_path, REDIAL)
    assert len(list(check_loads(out, plan))) == 16
    with open_dataset(out) as opened:
        # A ticket comes from a connection with a full handshake, which is none of the client's measured ones. When
        # the edge is told to write, the last connection may be amid its handshake, or may end and have two rows.
        counted = opened.sql(
            "SELECT trial_id, count(DISTINCT c.accepted_ns) AS n FROM connections AS c JOIN trials AS t USING (trial_id) "
            "WHERE coalesce(c.handshake_mode, t.requested_dns_handshake_mode) = t.requested_dns_handshake_mode "
            "GROUP BY trial_id"
        )
        values = [row for rows in read_study_values(opened).values() for row in rows]
    assert len(values) == 16
    connections = {row["trial_id"]: row["n"] for row in counted}
    for row in values:
        assert connections[row.trial_id] == 1 + row.values["redialed_count"], row
        assert (row.values["redialed_count"] > 0) == ("timeout" in row.condition), row
    assert "Redials beside the closed form" in (out / "report" / "index.html").read_text()


def test_answers_come_by_the_closed_form_and_one_message_holds_all_names(tmp_path, privileged, lab_is_clean):
    out, plan = run(tmp_path, PARTIAL)
    for load, expected_ms, rtt_ms in check_loads(out, plan):
        # One round trip more would be another protocol; less is a busy machine.
        assert expected_ms - 1 < load.times_ms["partial.before_last"] < expected_ms + 0.95 * rtt_ms, load
    with open_dataset(out) as opened:
        asked = opened.sql(
            "SELECT t.condition, count(DISTINCT q.message_sequence) AS messages_count, count(*) AS names_count, "
            "bool_or(q.asked_alone) AS alone FROM queries AS q JOIN trials AS t USING (trial_id) "
            "WHERE q.purpose = 'measured' GROUP BY ALL"
        )
    assert {row["names_count"] for row in asked} == {6}
    assert {row["alone"] for row in asked if "one_message" in row["condition"]} == {False}


def test_names_announced_early_are_waited_for_less(tmp_path, privileged, lab_is_clean):
    out, plan = run(tmp_path, (ROOT / "plans/announced.toml").read_text().replace("blocks = 10", "blocks = 1"))
    for load, expected_ms, rtt_ms in check_loads(out, plan):
        assert expected_ms - 1 < load.times_ms["announced.wait"] < expected_ms + 0.95 * rtt_ms, load


def test_a_killed_run_of_a_study_is_resumed_with_the_same_trials(tmp_path, privileged, lab_is_clean):
    plan, out = tmp_path / "redial.toml", tmp_path / "out"
    plan.write_text(REDIAL)
    process = subprocess.Popen([*COMMAND, "run", plan, "--out", out], cwd=ROOT, stdout=subprocess.DEVNULL)
    wait_until(lambda: len(finished(out)) >= 5, timeout_s=120)
    process.send_signal(signal.SIGKILL)
    process.wait()
    wait_until(lambda: not processes_of_the_lab(), timeout_s=20)
    before = {file.name: file.read_bytes() for file in finished(out)}
    ended = resolab("resume", out)
    assert ended.returncode == 0, ended.stderr
    after = {file.name: file.read_bytes() for file in finished(out)}
    assert {name: after[name] for name in before} == before
    assert len(after) == 16
