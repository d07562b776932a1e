"""`resolab internet places`: measured differences between vantage points beside the true differences.

For: the table or JSON. Not for: the comparison (`resolab.extras.internet.place_comparison`).
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import transport_label
from resolab.cli.internet.show import print_json, print_table
from resolab.extras.internet import BoxLayout, RecursionLog, folders_below, read_layout, read_recursion
from resolab.extras.internet.check import CheckedLookUp, judge_look_up
from resolab.extras.internet.dataset import read_look_ups
from resolab.extras.internet.place_comparison import (
    DifferenceAgreement,
    VantageDifference,
    compare_places,
    list_printed_sources,
)

EXIT_OUTSIDE = 1
DEFAULT_REFERENCE = "frankfurt"


def places(options: argparse.Namespace) -> int:
    """Compare the vantage points and print the table."""
    boxes = _boxes_by_place(options.boxes)
    rows, reference = _compare(options.dataset, boxes, options.reference)
    counts = {one.value: sum(row.agreement is one for row in rows) for one in DifferenceAgreement}
    if options.json:
        told = [msgspec.to_builtins(row) | {"error_ratio": row.error_ratio} for row in rows]
        print_json({"reference": reference, "counts": counts, "rows": told})
    else:
        _print(rows, reference)
    return EXIT_OUTSIDE if counts[DifferenceAgreement.OUTSIDE] else 0


def _boxes_by_place(boxes: Path) -> Mapping[str, tuple[BoxLayout, RecursionLog]]:
    """Read all boxes, grouped by vantage point; boxes of the same vantage point ran in sequence."""
    folders: dict[str, list[Path]] = defaultdict(list)
    layouts: dict[str, BoxLayout] = {}
    for folder in folders_below(boxes):
        layout = read_layout(folder)
        if layout.place is not None:
            folders[layout.place].append(folder)
            layouts[layout.place] = layout
    return {place: (layout, read_recursion(*folders[place])) for place, layout in layouts.items()}


def _compare(
    dataset: Path, boxes: Mapping[str, tuple[BoxLayout, RecursionLog]], reference: str | None
) -> tuple[list[VantageDifference], str]:
    found = list(_look_ups(dataset, boxes))
    measured = dict.fromkeys(place for place, _ in found)
    if reference is None:
        reference = DEFAULT_REFERENCE if DEFAULT_REFERENCE in measured else next(iter(measured), DEFAULT_REFERENCE)
    if reference not in measured or len(measured) < 2:
        there = ", ".join(measured) or "none"
        raise ConfigurationError(
            f"failed to compare places of {dataset} with {reference}: it has look-ups with a truth from {there}"
        )
    return compare_places(found, reference), reference


def _look_ups(
    dataset: Path, boxes: Mapping[str, tuple[BoxLayout, RecursionLog]]
) -> Iterator[tuple[str, CheckedLookUp]]:
    for vantage, record in read_look_ups(dataset):
        if vantage not in boxes:
            raise ConfigurationError(
                f"no box is seen from {vantage}, a vantage point of {dataset}: there are {', '.join(boxes) or 'none'}"
            )
        one = judge_look_up(*boxes[vantage], record)
        if isinstance(one, CheckedLookUp):
            yield vantage, one


def _print(rows: Sequence[VantageDifference], reference: str) -> None:
    columns = ["place", "resolver", "transport", "connection", "n", f"n {reference}", "measured ms",
               f"less {reference} ms", "95 %", "truth ms", "error", "agreement", "theirs ms",
               "their pings ms"]  # fmt: skip
    cells = [
        [row.place, row.resolver, transport_label(row.dns_transport), row.connection, str(row.count),
         str(row.reference_count), f"{row.measured_ms:.2f}", f"{row.difference_ms:+.2f}", _interval(row),
         f"{row.truth_ms:+.2f}", "" if row.error_ratio is None else f"{row.error_ratio:+.1%}",
         row.agreement.value,
         *(["", ""] if row.printed is None else [f"{row.printed.response_ms:+.2f}", f"{row.printed.ping_ms:+.2f}"])]
        for row in rows
    ]  # fmt: skip
    print_table(columns, cells)
    counts = ", ".join(f"{sum(row.agreement is one for row in rows)} {one.value}" for one in DifferenceAgreement)
    print(f"\nanswers from the cache; measured: median; less {reference}: shift (Hodges and Lehmann); within: its "
          f"interval lies within 5 % of the true difference, or 1 ms, outside: no part of it does: {counts}; "
          f"theirs: {'; '.join(list_printed_sources())}")  # fmt: skip


def _interval(row: VantageDifference) -> str:
    return "too few" if row.low_ms is None or row.high_ms is None else f"{row.low_ms:+.2f} to {row.high_ms:+.2f}"
