"""`resolab`: parse the arguments and run the named command.

For: the names of the command line; each subcommand is called at once. Not for: the work, or the end of a command
(`command_end`). Imports of the rooms are inside the functions, so `--help` and a run's start do not wait for the
plotting libraries.
"""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import resolab
from resolab.cli.calibrate_arguments import add_calibrate
from resolab.cli.command_end import begin_streams, end
from resolab.cli.dataset.arguments import (
    add_compare,
    add_evidence,
    add_export,
    add_har,
    add_history,
    add_merge,
    add_waterfall,
)
from resolab.cli.experiment_arguments import add_bisect, add_check, add_report, add_resume, add_run
from resolab.cli.fleet.arguments import add_fleet
from resolab.cli.internet.arguments import add_internet
from resolab.cli.list_arguments import add_list
from resolab.cli.page.arguments import add_page
from resolab.cli.parser import Parser
from resolab.cli.plan.arguments import add_plan
from resolab.cli.program_commands import add_program_commands, become_program, is_program_command
from resolab.cli.query.arguments import add_query
from resolab.cli.terminal_size import drop_unusable_size
from resolab.cli.visit.arguments import add_visit

EPILOGUE = """exit codes: 0 done (failed loads and queries are data), 1 outside a tolerance (calibrate), beyond
a --fail or an expectation not met (--check), 2 usage, 3 bad configuration, 4 the machine lacks something,
5 deadline, 6 an expectation undecided (--undecided fail), 70 internal, 127 unsupported combination,
130 interrupted (resume goes on), 141 nobody reads on"""
_FORMER_NAMES: dict[tuple[str, ...], tuple[str, ...]] = {("page", "path"): ("page", "critical-path")}
"""Renamed commands: the former name still works, and help shows the new name only."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    before = signal.getsignal(signal.SIGTERM)
    try:
        begin_streams()
        drop_unusable_size(os.environ)
        if is_program_command(words):
            become_program(words)
        options = _options(words)
        signal.signal(signal.SIGTERM, _interrupt)
        return end(None, options.run(options))
    except SystemExit as error:
        code = end(error)
        if code != error.code:
            return code
        raise
    except BaseException as error:  # noqa: BLE001 - the one boundary
        return end(error)
    finally:
        signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: object) -> None:
    """End as after Ctrl-C; a campaign has its own handlers while its trials run."""
    raise KeyboardInterrupt


def _options(arguments: list[str]) -> argparse.Namespace:
    parser, query = _parsers()
    arguments = [*_FORMER_NAMES.get(tuple(arguments[:2]), arguments[:2]), *arguments[2:]]
    if arguments[:1] != ["query"]:
        return parser.parse_args(arguments)
    # As dig's users write it: options and @SERVER in any order. After `--` stand names alone.
    words = arguments[1:]
    end_of_options = words.index("--") if "--" in words else len(words)
    options = query.parse_intermixed_args(words[:end_of_options])
    options.plain_names = words[end_of_options + 1 :]
    return options


def _parsers() -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """Build the parser of the whole command and the parser of `query`."""
    parser: argparse.ArgumentParser = Parser(
        prog="resolab",
        description="A testbed for DNS transports: page load and DNS response times over emulated access links.",
        epilog=EPILOGUE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"resolab {resolab.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    add_run(commands).set_defaults(run=_run)
    add_resume(commands).set_defaults(run=_resume)
    add_report(commands).set_defaults(run=_report)
    add_check(commands).set_defaults(run=_check)
    add_bisect(commands).set_defaults(run=_bisect)
    add_compare(commands).set_defaults(run=_compare)
    add_history(commands).set_defaults(run=_history)
    add_export(commands).set_defaults(run=_export)
    add_merge(commands).set_defaults(run=_merge)
    add_har(commands).set_defaults(run=_har)
    add_waterfall(commands).set_defaults(run=_waterfall)
    add_evidence(commands).set_defaults(run=_evidence)
    add_plan(commands).set_defaults(run=_plan)
    add_calibrate(commands).set_defaults(run=_calibrate)
    query = add_query(commands)
    query.set_defaults(run=_query)
    add_visit(commands).set_defaults(run=_visit)
    add_program_commands(commands)
    add_fleet(commands).set_defaults(run=_fleet)
    add_internet(commands).set_defaults(run=_internet)
    add_list(commands).set_defaults(run=_list)
    add_page(commands).set_defaults(run=_page)
    doctor = commands.add_parser(
        "doctor",
        help="what this machine has and lacks",
        description="Say what this machine has and lacks. What its lacks do to numbers: docs/limitations.md.",
    )
    doctor.add_argument(
        "--invitation", type=Path, metavar="FILE", help="whether a fleet's server lets this machine take part, too"
    )
    doctor.set_defaults(run=_doctor)
    return parser, query


def _run(options: argparse.Namespace) -> int:
    from resolab.cli import experiment
    from resolab.cli.dataset.check import read_optional_check

    return experiment.run(
        options.plan,
        out=options.out,
        seed=options.seed,
        blocks=options.blocks,
        vantage=options.vantage,
        dry_run=options.dry_run,
        as_json=options.json,
        check=read_optional_check("run", options),
    )


def _check(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import check

    return check.run(options.dataset, check.read_check_options(options))


def _bisect(options: argparse.Namespace) -> int:
    from resolab.cli import bisect

    return bisect.run(options)


def _resume(options: argparse.Namespace) -> int:
    from resolab.cli import experiment
    from resolab.cli.dataset.check import read_optional_check

    check = read_optional_check("resume", options)
    return experiment.resume(options.dataset, as_json=options.json, check=check)


def _report(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.report(options.dataset, options.output)


def _history(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import history

    return history.run(options)


def _compare(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import compare

    return compare.run(options)


def _plan(options: argparse.Namespace) -> int:
    from resolab.cli.plan import actions

    return actions.run(options)


def _export(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import export

    return export.run(options.dataset, options.output, options.format, options.table or [])


def _merge(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import merge

    return merge.run(options.output, options.datasets)


def _har(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import har

    return har.run(options.dataset, options.trials, options.output)


def _waterfall(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import waterfall

    return waterfall.run(options)


def _evidence(options: argparse.Namespace) -> int:
    from resolab.cli.dataset import evidence

    return evidence.run(options)


def _calibrate(options: argparse.Namespace) -> int:
    from resolab.cli import calibrate

    return calibrate.run(
        options.profiles,
        seconds=options.seconds,
        seed=options.seed,
        keep_awake=not options.no_keep_awake,
        backend=options.backend,
        to=calibrate.Destinations(json=options.json, output=options.output, dataset=options.dataset),
    )


def _query(options: argparse.Namespace) -> int:
    from resolab.cli.query import command

    return command.run(options)


def _visit(options: argparse.Namespace) -> int:
    from resolab.cli.visit import command

    return command.run(options)


def _list(options: argparse.Namespace) -> int:
    from resolab.cli import listing

    return listing.run(options.what, options.words, as_json=options.json, whole=options.all)


def _page(options: argparse.Namespace) -> int:
    from resolab.cli.page import actions

    return actions.run(options)


def _fleet(options: argparse.Namespace) -> int:
    from resolab.cli.fleet import command

    return command.run(options)


def _internet(options: argparse.Namespace) -> int:
    from resolab.cli.internet import command

    return command.run(options)


def _doctor(options: argparse.Namespace) -> int:
    from resolab.cli import doctor

    return doctor.run(options.invitation)
