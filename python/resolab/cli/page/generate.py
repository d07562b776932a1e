"""`resolab page generate`: page models drawn from published distributions, a file for each page.

For: files and words. Not for: drawing the pages (`resolab.pages.generated`).
"""

import argparse
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.cli.console import Console
from resolab.cli.page.import_recordings import build_json, summarise_page
from resolab.pages.facts import PageFacts, count_facts
from resolab.pages.file import ENDING, model_text
from resolab.pages.generated import format_name, generate
from resolab.store import write_named

_EACH_TOLD_MAX = 10


def run(options: argparse.Namespace) -> int:
    """Write the pages; write no page when a page's file already exists."""
    folder: Path = options.output or Path()
    numbers = range(1, options.count + 1)
    places = {number: folder / f"{format_name(options.seed, number, options.hosts)}{ENDING}" for number in numbers}
    there = [place for place in places.values() if place.exists()]
    if there and not options.force:
        more = f" and {len(there) - 1} more of these pages are" if len(there) > 1 else " is"
        raise ConfigurationError(f"{there[0]}{more} there; give --force to have them written anew, or a FOLDER with -o")
    console = Console(highlight=False)
    made: list[PageFacts] = []
    for number, place in places.items():
        model = generate(options.seed, number, hosts=options.hosts)
        write_named(place, model_text(model).encode())
        made.append(count_facts(model))
        if options.json:
            print(json.dumps({"page": model.name, "file": str(place), **build_json(model)}))
        elif options.count <= _EACH_TOLD_MAX:
            console.print(f"{place}: {summarise_page(model)}", markup=False, soft_wrap=True)
    if not options.json and options.count > _EACH_TOLD_MAX:
        for line in _summary(made, folder):
            console.print(line, markup=False, soft_wrap=True)
    return 0


def _summary(made: Sequence[PageFacts], folder: Path) -> list[str]:
    """Summarise the pages by their quartiles."""
    shown: dict[str, Callable[[PageFacts], float]] = {
        "requests": lambda one: one.requests_count,
        "hosts": lambda one: one.hosts_count,
        "sites": lambda one: one.sites_count,
        "kB on the wire": lambda one: one.wire_bytes / 1e3,
        "redirects": lambda one: one.redirects_count,
        "depth": lambda one: one.depth,
    }
    lines = [f"{len(made):,} pages in {folder or Path()}; each figure at 25, 50 and 75 % of them:"]
    for words, value in shown.items():
        quartiles = statistics.quantiles([value(one) for one in made], n=4, method="inclusive")
        lines.append(f"  {words:15} " + " ".join(f"{quartile:10,.0f}" for quartile in quartiles))
    return lines
