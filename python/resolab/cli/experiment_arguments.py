"""Arguments of `resolab run`, `resume` and `report`. Not for: the commands themselves (`experiment`)."""

import argparse
from pathlib import Path

from resolab.cli.output_place import read_output_place


def add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `run`."""
    run = commands.add_parser(
        "run",
        help="run a plan; ends with a report",
        description="Run a plan into a new dataset; ends with a report. Plans: docs/formats/plan.md.",
        epilog="example: resolab run quick --blocks 2",
    )
    run.add_argument(
        "plan",
        type=Path,
        nargs="?",
        default=Path("quick"),
        help="the plan: a TOML file, or the name of a plan of the project (default: quick)",
    )
    run.add_argument("--out", type=Path, help="the dataset's folder (default: runs/PLAN-DATE-TIME)")
    run.add_argument("--seed", type=int, help="use this seed instead of the plan's")
    run.add_argument("--blocks", type=int, help="run this many blocks instead of the plan's number")
    run.add_argument(
        "--vantage", metavar="NAME", help="run as this vantage point of a fleet does: its name in trials, its own order"
    )
    run.add_argument("--dry-run", action="store_true", help="live plans: say who would be contacted, contact nobody")
    run.add_argument(
        "--json",
        action="store_true",
        help="with --dry-run: one JSON object a contact; with --check: the verdicts",
    )
    _add_check(run)
    return run


def add_check(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `check`."""
    check = commands.add_parser(
        "check",
        help="verdicts on a dataset's expectations, for build pipelines",
        description="Judge a dataset by the [[expect]] tables of its plan (docs/guides/checks.md). Exit codes: 0 none "
        "is not met, 1 one or more are not met, 6 some are undecided with --undecided fail, 3 and 4 no verdict.",
    )
    check.add_argument("dataset", type=Path, help="the dataset's folder")
    check.add_argument("--json", action="store_true", help="the verdicts as one JSON object")
    add_check_options(check)
    return check


def add_bisect(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `bisect`."""
    bisect = commands.add_parser(
        "bisect",
        help="the first version that a plan's expectations find slower",
        description="Run one plan for versions in the middle of an ordered list, and name the first version with an "
        "expectation not met. @VERSION@ in the plan and in --make becomes the version. The plan needs [stop] rule = "
        '"expectations"; undecided steps get more blocks. Exit codes: 0 named, 6 undecided, 3 the last version is met '
        "or the first is not. Guide: docs/guides/build-pipeline.md.",
        epilog="example: (git rev-parse v1; git rev-list --reverse v1..v2) | "
        "resolab bisect mine.toml - --make './build.sh @VERSION@'",
    )
    bisect.add_argument("plan", type=Path, help="the plan: a TOML file, with @VERSION@ or beside --make")
    bisect.add_argument("versions", type=Path, help="a file with one version a line, the good one first; - is stdin")
    bisect.add_argument("--make", metavar="COMMAND", help="a shell command that makes a version, before its run")
    bisect.add_argument(
        "--most-blocks", type=int, default=400, metavar="N", help="of an undecided step (default: %(default)s)"
    )
    bisect.add_argument("--out", type=Path, help="the folder of all datasets (default: runs/bisect-PLAN-DATE-TIME)")
    bisect.add_argument("--json", action="store_true", help="the result as one JSON object")
    return bisect


def _add_check(parser: argparse.ArgumentParser) -> None:
    """Add `--check` and its options to a command that runs trials."""
    parser.add_argument(
        "--check", action="store_true", help="end with verdicts on the plan's [[expect]] (docs/guides/checks.md)"
    )
    add_check_options(parser)


def add_check_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of verdicts."""
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the verdicts as JUnit XML, too")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the verdicts as Markdown, too")
    parser.add_argument(
        "--undecided", choices=["pass", "fail"], default="pass", help="exit code of undecided: 0 or 6 (default: pass)"
    )


def add_resume(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `resume`."""
    resume = commands.add_parser(
        "resume",
        help="finish a run that was interrupted, killed or ended in an error",
        description="Finish a run from where it stands. What a dataset holds: docs/formats/dataset.md.",
    )
    resume.add_argument("dataset", type=Path, help="the dataset's folder")
    resume.add_argument("--json", action="store_true", help="with --check: the verdicts as one JSON object")
    _add_check(resume)
    return resume


def add_report(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the parser of `report`."""
    report = commands.add_parser(
        "report",
        help="build tables and report of a dataset anew",
        description="Build tables and report of a dataset anew. A published dataset (docs/results) has no trials: its "
        "tables stay. How the numbers are estimated: docs/method/statistics.md.",
    )
    report.add_argument("dataset", type=Path, help="the dataset's folder")
    place = "the report's folder (default: DATASET/report)"
    report.add_argument("-o", "--output", type=read_output_place, metavar="OUT", help=place)
    return report
