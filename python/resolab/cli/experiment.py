"""`resolab run`, `resume` and `report`: from a plan to a dataset with a report.

For: joining plan, campaign and report, and the output for people. Not for: the work of these.
"""

import json
import os
import shlex
import sys
import time
import tomllib
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from resolab.basics.errors import ConfigurationError, UsageError, is_interruption
from resolab.basics.wording import format_count
from resolab.cli.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolab.campaign.run import CampaignOutcome
    from resolab.cli.dataset.check import CheckOptions
    from resolab.plan import Plan

EXIT_INTERRUPTED = 130
PIPED_WIDTH = 160


def run(
    plan_file: Path,
    *,
    out: Path | None,
    seed: int | None,
    blocks: int | None,
    vantage: str | None = None,
    dry_run: bool = False,
    as_json: bool = False,
    check: "CheckOptions | None" = None,
) -> int:
    """Run a plan into a new dataset, or list the contacts of a live plan; with `check`, end with verdicts."""
    from resolab.campaign import run_campaign
    from resolab.campaign.block_count_check import too_few_blocks
    from resolab.plan import load_plan
    from resolab.plan.live.vantage import move_to_vantage

    if as_json and not dry_run and check is None:
        raise UsageError("run: --json is for --dry-run and --check")
    with _missing_verdict_on_error(plan_file.stem, check):
        _check_name(out)
        plan = load_plan(plan_file, seed=seed, blocks=blocks)
        if vantage is not None:
            plan = move_to_vantage(plan, vantage)
        if check is not None:
            _require_expectations(plan.name, plan.source_text)
    folder = out or Path("runs") / f"{plan.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    notes = Console(stderr=True)
    few = too_few_blocks(plan)
    if few is not None:
        _say(notes, f"warning: {few}")
    if dry_run:
        return _dry_run(plan, as_json=as_json)
    if check is None:
        outcome = run_campaign(plan, folder, notes)
        return _finish(folder, interrupted=outcome.interrupted)
    return _run_and_check(plan.name, folder, notes, check, lambda: run_campaign(plan, folder, notes))


def _run_and_check(
    plan: str, folder: Path, notes: Console, check: "CheckOptions", campaign: "Callable[[], CampaignOutcome]"
) -> int:
    """Run or resume a campaign and judge its dataset; a run without an end has no verdict."""
    from resolab.cli.dataset.check import run as judge
    from resolab.cli.dataset.check import write_missing_verdict

    with _missing_verdict_on_error(plan, check):
        outcome = campaign()
    if outcome.interrupted:
        write_missing_verdict(plan, "the run was interrupted", check)
        return _finish(folder, interrupted=True)
    code = judge(folder, check)
    _say(notes, f"dataset: {folder}")
    return code


def _require_expectations(name: str, plan_text: str) -> None:
    """Refuse verdicts on a plan without expectations, before any trial."""
    if not tomllib.loads(plan_text).get("expect"):
        raise ConfigurationError(f"could not check {name}: it expects nothing; add [[expect]] (docs/guides/checks.md)")


def _missing_verdict_on_error(plan: str, check: "CheckOptions | None") -> AbstractContextManager[None]:
    if check is None:
        return nullcontext()
    from resolab.cli.dataset.check import missing_verdict_on_error

    return missing_verdict_on_error(plan, check)


def _dry_run(plan: "Plan", *, as_json: bool) -> int:
    from resolab.campaign.live_expectation import estimate_live_run
    from resolab.campaign.progress import duration_text
    from resolab.cli.visit import objects
    from resolab.cli.visit.dry_run import contact_list
    from resolab.trials.live.network_access import read_system_resolver

    if plan.live is None:
        problem = "it runs in the lab and contacts nobody; `resolab plan check` says what it does"
        raise ConfigurationError(f"could not list contacts of {plan.name}: {problem}")
    expected = estimate_live_run(plan, read_system_resolver().address)
    if as_json:
        for one in expected.contacts:
            print(json.dumps(objects.contact(one)))
        return 0
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
    console.print(contact_list(expected.contacts))
    times = f"{format_count(expected.trials_count, 'load')}, about {expected.loads_an_hour:.0f} an hour"
    _say(console, f"{times}: {duration_text(expected.expected_s)}. Nobody was contacted.")
    return 0


def _check_name(out: Path | None) -> None:
    try:
        str(out).encode()
    except UnicodeEncodeError:
        problem = "its name is no text, and names stand in the dataset; give another --out"
        raise ConfigurationError(f"could not write into {out}: {problem}") from None


def resume(folder: Path, *, as_json: bool = False, check: "CheckOptions | None" = None) -> int:
    """Finish an interrupted dataset; with `check`, end with verdicts."""
    from resolab.campaign import resume_campaign
    from resolab.store import load_manifest

    notes = Console(stderr=True)
    if check is not None:
        with _missing_verdict_on_error(folder.name, check):
            _require_expectations(folder.name, load_manifest(folder).plan_text)
        return _run_and_check(folder.name, folder, notes, check, lambda: resume_campaign(folder, notes))
    if as_json:
        raise UsageError("resume: --json is for --check")
    outcome = resume_campaign(folder, notes)
    return _finish(folder, interrupted=outcome.interrupted)


def report(folder: Path, output: Path | None = None) -> int:
    """Build tables and report of a dataset; the report lies in the dataset, or where told."""
    if folder.name == "manifest.json" and folder.is_file():
        folder = folder.parent
    if not (folder / "manifest.json").is_file():
        raise ConfigurationError(f"could not report on {folder}: it has no manifest.json, so it is no dataset")
    return _finish(folder, interrupted=False, output=output)


def _finish(folder: Path, *, interrupted: bool, output: Path | None = None) -> int:
    if interrupted:
        hint = f"stopped; every finished trial is kept. Go on with: {_own_name()} resume {shlex.quote(str(folder))}"
        _say(Console(stderr=True), hint)
        return EXIT_INTERRUPTED
    from resolab.report import make_report, terminal_summary

    try:
        made = make_report(folder, output)
    except (KeyboardInterrupt, RuntimeError) as error:
        if not is_interruption(error):
            raise
        hint = f"stopped; the dataset is whole. Make its report with: {_own_name()} report {shlex.quote(str(folder))}"
        _say(Console(stderr=True), hint)
        return EXIT_INTERRUPTED
    # A pipe or a file has no width of its own: nothing is cut there.
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)
    console.print(terminal_summary(made.reading.findings, made.reading.live))
    _say(console, f"dataset: {folder}")
    _say(console, f"report:  {made.page}")
    return 0


def _say(console: Console, line: str) -> None:
    """Print a line without markup: a path may contain characters of markup."""
    console.print(line, highlight=False, markup=False, soft_wrap=True)


def _own_name() -> str:
    """Return the command name for another call: the checkout's script, or the program on the PATH."""
    return shlex.quote(os.environ.get("RESOLAB_COMMAND", "resolab"))
