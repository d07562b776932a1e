"""A study of one temporary folder, and a lab that only does as if: a new question needs no other file of the project."""

import importlib
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace, TracebackType
from typing import Any, Self

import pytest

from resolab import studies
from resolab.basics.records import DirectionSummary, LinkProfile, PathSummaryRecord
from resolab.lab.artifacts import NO_FILES, TrialFiles
from resolab.lab.software import SoftwareRack
from resolab.plan import Condition, Corpus, Plan
from resolab.trials import client_runner

NAME = "coins"
TRIALS = '''
"""Coins that take one round trip each."""
import random
from dataclasses import dataclass
from typing import Annotated
from resolab.plan.settings import NumberBounds
from resolab.plan.study import StudyDeclaration, StudyTime
from resolab.basics.records import Failure
from resolab.trials.study.study_trials import StudyResult, StudyTrials

@dataclass(frozen=True, slots=True)
class Settings:
    coins_count: Annotated[int, NumberBounds(1, 9)] = 2

def predict_ms(condition, rtt_ms, settings):
    return rtt_ms * settings.coins_count * (2 if condition.study_arm == "twice" else 1)

async def run(trial):
    chance = random.Random(f"{trial.seed}/{trial.condition.id}")
    if trial.condition.study_arm == "twice" and chance.random() < 0.02:
        return StudyResult({}, 9_000.0, failure=Failure.QUERY_TIMEOUT, failure_detail="rolled away")
    took_ms = predict_ms(trial.condition, 14.77, trial.settings) + chance.random()
    values = {"last_ms": took_ms, "first_ms": took_ms / 2, "heads_ratio": random.Random(trial.seed).random()}
    return StudyResult(values, 9_000.0)

TRIALS = StudyTrials(
    declaration=StudyDeclaration(
        times=(
            StudyTime(name="last", label="last coin", phrase="time to the last coin", meaning="time to the last coin"),
            StudyTime(name="first", label="first coin", phrase="time to the first coin", meaning="time to the first coin"),
        ),
        arms=("once", "twice"), cases=("gold", "silver"), factors=("requested_dns_handshake_mode",), settings=Settings,
        closed_form="RTT x coins", predict_ms=predict_ms, trial_s=lambda condition, rtt_ms, settings: 0.5,
        impossible=lambda condition: "silver never falls twice"
        if (condition.study_arm, condition.study_case) == ("twice", "silver") else None,
    ),
    run=run,
    add_tables=lambda plan, folder: f"# {plan.study.settings.coins_count} coins",
)
'''
SECTIONS = '''
"""Its section."""
from resolab.report.sections.section import Paragraph, Section, SectionContent

def build(reading):
    return SectionContent([Paragraph("Heads or tails, by trial.")])

SECTIONS = (Section(id="coins", title="Coins", build=build, follows="comparisons",
                    applies=lambda reading: reading.plan.study is not None and reading.plan.study.name == "coins"),)
'''
PLAN = """
name = "thrown"
question = "Do coins take longer when thrown twice?"
kind = "study"
seed = 3
blocks = 9
[study]
name = "coins"
coins_count = 3
[factors]
profile = ["fiber"]
dns_transport = ["dot", "doq"]
study_arm = ["once", "twice"]
[baseline]
study_arm = "once"
"""


@pytest.fixture
def coins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The study's folder, beside the project's; import this into a test's module."""
    root = tmp_path / "further_studies"
    (root / NAME).mkdir(parents=True)
    (root / NAME / "__init__.py").write_text('"""Coins."""\n')
    (root / NAME / "trials.py").write_text(TRIALS)
    (root / NAME / "sections.py").write_text(SECTIONS)
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(root)])
    monkeypatch.setattr(client_runner, "Lab", PretendedLab)
    monkeypatch.setattr(client_runner, "SETTLE_MS", -14.0)
    importlib.invalidate_caches()
    yield
    for module in [one for one in sys.modules if one.startswith(f"resolab.studies.{NAME}")]:
        del sys.modules[module]


class PretendedPath:
    """A path that is never late."""

    def __init__(self, records: list[Any]) -> None:
        self._records = records
        self.ready = SimpleNamespace(pid=1)

    async def summary(self, label: str) -> None:
        quiet = DirectionSummary(**dict.fromkeys(DirectionSummary.__struct_fields__, 0) | {"lateness_p99_ns": 100})
        summary = PathSummaryRecord(
            label=label, window_start_ns=0, window_end_ns=1, profile="fiber", up=quiet, down=quiet,
            unrecognised_packets_count=0,
        )  # fmt: skip
        self._records.append(summary)


class PretendedLab:
    """What a runner uses of a lab, without path and edge."""

    def __init__(self, plan: Plan, corpus: Corpus, seed: int, *, kept: Any, add_tables: Any) -> None:
        self.records: list[Any] = []
        self.path = PretendedPath(self.records)
        self.profiles = {name: corpus.profile(name) for name in plan.factors.profile}
        self.edge = SimpleNamespace(process=SimpleNamespace(running=True), flush=self._flush)
        self.keeper = SimpleNamespace(keep=self._keep, key_log_file=None)
        self.software = SoftwareRack({}, {})
        self.tables = add_tables(Path("nowhere"))
        assert self.tables == "# 3 coins"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return

    async def _flush(self) -> None:
        return

    @asynccontextmanager
    async def _keep(self, path: Any, trial_id: str) -> AsyncIterator[TrialFiles]:
        yield NO_FILES

    async def run_unless_dead(self, program: Any, command: Any) -> None:
        await command

    async def replace_dead_edge(self) -> None:
        return

    async def apply_condition(self, condition: Condition, trial_id: str) -> None:
        self.applied = condition

    def find_profile(self, condition: Condition) -> LinkProfile:
        return self.profiles[condition.profile]
