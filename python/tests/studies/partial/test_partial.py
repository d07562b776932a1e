"""Partial responses: delays of names and their closed form, the values of a trial, the client's options, and the section."""

import asyncio
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from recorded_queries import recorded

from resolab.basics.records import DnsTransport, Failure, HandshakeMode, QueryPurpose, QueryRecord, TrialFlag
from resolab.lab import engine
from resolab.plan import Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.store.study_values import StudyValuesRow
from resolab.studies.partial import model, sections, trials
from resolab.trials.study.study_trials import StudyTrial

MS = 1_000_000
RTT_MS = 91.852311
PLAN = load_plan(PROJECT_ROOT / "plans" / "partial.toml", Corpus.from_project())
assert PLAN.study is not None
SETTINGS: trials.PartialSettings = PLAN.study.settings
FEW = trials.PartialSettings(names_count=5, late_ms=150.0)
DOQ = next(one for one in PLAN.conditions() if one.id == "4g.doq.full.one_message.one_late")
SEPARATE = replace(DOQ, study_arm="separate_messages")


def query(took_ms: float, **changed: Any) -> QueryRecord:
    found = next(one for one in recorded() if one.dns_transport is DnsTransport.DOQ and one.failure is None)
    facts = {
        "query_response_time_ns": round(took_ms * MS), "handshake_mode": HandshakeMode.FULL, "asked_alone": False,
        "purpose": QueryPurpose.MEASURED,
    }  # fmt: skip
    return msgspec.structs.replace(found, **facts | changed)


def test_drawn_delays_are_the_laws_quantiles() -> None:
    delays = model.list_delays_ms("drawn_late", 20, 0.0)
    assert delays == model.list_delays_ms("drawn_late", 20, 0.0) != sorted(delays)
    assert min(delays) == pytest.approx(10.2, abs=0.1)
    assert max(delays) == pytest.approx(216, abs=1)
    # Half of them beyond the law's median.
    assert sum(delay > 10 * 2 ** (1 / 1.2) for delay in delays) == 10
    assert model.list_delays_ms("one_late", 3, 150.0) == [0.0, 0.0, 150.0]
    assert model.list_delays_ms("none_late", 3, 150.0) == [0.0, 0.0, 0.0]


def test_answers_come_by_their_delays_after_the_round_trips_of_a_first_exchange() -> None:
    assert trials.predict_answers_ms(DOQ, 20.0, FEW) == [40.0, 40.0, 40.0, 40.0, 190.0]
    early = replace(DOQ, requested_dns_handshake_mode=HandshakeMode.ZERO_RTT)
    assert trials.predict_answers_ms(early, 20.0, FEW)[0] == 20.0
    assert PLAN.study is not None
    assert PLAN.study.predict_ms(DOQ, 20.0) == PLAN.study.predict_ms(SEPARATE, 20.0) == 40.0


def test_names_a_round_trip_behind_are_counted_without_the_late_one() -> None:
    assert model.count_behind([90.0, 91.0, 136.0, 182.0, 400.0], [0, 0, 0, 0, 150], 91.9) == 3
    assert model.count_behind([90.0, 91.0, 136.0, 182.0, 240.0], [0, 0, 0, 0, 150], 91.9) == 2
    assert model.count_behind([121.0, 50.0, 56.0], [5.0, 30.0, 0.0], 40.0) == 1
    assert model.count_late([40.0, 61.0, 30.0], [30.0, 35.0, 40.0], 40.0) == 1


def test_a_trial_has_its_first_and_last_answers() -> None:
    result = trials.sum_up([query(one) for one in (184.0, 185.0, 340.0, 186.0, 187.0)], DOQ, RTT_MS, FEW)
    assert result.values == {
        "before_last_ms": 187.0, "first_ms": 184.0, "last_ms": 340.0, "mean_ms": pytest.approx(216.4),
        "behind_count": 0.0, "late_count": 0.0, "names_count": 5.0,
    }  # fmt: skip
    assert result.flags == []
    failed = trials.sum_up([query(1), query(1, failure=Failure.QUERY_TIMEOUT)], DOQ, RTT_MS, FEW)
    assert (failed.values, failed.failure) == ({}, Failure.QUERY_TIMEOUT)


@pytest.mark.parametrize(
    ("changed", "condition", "flags"),
    [
        ({"asked_alone": True}, DOQ, [TrialFlag.NOTHING_GATHERED]),
        ({"asked_alone": True}, SEPARATE, []),
        ({"handshake_mode": HandshakeMode.RESUMED}, DOQ, [TrialFlag.DNS_HANDSHAKE_MISMATCH]),
    ],
)
def test_what_was_not_as_requested_is_flagged(changed: dict[str, Any], condition: Any, flags: list[TrialFlag]) -> None:
    assert trials.find_flags([query(1, **changed)], condition) == flags


def test_the_edge_has_every_name_with_its_delay_and_the_client_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[list[str], list[str]]] = []

    async def run_queries(pid: int, resolvers: Any, qnames: Any, options: engine.QueryOptions, **_more: Any) -> Any:
        given.append((qnames, options.arguments()))
        return [query(200.0)] * 20

    monkeypatch.setattr(engine, "run_queries", run_queries)
    lab: Any = SimpleNamespace(
        path=SimpleNamespace(ready=SimpleNamespace(pid=1)), build_resolver=lambda *_given: None,
        profiles={"4g": Corpus.from_project().profile("4g")}, keeper=SimpleNamespace(key_log_file=None),
    )  # fmt: skip
    for condition in (DOQ, SEPARATE):
        asyncio.run(trials.TRIALS.run(StudyTrial(lab, PLAN, condition, SETTINGS, seed=1)))  # type: ignore[arg-type]
    edge = tomllib.loads(trials.TRIALS.add_tables(PLAN, Path("nowhere")))
    zone = [one["name"] for one in edge["zone"]]
    assert [qnames for qnames, _ in given] == [zone, zone]
    assert edge["name"] == [{"name": zone[-1], "delay_ms": 150.0}]
    assert [("--one-by-one" in arguments) for _, arguments in given] == [False, True]
    assert all("20" in arguments for _, arguments in given)


def test_an_answer_far_from_the_closed_form_is_told() -> None:
    def figures(first_ms: float, condition: Any = DOQ) -> sections.AnswerFigures:
        values = {
            "first_ms": 2 * RTT_MS + first_ms,
            "last_ms": 2 * RTT_MS + 151.0,
            "behind_count": 2.0,
            "late_count": 1.0,
        }
        row = StudyValuesRow(trial_id="t", block=0, condition=condition.id, values=values)
        return sections.compute_figures(PLAN, condition, [row] * 6, RTT_MS)

    near, far = figures(3.9), figures(4.1)
    assert (near.is_near, far.is_near) == (True, False)
    assert (near.behind_count, near.late_trials.value) == (2.0, 1.0)
    note = sections.build_table([near, far, figures(9.0, SEPARATE)]).note
    assert "1 of 2 conditions have both answers within 4 ms" in note
