"""`resolab bisect`: run one plan for versions of a list, and name the first version not met.

For: making, running and judging each step, and the output. Not for: the order of the steps (`campaign.bisection`).
"""

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.cli.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolab.campaign import CampaignOutcome
    from resolab.campaign.bisection import Bisection
    from resolab.campaign.checks.decision import Verdict
    from resolab.campaign.loop import MakeTestbed
    from resolab.plan import Plan

PLACEHOLDER = "@VERSION@"
EXIT_NOT_BRACKETED = 3
EXIT_UNDECIDED = 6
EXIT_INTERRUPTED = 130
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class InterruptedStepError(Exception):
    """A step was interrupted: the search ends."""


@dataclass
class Steps:
    """The steps of a search, each in a dataset of its own."""

    plan_file: Path
    plan_text: str
    versions: list[str]
    folder: Path
    most_blocks: int
    make: str | None = None
    make_testbed: "MakeTestbed | None" = None
    """Another maker of testbeds, for tests."""
    notes: Console = field(default_factory=lambda: Console(stderr=True))
    done: list[dict[str, Any]] = field(default_factory=list)

    def judge(self, place: int) -> "Verdict":
        """Make and run a version, with more blocks while it is undecided."""
        from resolab.campaign import extend_campaign
        from resolab.campaign.checks.decision import Verdict

        version = self.versions[place]
        if self.make is not None:
            _make(self.make.replace(PLACEHOLDER, shlex.quote(version)), version)
        plan = self.load_plan(version)
        folder = self.folder / f"{place + 1:03}-{_NOT_IN_NAMES.sub('-', version)[:60]}"
        blocks = self._begin(plan, folder)
        verdict, sentences = _read_verdict(folder)
        while verdict is Verdict.UNDECIDED and blocks < self.most_blocks:
            blocks = min(2 * blocks, self.most_blocks)
            self._run(partial(extend_campaign, folder, blocks, self.notes))
            verdict, sentences = _read_verdict(folder)
        self._note(place, verdict, sentences, folder)
        return verdict

    def load_plan(self, version: str) -> "Plan":
        """Read the plan of a version, without the placeholder."""
        from resolab.plan import Corpus, parse_plan

        text, base = self.plan_text.replace(PLACEHOLDER, version), self.plan_file.absolute().parent
        return parse_plan(text, f"{self.plan_file} ({version})", Corpus.from_project(), base=base)

    def _begin(self, plan: "Plan", folder: Path) -> int:
        """Run a step, or finish the step of an earlier search in the same folder; return the blocks so far."""
        from resolab.campaign import resume_campaign, run_campaign
        from resolab.store import load_manifest
        from resolab.store.folder import MANIFEST

        if not (folder / MANIFEST).is_file():
            self._run(lambda make: run_campaign(plan, folder, self.notes, make))
            return plan.blocks
        if load_manifest(folder).plan_text != plan.source_text:
            raise ConfigurationError(f"could not bisect: {folder} is a step of another plan; give another --out")
        self._run(lambda make: resume_campaign(folder, self.notes, make))
        return load_manifest(folder).blocks

    def _run(self, campaign: "Callable[[MakeTestbed], CampaignOutcome]") -> None:
        from resolab.campaign.run import make_trial_runner

        if campaign(self.make_testbed or make_trial_runner).interrupted:
            raise InterruptedStepError

    def _note(self, place: int, verdict: "Verdict", sentences: list[str], folder: Path) -> None:
        version = self.versions[place]
        line = f"step {len(self.done) + 1}: {version} ({place + 1} of {len(self.versions)}): {verdict}: {sentences[0]}"
        self.notes.print(line, highlight=False, markup=False, soft_wrap=True)
        self.done.append({"version": version, "verdict": verdict.value, "sentences": sentences, "dataset": str(folder)})


def run(options: argparse.Namespace, make_testbed: "MakeTestbed | None" = None) -> int:
    """Search, print the first bad version, and return the exit code."""
    from resolab.campaign.bisection import find_first_bad
    from resolab.plan import Corpus

    plan_file = Corpus.from_project().plan_file(options.plan)
    versions = _read_versions(options.versions)
    folder = options.out or Path("runs") / f"bisect-{plan_file.stem}-{time.strftime('%Y%m%d-%H%M%S')}"
    steps = Steps(plan_file, _read_text(plan_file), versions, folder, options.most_blocks, options.make, make_testbed)
    _check(steps)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        found = find_first_bad(len(versions), steps.judge)
    except (InterruptedStepError, KeyboardInterrupt):
        print(f"stopped; go on with the same command and --out {folder}", file=sys.stderr)
        return EXIT_INTERRUPTED
    _print(found, steps, as_json=options.json)
    if found.is_found:
        return 0
    return EXIT_NOT_BRACKETED if found.undecided is None else EXIT_UNDECIDED


