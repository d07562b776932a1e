"""Compare generated pages with published percentiles and with real pages: two-sample tests of their numbers.

For: `scripts/bench pages`, percentiles beside the published ones, and with `--folder HARS` two tables beside real
pages, all in docs/method/generated-pages.md. The first table has pages as drawn. In the second, every real page is
matched by pages drawn with its number of requests; the choice of sites then has no effect. Exit code 0 for any result
of the tests: the reader judges the differences. Not for: clones.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from benches.pages.compare import SampleComparison, compare
from benches.pages.numbers import ARCHIVE, NUMBERS, numbers_of, read_real
from benches.pages.page_relations import measure_numbers
from resolab.pages.generated import generate
from resolab.pages.generated.published import PERCENTILES
from resolab.pages.model import PageModel

TABLE_WIDTH = 150


def main() -> int:
    """Compare, or measure the input numbers of generated pages."""
    options = _options()
    console = Console(highlight=False, width=TABLE_WIDTH)
    drawn = [generate(options.seed, number) for number in range(1, options.count + 1)]
    if options.folder is None:
        _print_beside_archive(console, drawn, options)
        return 0
    real = read_real(options.folder)
    if not real:
        console.print(f"no recordings (*.har, *.har.gz) in {options.folder}", markup=False, soft_wrap=True)
        return 2
    if options.facts:
        for line in measure_numbers(real):
            console.print(line, markup=False, soft_wrap=True)
        return 0
    _show(console, "as drawn", drawn, real, options)
    each = -(-options.count // len(real))
    met = [
        generate(options.seed, place * each + copy + 1, requests=len(page.resources))
        for place, page in enumerate(real)
        for copy in range(each)
    ]
    _show(console, "with the real pages' numbers of requests", met, real, options)
    return 0


def _print_beside_archive(console: Console, drawn: Sequence[PageModel], options: argparse.Namespace) -> None:
    shown = [f"{share:.0%}" for share in PERCENTILES]
    table = Table(title=f"{len(drawn)} generated pages, seed {options.seed}, beside the HTTP Archive's percentiles")
    for heading in ("", *(f"{share}: drawn / published" for share in shown)):
        table.add_column(heading, justify="right" if heading else "left")
    for name, (percentiles, value) in ARCHIVE.items():
        found = [float(one) for one in np.quantile([value(page) for page in drawn], PERCENTILES)]
        if options.json:
            print(json.dumps({"number": name, "drawn": found, "published": percentiles}))
        table.add_row(name, *(f"{one:,.0f} / {told:,.0f}" for one, told in zip(found, percentiles, strict=True)))
    if not options.json:
        console.print(table)


def _show(
    console: Console, words: str, drawn: Sequence[PageModel], real: Sequence[PageModel], options: argparse.Namespace
) -> None:
    ours, theirs = numbers_of(drawn), numbers_of(real)
    found = {name: compare(ours[name], theirs[name], options.seed) for name in NUMBERS}
    if options.json:
        for name, one in found.items():
            print(json.dumps({"pages": words, "number": name, "is_rejected": one.is_rejected, **asdict(one)}))
        return
    table = Table(title=f"{len(drawn)} generated pages, seed {options.seed}, {words}; {len(real)} real pages")
    for heading in ("", "generated: quartiles", "real: quartiles", "distance", "p (KS)", "p (AD)", ""):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, one in found.items():
        table.add_row(name, *_cells(one))
    console.print(table)


def _cells(one: SampleComparison) -> tuple[str, ...]:
    digits = 2 if max(*one.generated, *one.real) < 1 else 0
    shown = [" / ".join(f"{value:,.{digits}f}" for value in values) for values in (one.generated, one.real)]
    verdict = "rejected" if one.is_rejected else "not rejected"
    return (*shown, f"{one.distance:.2f}", f"{one.ks_p:.3f}", f"{one.ad_p:.3f}", verdict)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench pages", description=__doc__)
    parser.add_argument("--folder", type=Path, help="real HARs (default: none, only published percentiles)")
    parser.add_argument("--count", type=int, default=250, help="generated pages (default: 250)")
    parser.add_argument("--seed", type=int, default=1, help="of the pages and of the permutations (default: 1)")
    parser.add_argument(
        "--facts", action="store_true", help="what the real pages say of themselves (source D), instead of comparing"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a number and line")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
