"""`resolab check DIR`, and the end of `run --check`: verdicts on a plan's expectations, with an exit code.

For: the output and the exit code. Not for: the verdicts (`report.verdicts`).
"""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from resolab.basics.errors import ResolabError, UsageError
from resolab.cli.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable

    from resolab.report.verdicts.dataset_check import DatasetCheck

EXIT_NOT_MET = 1
EXIT_UNDECIDED = 6


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """The forms of the verdicts."""

    as_json: bool = False
    junit_file: Path | None = None
    markdown_file: Path | None = None
    undecided_fails: bool = False


def read_check_options(options: argparse.Namespace) -> CheckOptions:
    """Return the forms of the verdicts from a command's arguments."""
    return CheckOptions(options.json, options.junit, options.markdown, options.undecided == "fail")


def read_optional_check(command: str, options: argparse.Namespace) -> CheckOptions | None:
    """Return the forms of the verdicts with `--check`, else `None`; refuse forms without `--check`."""
    if options.check:
        return read_check_options(options)
    given = {"--junit": options.junit, "--markdown": options.markdown, "--undecided fail": options.undecided == "fail"}
    named = [name for name, value in given.items() if value]
    if named:
        raise UsageError(f"{command}: {named[0]} is for --check, which gives the verdicts")
    return None


def run(folder: Path, options: CheckOptions) -> int:
    """Judge a dataset, show and write the verdicts; return the exit code."""
    from resolab.report.verdicts.dataset_check import check_dataset
    from resolab.store import dataset_folder

    return _judge(folder.name, options, lambda: check_dataset(dataset_folder(folder)))


def run_across(first: Path, second: Path, options: CheckOptions, *, any_margin: bool) -> int:
    """Judge a dataset against another one, show and write the verdicts; return the exit code."""
    from resolab.report.verdicts.across_datasets import check_across
    from resolab.store import dataset_folder

    folders = (dataset_folder(first), dataset_folder(second))
    return _judge(second.name, options, lambda: check_across(*folders, any_margin=any_margin))


def _judge(name: str, options: CheckOptions, judge: "Callable[[], DatasetCheck]") -> int:
    from resolab.campaign.checks.decision import Verdict
    from resolab.report.verdicts import forms
    from resolab.store import write_named

    with missing_verdict_on_error(name, options):
        check = judge()
    if options.junit_file is not None:
        write_named(options.junit_file, forms.junit(check, undecided_fails=options.undecided_fails))
    if options.markdown_file is not None:
        write_named(options.markdown_file, forms.markdown(check).encode())
    if options.as_json:
        print(json.dumps(forms.as_json(check)))
    else:
        console = Console()
        for line in forms.lines(check):
            console.print(line, highlight=False, markup=False, soft_wrap=True)
    if check.count(Verdict.NOT_MET):
        return EXIT_NOT_MET
    return EXIT_UNDECIDED if options.undecided_fails and check.count(Verdict.UNDECIDED) else 0


@contextmanager
def missing_verdict_on_error(plan: str, options: CheckOptions) -> Iterator[None]:
    """Write the JUnit file of a run without a verdict when an error ends the block."""
    try:
        yield
    except ResolabError as error:
        write_missing_verdict(plan, str(error), options)
        raise


def write_missing_verdict(plan: str, problem: str, options: CheckOptions) -> None:
    """Write the JUnit file of a run without a verdict."""
    from resolab.report.verdicts import forms
    from resolab.store import write_named

    if options.junit_file is not None:
        write_named(options.junit_file, forms.junit_without_verdict(plan, problem))
