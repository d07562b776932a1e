"""A benchmark with parts as a program: run the selected parts, one after another, and print one result.

For: every `scripts/bench NAME` with parts. Not for: their options and their parts' measurements.
"""

import argparse
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from benches.common import result
from benches.common.part import BenchPart
from benches.common.progress import Progress, duration
from resolab.basics.errors import ResolabError

BenchT = TypeVar("BenchT")


def parser(program: str, description: str | None, parts: Iterable[str]) -> argparse.ArgumentParser:
    """Make the parser of the options common to these benchmarks."""
    made = argparse.ArgumentParser(
        prog=f"scripts/{program}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--quick", action="store_true", help="a trial of a few minutes; the figures are coarser")
    made.add_argument("--only", action="append", choices=list(parts), help="this part; can be given again")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the result there for machines, too")
    return made


def run(
    program: str,
    parts: Mapping[str, ModuleType],
    options: argparse.Namespace,
    bench: Callable[[Path, Progress], BenchT],
    more_facts: Mapping[str, str],
) -> int:
    """Measure the selected parts and print the result; `bench` makes the argument of the parts."""
    # Devices and processes are put back as they were, also on a polite end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    facts = result.facts(quick=options.quick) | dict(more_facts)
    chosen = {name: part for name, part in parts.items() if name in (options.only or parts)}
    with tempfile.TemporaryDirectory(prefix="resolab-bench-") as scratch:
        try:
            measured = _measure(program, chosen, lambda progress: bench(Path(scratch), progress))
        except ResolabError as error:
            print(f"\n{program}: {error}", file=sys.stderr)
            return error.exit_code
        except subprocess.SubprocessError as error:
            print(f"\n{program}: {error}", file=sys.stderr)
            return 70
        except KeyboardInterrupt:
            return 130
    return result.finish(facts, measured, options.json)


def _measure(program: str, parts: Mapping[str, ModuleType], bench: Callable[[Progress], BenchT]) -> list[BenchPart]:
    foreseen_s = sum(part.estimate_s(bench(Progress(0.0))) for part in parts.values())
    print(f"{program}: {', '.join(parts)}; about {duration(foreseen_s)}", file=sys.stderr)
    progress = Progress(foreseen_s, program)
    try:
        return [made for part in parts.values() for made in part.measure(bench(progress))]
    finally:
        progress.end()
