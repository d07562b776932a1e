"""`resolab internet check`: a table of measured look-ups beside their truth.

For: the command and its output. Not for: the comparison (`resolab.extras.internet.check`).
"""

import argparse
import asyncio
from pathlib import Path

import msgspec

from resolab.basics.errors import UsageError
from resolab.basics.protocols import transport_label
from resolab.cli.internet.show import print_json, print_table
from resolab.cli.internet.up import a_box
from resolab.extras.internet import TruthCheck, check_look_ups, errands, read_layout, read_recursion, run_errand
from resolab.extras.internet.dataset import read_look_ups_at

EXIT_OUTSIDE = 1


def check(options: argparse.Namespace) -> int:
    """Compare look-ups with their truth and print the table."""
    if options.queries == (options.dataset is not None):
        raise UsageError("internet check needs a dataset, or --queries to ask in a box brought up for it")
    checked = asyncio.run(_run_check(options)) if options.queries else _check_dataset(options.dataset, options.box)
    if options.json:
        told = {"all_within": checked.all_within, "told_apart_ratio": checked.told_apart_ratio}
        print_json(msgspec.to_builtins(checked) | told)
    else:
        _print(checked)
    return 0 if checked.all_within else EXIT_OUTSIDE


async def _run_check(options: argparse.Namespace) -> TruthCheck:
    async with a_box(options) as box:
        asked = [await run_errand(box, errand) for errand in errands(box.layout, options.names)]
        records = [record for one in asked for record in one]
        return check_look_ups(box.layout, read_recursion(box.folder), records)


def _check_dataset(dataset: Path, box: Path | None) -> TruthCheck:
    if box is None:
        raise UsageError("internet check needs the folder of the box the dataset was measured in: --box FOLDER")
    layout = read_layout(box)
    return check_look_ups(layout, read_recursion(box), read_look_ups_at(dataset, layout.place))


def _print(checked: TruthCheck) -> None:
    columns = [
        "resolver",
        "transport",
        "connection",
        "cache",
        "n",
        "measured ms",
        "truth ms",
        "difference ms",
        "within",
    ]
    rows = [
        [one.resolver, transport_label(one.dns_transport), one.connection, one.cache, str(one.count),
         f"{one.measured_ms:.2f}", f"{one.truth_ms:.2f}", f"{one.difference_ms:+.2f}", "yes" if one.within else "NO"]
        for one in checked.rows
    ]  # fmt: skip
    print_table(columns, rows)
    print(f"\nmedians; within: a difference of at most 2 ms and 2 % of the truth; {checked.failed_count} failed, "
          f"{checked.untold_count} that no cache explains, {checked.foreign_count} of other resolvers")  # fmt: skip
    if checked.told_apart_ratio is not None:
        print()
        states = [
            [row.cache_state or "not known", str(row.hits_count), str(row.misses_count)] for row in checked.states
        ]
        print_table(["cache state", "hits", "misses"], states)
        print(f"\nstates judged as they were: {checked.told_apart_ratio:.1%}")
