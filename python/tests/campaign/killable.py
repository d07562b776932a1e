"""A program that runs campaigns on a testbed that only does as if, in children it kills at random moments.

    killable.py kills PLAN FOLDER COUNT SEED   kill COUNT children, resume each time, then finish; JSON on stdout
    killable.py whole PLAN FOLDER              one run that nobody kills
    killable.py cli PLAN FOLDER                `resolab run` with trials of 0.3 s, for signals

Children are forked from this process, which has everything imported: a kill costs milliseconds, not a start of Python.
"""

import asyncio
import functools
import io
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console

from resolab import campaign
from resolab.basics.records import BrowserKind, PageFailure, PageLoadRecord, TrialFlag
from resolab.campaign import manifests, provenance, resume_campaign, run_campaign
from resolab.cli import experiment
from resolab.plan import Condition, Plan, load_plan
from resolab.trials.trial_result import TrialResult

TRIAL_S = 0.005
LATE_SHARE = 0.02
"""So seldom late that several paths stay several."""
AT_THE_START = 0.2
"""Share of kills that come soon after the process began, whatever it has done."""


class PretendedTestbed:
    """Trials that take no browser: what they record depends on the condition and the trial's identifier alone."""

    def __init__(self, plan: Plan, seed: int, folder: Path, number: int, *, trial_s: float = TRIAL_S) -> None:
        self._trial_s = trial_s

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return

    async def run_trial(self, condition: Condition, trial_id: str) -> TrialResult:
        await asyncio.sleep(self._trial_s)
        chance = random.Random(f"{condition.id}/{trial_id}")
        failure = PageFailure.PAGE_TIMEOUT if chance.random() < 0.03 else None
        plt_ms = 400.0 + 20.0 * chance.random() + (50.0 if condition.dns_transport == "doh" else 0.0)
        load = PageLoadRecord(
            url=f"https://{condition.page}.resolab.test/",
            browser=condition.browser,
            browser_version="1",
            measured=True,
            requested_handshake_mode=condition.requested_handshake_mode,
            handshake_mode=condition.requested_handshake_mode,
            plt_ms=None if failure else plt_ms,
            response_start_ms=None if failure else plt_ms / 2,
            failure=failure,
            limit_ms=30_000.0,
        )
        flags = [TrialFlag.LATENESS_EXCEEDED] if chance.random() < LATE_SHARE else []
        return TrialResult([load], flags, failed=failure is not None)


def run(plan: Path, folder: Path) -> None:
    """Begin the campaign or, where there is one, go on with it."""
    console = Console(file=io.StringIO())
    if (folder / "manifest.json").exists():
        resume_campaign(folder, console, PretendedTestbed)
    else:
        run_campaign(load_plan(plan), folder, console, PretendedTestbed)


def finished(folder: Path) -> int:
    try:
        return sum(file.suffix == ".jsonl" for file in (folder / "trials").iterdir())
    except FileNotFoundError:
        return 0


def kill(plan: Path, folder: Path, chance: random.Random) -> str:
    """Run the campaign in a child and kill it; say in what state it was, or that it ended before."""
    before = finished(folder)
    child = os.fork()
    if child == 0:
        try:
            run(plan, folder)
        except BaseException as error:
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    if chance.random() >= AT_THE_START:
        wanted = before + chance.randint(1, 6)
        while finished(folder) < wanted and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            time.sleep(0.0005)
    time.sleep(chance.random() * 0.03)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        return f"ended with {os.waitstatus_to_exitcode(status)}"
    if not (folder / "manifest.json").exists():
        return "before the manifest"
    in_flight = len(list((folder / "trials").glob("*.partial")))
    return f"within {in_flight} trials" if in_flight else "between trials"


def main() -> None:
    action, plan, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    # Neither browsers nor resolab-core take part.
    manifests._VERSION_OF = {browser: lambda: "1" for browser in BrowserKind}  # type: ignore[assignment]
    manifests._core_version = lambda: "1"
    provenance._core_sha256 = lambda: None
    if action == "whole":
        run(plan, folder)
    elif action == "kills":
        chance = random.Random(int(sys.argv[5]))
        states = Counter(kill(plan, folder, chance) for _ in range(int(sys.argv[4])))
        run(plan, folder)
        sys.stdout.write(json.dumps(states))
    else:
        slow = functools.partial(PretendedTestbed, trial_s=0.3)
        campaign.run_campaign = functools.partial(run_campaign, make_testbed=slow)  # type: ignore[assignment]
        sys.exit(experiment.run(plan, out=folder, seed=None, blocks=None))


if __name__ == "__main__":
    main()
