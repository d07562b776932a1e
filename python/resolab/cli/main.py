"""`resolab`: arguments, and errors as one line with an exit code.

For: the names of design's command line; each subcommand hands over at once. Not for: work. Imports of the rooms stand
inside the functions, so that `--help` and a run's start do not wait for the plotting libraries.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import resolab
from resolab.cli.compare import add_compare
from resolab.cli.plan_arguments import add_plan
from resolab.cli.query_arguments import add_query
from resolab.cli.waterfall import add_waterfall
from resolab.errors import ResolabError

EXIT_INTERRUPTED = 130
EPILOGUE = """exit codes: 0 done (failed loads and queries are data), 1 outside a tolerance (calibrate), 2 usage,
3 bad configuration, 4 the machine lacks something, 5 deadline, 70 internal, 127 unsupported combination,
130 interrupted (resume goes on)"""


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

    add_compare(commands).set_defaults(run=_compare)
    _add_export(commands)
    _add_merge(commands)
    _add_har(commands)
    add_waterfall(commands).set_defaults(run=_waterfall)
    add_plan(commands).set_defaults(run=_plan)
    _add_calibrate(commands)
    add_query(commands).set_defaults(run=_query)

    doctor = commands.add_parser("doctor", help="what this machine has and lacks")
    doctor.set_defaults(run=_doctor)
    return parser


def _add_export(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    export = commands.add_parser(
        "export",
        help="tables of a dataset as CSV or Parquet",
        description="Write the tables of a dataset as CSV (lists as JSON text, null as an empty field) or Parquet, "
        "with a data dictionary (docs/formats/dataset.md).",
    )
    export.add_argument("dataset", type=Path, help="the dataset's folder")
    export.add_argument("--format", choices=["csv", "parquet"], default="csv", help="default: %(default)s")
    export.add_argument("-o", "--output", type=Path, metavar="OUT", help="the folder (default: DATASET/export)")
    export.add_argument(
        "--table", action="append", metavar="NAME", help="this table; can be given again (default: all)"
    )
    export.set_defaults(run=_export)


def _add_merge(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    merge = commands.add_parser(
        "merge",
        help="several runs of one plan as one dataset",
        description="Copy several runs of one plan into a new dataset: blocks are numbered on, every trial keeps the "
        "dataset it came from. Other conditions, profiles or formats are refused (docs/formats/dataset.md).",
    )
    merge.add_argument("output", type=Path, metavar="OUT", help="the new dataset's folder")
    merge.add_argument("datasets", type=Path, nargs="+", metavar="DIR", help="the datasets; two or more")
    merge.set_defaults(run=_merge)


def _add_har(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    har = commands.add_parser(
        "har",
        help="export page loads of a dataset as HTTP Archives (HAR 1.2)",
        description="Export measured page loads as HTTP Archives (HAR 1.2): one trial to a file or standard output, "
        "several or all into a folder (docs/formats/har.md).",
    )
    har.add_argument("dataset", type=Path, help="the dataset's folder")
    har.add_argument("trials", nargs="*", metavar="TRIAL", help="as b003-t017 (default: all finished trials)")
    har.add_argument(
        "-o", "--output", type=Path, metavar="PATH", help="file of a single trial (default: standard output), "
        "folder of several (default: DATASET/har)",
    )  # fmt: skip
    har.set_defaults(run=_har)


def _add_calibrate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    calibrate = commands.add_parser(
        "calibrate",
        help="measure the emulated path against what profiles ask of it",
        description="Measure the emulated path against what profiles ask of it, by probes of its own. "
        "Exit code 1: something is outside its tolerance (docs/method/calibration.md).",
    )
    calibrate.add_argument("profiles", nargs="*", metavar="PROFILE", help="name, or file.toml (default: all)")
    calibrate.add_argument("--seconds", type=float, default=20.0, help="length for each profile (default: %(default)g)")
    calibrate.add_argument("--seed", type=int, default=1, help="seed of the path (default: %(default)d)")
    calibrate.add_argument("--backend", choices=["tun", "packet", "netem"], help="what moves the packets")
    calibrate.add_argument(
        "--no-keep-awake", action="store_true", help="let idle processors halt, as they do in runs without keep_awake"
    )
    calibrate.add_argument("--json", action="store_true", help="one calibration record a line instead of tables")
    calibrate.add_argument("--output", type=Path, metavar="FILE", help="write the records there, too")
    calibrate.add_argument("--dataset", type=Path, metavar="RUN", help="add the records to this dataset and its report")
    calibrate.set_defaults(run=_calibrate)


def _run(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.run(options.plan, out=options.out, seed=options.seed, blocks=options.blocks)


def _resume(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.resume(options.dataset)


def _report(options: argparse.Namespace) -> int:
    from resolab.cli import experiment

    return experiment.report(options.dataset)


def _compare(options: argparse.Namespace) -> int:
    from resolab.cli import compare

    return compare.run(options)


def _plan(options: argparse.Namespace) -> int:
    from resolab.cli import plan

    return plan.run(options)


def _export(options: argparse.Namespace) -> int:
    from resolab.cli import export

    return export.run(options.dataset, options.output, options.format, options.table or [])


def _merge(options: argparse.Namespace) -> int:
    from resolab.cli import merge

    return merge.run(options.output, options.datasets)


def _har(options: argparse.Namespace) -> int:
    from resolab.cli import har

    return har.run(options.dataset, options.trials, options.output)


def _waterfall(options: argparse.Namespace) -> int:
    from resolab.cli import waterfall

    return waterfall.run(options)


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
    from resolab.cli import query

    return query.run(options)


def _doctor(_options: argparse.Namespace) -> int:
    from resolab.cli import doctor

    return doctor.run()
