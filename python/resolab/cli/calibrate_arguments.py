"""Arguments of `resolab calibrate`. Not for: the command (`calibrate`), with imports too slow for `--help`."""

import argparse
from pathlib import Path


def add_calibrate(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """Add the command's parser."""
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
    return calibrate