def _read_versions(file: Path) -> list[str]:
    text = sys.stdin.read() if str(file) == "-" else _read_text(file)
    versions = [line.strip() for line in text.splitlines() if line.strip()]
    if len(versions) < 2 or len(set(versions)) < len(versions):
        problem = "it needs at least two versions, each once"
        raise ConfigurationError(f"could not bisect: {file}: {problem}; write one version a line, the good one first")
    return versions


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"could not bisect: failed to read {file}: {error}; give a text file") from error


def _check(steps: Steps) -> None:
    """Refuse a plan that cannot tell versions apart, before the first run."""
    from resolab.plan import StopRule

    if PLACEHOLDER not in steps.plan_text + (steps.make or ""):
        problem = f"neither the plan nor --make has {PLACEHOLDER}, so all steps would be the same"
        raise ConfigurationError(f"could not bisect {steps.plan_file}: {problem}; add it to one of them")
    plans = [steps.load_plan(version) for version in steps.versions]
    if any(plan.blocks > steps.most_blocks for plan in plans):
        problem = f"the plan has more blocks than --most-blocks, {steps.most_blocks}"
        raise ConfigurationError(f"could not bisect {steps.plan_file}: {problem}; give a larger --most-blocks")
    if any(plan.stop is None or plan.stop.rule is not StopRule.EXPECTATIONS for plan in plans):
        problem = "undecided steps get more blocks, and only verdicts at any look allow this"
        raise ConfigurationError(f'could not bisect {steps.plan_file}: {problem}; add [stop] rule = "expectations"')


def _make(command: str, version: str) -> None:
    """Make a version by the user's own shell command."""
    standard_error = 2
    # A session of its own: an interrupt ends the shell's children, too.
    with subprocess.Popen(["/bin/sh", "-c", command], stdout=standard_error, start_new_session=True) as process:
        try:
            code = process.wait()
        except BaseException:
            os.killpg(process.pid, signal.SIGTERM)
            raise
    if code:
        problem = f"the command of --make ended with {code}"
        raise MachineError(f"could not make version {version}: {problem}; run it alone: {command}")


def _read_verdict(folder: Path) -> "tuple[Verdict, list[str]]":
    """Return a step's verdict, and the sentences behind it, the deciding ones first."""
    from resolab.campaign.bisection import join_verdicts
    from resolab.report.verdicts.dataset_check import check_dataset

    results = check_dataset(folder).results
    verdict = join_verdicts([one.verdict for one in results])
    ordered = sorted(results, key=lambda one: one.verdict is not verdict)
    return verdict, [f"{one.expectation.name}: {one.sentence}" for one in ordered]


def _print(found: "Bisection", steps: Steps, *, as_json: bool) -> None:
    versions = steps.versions
    named = versions[found.bad] if found.is_found and found.bad is not None else None
    if as_json:
        places = {"first_bad": named, "last_good": None if found.good is None else versions[found.good]}
        undecided = None if found.undecided is None else versions[found.undecided]
        print(json.dumps({**places, "undecided": undecided, "steps": steps.done, "folder": str(steps.folder)}))
        return
    if named is not None and found.good is not None:
        print(f"first bad version: {named} (last good: {versions[found.good]}), {len(steps.done)} steps")
    elif found.undecided is not None and found.good is not None and found.bad is not None:
        open_versions = ", ".join(versions[found.good + 1 : found.bad + 1])
        print(f"undecided: {versions[found.undecided]}; the first bad version is among {open_versions}")
    elif found.undecided is not None:
        end = "first" if found.undecided == 0 else "last"
        print(f"undecided: the {end} version, {versions[found.undecided]}; the search needs verdicts on both ends")
    elif found.bad is None:
        print(f"no bad version: the last, {versions[-1]}, is met")
    else:
        print(f"no good version: already the first, {versions[0]}, is not met")
