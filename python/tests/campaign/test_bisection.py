"""The first bad version: by pure verdicts, and in simulated campaigns of sixteen made builds."""

import argparse
import asyncio
import json
import random
import re
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import pytest

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.records import Bootstrap, QueryPurpose, QueryRecord, ResolverCache
from resolab.campaign.bisection import Bisection, find_first_bad, join_verdicts
from resolab.campaign.checks.decision import Verdict
from resolab.cli import bisect
from resolab.cli.main import main
from resolab.plan import Condition, Plan
from resolab.stats import MedianSequence
from resolab.trials.trial_result import TrialResult

MET, NOT_MET, UNDECIDED = Verdict.MET, Verdict.NOT_MET, Verdict.UNDECIDED
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "build-pipeline.md"
PLAN = re.findall(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL)[0].replace("blocks = 40", "blocks = 10")
VERSIONS = [f"{0.01 * number:.2f}" if number < 11 else f"{5 + 0.01 * number:.2f}" for number in range(1, 17)]
"""Sixteen made builds: a miss takes 5 ms longer from the eleventh on."""


@pytest.mark.parametrize("first_bad", range(1, 16))
def test_the_first_bad_version_is_found_in_few_steps(first_bad: int) -> None:
    judged: list[int] = []

    def judge(place: int) -> Verdict:
        judged.append(place)
        return NOT_MET if place >= first_bad else MET

    found = find_first_bad(16, judge)
    assert (found.good, found.bad, found.is_found) == (first_bad - 1, first_bad, True)
    assert len(judged) == len(set(judged)) <= 6


def test_a_search_without_two_sides_or_with_an_undecided_step_names_nobody() -> None:
    assert find_first_bad(8, lambda place: MET) == Bisection(None, None)
    assert find_first_bad(8, lambda place: NOT_MET) == Bisection(None, 0)
    assert find_first_bad(8, lambda place: {0: MET, 7: NOT_MET}.get(place, UNDECIDED)) == Bisection(0, 7, 3)
    assert join_verdicts([MET, UNDECIDED, NOT_MET]) is NOT_MET
    assert join_verdicts([MET, UNDECIDED]) is UNDECIDED


class PretendedExchanges:
    """Exchanges of 20 ms with the spread of a quiet machine, and the plan's delay of a miss."""

    def __init__(self, plan: Plan, seed: int, folder: Path, number: int) -> None:
        self._delay_ms = plan.resolver.miss_delay_ms

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        await asyncio.sleep(0)
        chance = random.Random(f"{condition.id}/{trial_id}/{self._delay_ms}")
        miss = condition.resolver_cache is ResolverCache.MISS
        time_ms = 20.0 + chance.gauss(0.0, 3.0) + (self._delay_ms if miss else 0.0)
        record = QueryRecord(
            purpose=QueryPurpose.MEASURED,
            qname="example.resolab.test.",
            qtype="A",
            dns_transport=condition.dns_transport,
            resolver="10.77.0.1",
            bootstrap=Bootstrap.GIVEN,
            sequence=1,
            time_origin_ns=0,
            query_bytes=40,
            attempt_count=1,
            addresses=["10.77.1.1"],
            query_response_time_ns=round(time_ms * 1e6),
            limit_ns=5_000_000_000,
        )
        return TrialResult([record], [], failed=False)


def options_of(folder: Path, **more: object) -> argparse.Namespace:
    (folder / "plan.toml").write_text(PLAN)
    (folder / "versions").write_text("\n".join(VERSIONS) + "\n")
    given = {"make": None, "most_blocks": 200, "json": True, "out": folder / "out"}
    return argparse.Namespace(plan=folder / "plan.toml", versions=folder / "versions", **{**given, **more})


def test_the_eleventh_of_sixteen_made_builds_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert bisect.run(options_of(tmp_path, make="echo @VERSION@ >> made"), PretendedExchanges) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["first_bad"], told["last_good"]) == (VERSIONS[10], VERSIONS[9])
    # The plan's ten blocks do not decide a margin of 2 ms in every step: some got more.
    blocks = [int(count) for count in re.findall(r"(\d+) blocks", str(told["steps"]))]
    assert max(blocks) > 10
    assert (tmp_path / "made").read_text().split() == [one["version"] for one in told["steps"]]


def test_the_same_folder_goes_on_and_another_plan_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = options_of(tmp_path)
    assert bisect.run(options, PretendedExchanges) == 0
    first = json.loads(capsys.readouterr().out)

    class NoTrials(PretendedExchanges):
        async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
            raise AssertionError(trial_id)

    assert bisect.run(options, NoTrials) == 0
    assert json.loads(capsys.readouterr().out) == first
    options.plan.write_text(PLAN.replace("seed = ", "seed = 1"))
    with pytest.raises(ConfigurationError, match="is a step of another plan; give another --out"):
        bisect.run(options, PretendedExchanges)


def test_ten_of_ten_searches_name_the_eleventh_build() -> None:
    rng = np.random.default_rng(9)

    def judge(place: int) -> Verdict:
        sequence, truth_ms = MedianSequence(), 5.0 if place >= 10 else 0.0
        for _ in range(400):
            difference = float(rng.normal(truth_ms, 5.0))
            sequence.add(difference, difference)
            if sequence.high < 2.0 or sequence.low > 2.0:
                return MET if sequence.high < 2.0 else NOT_MET
        return UNDECIDED

    assert [find_first_bad(16, judge).bad for _ in range(10)] == [10] * 10


def test_undecided_steps_end_the_search_with_its_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bisect.run(options_of(tmp_path, most_blocks=10, json=False), PretendedExchanges) == 6
    told = capsys.readouterr().out
    assert re.search(r"^undecided: \S+; the first bad version is among \S+", told, re.MULTILINE) or (
        "; the search needs verdicts on both ends" in told
    )


def test_the_user_s_command_gets_each_version_as_one_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = options_of(tmp_path, make="printf '%s\\n' @VERSION@ >> made")
    options.plan.write_text(PLAN.replace("@VERSION@", "1"))
    strange = "1; touch spoilt"
    options.versions.write_text(f"{strange}\n{strange} 2\n")
    bisect.run(options, PretendedExchanges)
    assert (tmp_path / "made").read_text().splitlines()[0] == f"{strange} 2"
    assert not (tmp_path / "spoilt").exists()


def test_a_failing_command_and_too_few_blocks_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="the command of --make ended with 3; run it alone: exit 3"):
        bisect.run(options_of(tmp_path, make="exit 3"), PretendedExchanges)
    with pytest.raises(ConfigurationError, match="give a larger --most-blocks"):
        bisect.run(options_of(tmp_path, most_blocks=8), PretendedExchanges)


def test_a_plan_of_equal_steps_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = options_of(tmp_path)
    options.plan.write_text(PLAN.replace("@VERSION@", "1"))
    with pytest.raises(ConfigurationError, match="neither the plan nor --make has @VERSION@"):
        bisect.run(options, PretendedExchanges)
    options.plan.write_text(PLAN.replace('[stop]\nrule = "expectations"', ""))
    with pytest.raises(ConfigurationError, match="rule = "):
        bisect.run(options, PretendedExchanges)
    (tmp_path / "versions").write_text("one\n")
    assert main(["bisect", str(options.plan), str(tmp_path / "versions")]) == 3
    assert "at least two versions" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
