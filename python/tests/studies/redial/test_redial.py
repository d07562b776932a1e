"""Redials: the closed forms, the values of a trial's queries, the client's options, and the section beside the closed form."""

import asyncio
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from recorded_queries import recorded

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import ConnectionState, DnsTransport, Failure, HandshakeMode, QueryRecord, TrialFlag
from resolab.lab import engine
from resolab.plan import Corpus, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.store.study_values import StudyValuesRow
from resolab.studies.redial import model, sections, trials
from resolab.trials.study.study_trials import StudyTrial

MS = 1_000_000
RTT_MS = 91.852311
COLD, WARM = ConnectionState.COLD, ConnectionState.WARM
FILE = PROJECT_ROOT / "plans" / "redial.toml"
PLAN = load_plan(FILE, Corpus.from_project())
DOT = next(one for one in PLAN.conditions() if one.id == "fiber.dot.full.timeout_70_percent")


def query(took_ms: float, connection: ConnectionState, **changed: Any) -> QueryRecord:
    found = next(one for one in recorded() if one.dns_transport is DnsTransport.DOT and one.failure is None)
    facts = {
        "query_response_time_ns": round(took_ms * MS),
        "connection": connection,
        "handshake_mode": HandshakeMode.FULL,
    }
    return msgspec.structs.replace(found, **facts | changed)


def test_closed_forms() -> None:
    assert model.redial_share(0, 500) == 1
    assert model.redial_share(500, 500) == pytest.approx(math.exp(-1))
    # Connections of two round trips that are opened for every query: what averages of 60 ms over 20 ms mean.
    assert model.mean_response_ms(20, 3, 1.0) == pytest.approx(60)
    assert model.mean_response_ms(20, 3, 0.0) == pytest.approx(20)
    assert [model.queries_to_amortise(trips, 0.05) for trips in (1, 2, 3)] == [1, 20, 40]
    assert model.queries_to_amortise(3, 0.1) == 20


def test_the_plan_predicts_each_arm_by_its_timeout() -> None:
    assert PLAN.study is not None
    assert PLAN.study.predict_ms(DOT, 20.0) == pytest.approx(20 * (1 + 2 * math.exp(-0.7)))
    early = replace(DOT, requested_dns_handshake_mode=HandshakeMode.ZERO_RTT)
    assert PLAN.study.predict_ms(early, 20.0) == pytest.approx(20 * (1 + math.exp(-0.7)))
    assert PLAN.study.predict_ms(replace(DOT, study_arm="kept_open"), 20.0) == pytest.approx(20)


def test_a_transport_without_connections_is_refused() -> None:
    text = FILE.read_text("utf-8").replace('["dot", ', '["doudp", "dot", ')
    assert "doudp" in text
    with pytest.raises(ConfigurationError, match="there is no connection to close"):
        parse_plan(text, "redial.toml", Corpus.from_project())


def test_the_first_query_is_no_redial() -> None:
    took = [(300.0, COLD), (92.0, WARM), (276.0, COLD), (92.0, WARM), (92.0, WARM)]
    result = trials.sum_up([query(*one) for one in took], DOT)
    assert result.values == {"mean_ms": pytest.approx(138.0), "redialed_count": 1, "queries_count": 4}
    assert result.flags == []


def test_another_handshake_is_flagged_and_a_failed_query_fails_the_trial() -> None:
    early = replace(DOT, requested_dns_handshake_mode=HandshakeMode.ZERO_RTT)
    assert trials.sum_up([query(1, COLD), query(1, WARM)], early).flags == [TrialFlag.DNS_HANDSHAKE_MISMATCH]
    failed = trials.sum_up([query(1, COLD), query(1, WARM, failure=Failure.QUERY_TIMEOUT)], DOT)
    assert (failed.values, failed.failure) == ({}, Failure.QUERY_TIMEOUT)
    failed = trials.sum_up([query(1, COLD), *[query(1, WARM)] * 4, query(1, WARM, failure=Failure.QUERY_TIMEOUT)], DOT)
    assert failed.limit_ms == pytest.approx(2_000)


@pytest.mark.parametrize(("arm", "timeout"), [("kept_open", []), ("timeout_20_percent", ["--idle-timeout-ms", "20"])])
def test_the_client_gets_gaps_and_timeout(monkeypatch: pytest.MonkeyPatch, arm: str, timeout: list[str]) -> None:
    given: list[engine.QueryOptions] = []

    async def run_queries(pid: int, resolvers: Any, qnames: Any, options: engine.QueryOptions, **_more: Any) -> Any:
        given.append(options)
        return [query(1, COLD, sequence=0), query(1, WARM, sequence=1)]

    monkeypatch.setattr(engine, "run_queries", run_queries)
    lab: Any = SimpleNamespace(
        path=SimpleNamespace(ready=SimpleNamespace(pid=1)), build_resolver=lambda *_given: None,
        sites={"example": SimpleNamespace(host="example.resolab.test")}, keeper=SimpleNamespace(key_log_file=None),
    )  # fmt: skip
    assert PLAN.study is not None
    trial = StudyTrial(lab, PLAN, replace(DOT, study_arm=arm), PLAN.study.settings, seed=5)
    asyncio.run(trials.TRIALS.run(trial))  # type: ignore[arg-type]
    told = " ".join(given[0].arguments())
    assert "--connection warm --handshake full" in told
    assert "--count 21" in told
    assert "--interval-ms 100 --intervals exponential --seed 5" in told
    assert ("--idle-timeout-ms" in told) == bool(timeout)
    assert " ".join(timeout) in told


@pytest.mark.parametrize(("more_ms", "is_near"), [(2.9, True), (3.1, False), (-3.1, False)])
def test_a_mean_far_from_the_closed_form_of_its_own_redials_is_told(more_ms: float, is_near: bool) -> None:
    mean_ms = model.mean_response_ms(RTT_MS, 3, 0.5) + more_ms
    row = StudyValuesRow(
        trial_id="b000-t000", block=0, condition=DOT.id,
        values={"mean_ms": mean_ms, "redialed_count": 10.0, "queries_count": 20.0},
    )  # fmt: skip
    found = sections.compute_figures(PLAN, DOT, [row] * 8, RTT_MS)
    assert found.beyond_ms.value == pytest.approx(more_ms)
    assert found.is_near is is_near
    # 80 of 160 queries redialed, as exp(-0.7) says.
    assert found.holds_share
    assert ("1 of 1 means are within" in sections.build_table([found]).note) is is_near


def test_a_profile_without_a_known_limit_is_not_judged() -> None:
    row = StudyValuesRow(
        trial_id="b000-t000", block=0, condition=DOT.id,
        values={"mean_ms": 500.0, "redialed_count": 10.0, "queries_count": 20.0},
    )  # fmt: skip
    found = sections.compute_figures(PLAN, replace(DOT, profile="dsl"), [row] * 8, RTT_MS, failed_count=3)
    table = sections.build_table([found], " Failed, without times: 3 trials.")
    assert (table.table.rows[0][4:6], table.table.rows[0][-1]) == (("8", "3"), "")
    assert "0 of 0 means are within" in table.note
    assert table.note.endswith("Failed, without times: 3 trials.")


def test_amortisation_does_not_depend_on_the_network() -> None:
    rows = sections.build_amortisation_table().rows
    assert [(one[0], *one[2:]) for one in rows] == [
        ("1", "1", "1", "1"), ("2", "2", "10", "20"), ("3", "4", "20", "40"),
    ]  # fmt: skip
