"""The example of docs/guides/studies.md is a study whose plan is read and whose trials run."""

import asyncio
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from recorded_queries import recorded

from resolab import studies
from resolab.basics.records import DnsTransport, Failure, QueryRecord
from resolab.lab import engine
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.plan.study import find_trials
from resolab.trials.study.study_trials import StudyResult, StudyTrial

GUIDE = (PROJECT_ROOT / "docs/guides/studies.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"```(python|toml)\n(.*?)```", GUIDE, re.DOTALL))


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plan]:
    folder = tmp_path / "studies" / "second"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text('"""Second queries."""\n')
    (folder / "trials.py").write_text(BLOCKS["python"])
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(folder.parent)])
    importlib.invalidate_caches()
    yield parse_plan(BLOCKS["toml"], "second.toml", Corpus.from_project())
    for module in [one for one in sys.modules if one.startswith("resolab.studies.second")]:
        del sys.modules[module]


def query(took_ms: float, **changed: Any) -> QueryRecord:
    found = next(one for one in recorded() if one.dns_transport is DnsTransport.DOT and one.failure is None)
    return msgspec.structs.replace(found, query_response_time_ns=round(took_ms * 1e6), **changed)


def run(plan: Plan, queries: list[QueryRecord], monkeypatch: pytest.MonkeyPatch) -> tuple[StudyResult, list[str]]:
    told: list[str] = []

    async def run_queries(
        pid: int, resolvers: Any, qnames: Any, options: engine.QueryOptions, *, key_log_file: Path
    ) -> Any:
        assert key_log_file == Path("keys.log")
        told.extend(options.arguments())
        return queries

    monkeypatch.setattr(engine, "run_queries", run_queries)
    lab: Any = SimpleNamespace(
        path=SimpleNamespace(ready=SimpleNamespace(pid=1)), build_resolver=lambda *_given: None,
        sites={"example": SimpleNamespace(host="example.resolab.test")},
        keeper=SimpleNamespace(key_log_file=Path("keys.log")),
    )  # fmt: skip
    same = next(one for one in plan.conditions() if one.id == "fiber.dot.same_connection")
    return asyncio.run(find_trials("second").run(StudyTrial(lab, plan, same, None, seed=1))), told


def test_the_plan_has_its_conditions_and_closed_form(plan: Plan) -> None:
    assert plan.study is not None
    predicted = {one.id: plan.study.predict_ms(one, 10.0) for one in plan.conditions()}
    assert predicted == {
        "fiber.dot.new_connection": 30.0, "fiber.dot.same_connection": 10.0,
        "fiber.doq.new_connection": 20.0, "fiber.doq.same_connection": 10.0,
    }  # fmt: skip


def test_a_trial_has_the_time_of_its_second_query(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    result, told = run(plan, [query(30.0), query(10.0)], monkeypatch)
    assert result.values == {"second_ms": 10.0, "queries_count": 2}
    assert " ".join(told).startswith("--connection warm")
    failed, _ = run(plan, [query(30.0), query(1.0, failure=Failure.QUERY_TIMEOUT)], monkeypatch)
    assert (failed.values, failed.failure) == ({}, Failure.QUERY_TIMEOUT)
