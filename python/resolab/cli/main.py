"""`resolab`: arguments, and errors as one line with an exit code.

For: the names of design's command line; each subcommand hands over at once. Not for: work. Imports of the rooms stand
inside the functions, so that `--help` and a run's start do not wait for the plotting libraries.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import resolab
from resolab.errors import ResolabError

EXIT_INTERRUPTED = 130
EPILOGUE = """exit codes: 0 done (failed loads are data), 2 usage, 3 bad configuration, 4 the machine lacks something,
5 deadline, 70 internal, 127 unsupported combination, 130 interrupted (resume goes on)"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        code: int = options.run(options)
    except ResolabError as error:
        print(f"resolab: {' '.join(str(error).split())}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("resolab: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="resolab",
        description="Measures what name resolution does to the web a person feels.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"resolab {resolab.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    run = commands.add_parser(
        "run", help="run a plan; ends with a report", description="Run a plan; ends with a report."
    )
    run.add_argument("plan", type=Path, help="the plan, a TOML file")
    run.add_argument("--out", type=Path, help="the dataset's folder (default: runs/PLAN-DATE-TIME)")
    run.add_argument("--seed", type=int, help="use this seed instead of the plan's")
    run.add_argument("--blocks", type=int, help="run this many blocks instead of the plan's number")
    run.set_defaults(run=_run)

    resume = commands.add_parser("resume", help="finish a run that was interrupted, killed or ended in an error")
    resume.add_argument("dataset", type=Path, help="the dataset's folder")
    resume.set_defaults(run=_resume)

    report = commands.add_parser("report", help="build tables and report of a dataset anew")
    report.add_argument("dataset", type=Path, help="the dataset's folder")
    report.set_defaults(run=_report)

    doctor = commands.add_parser("doctor", help="what this machine has and lacks")
    doctor.set_defaults(run=_doctor)
    return parser


def _run(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.run(options.plan, out=options.out, seed=options.seed, blocks=options.blocks)


def _resume(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.resume(options.dataset)


def _report(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.report(options.dataset)


def _doctor(_options: argparse.Namespace) -> int:
    from resolab.cli import doctor

    return doctor.run()
