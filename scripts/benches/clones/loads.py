"""Every page's clone, loaded in every browser and compared with its model, a page and browser at a time.

For: `scripts/bench clones --fidelity`; the lines equal the lines of `resolab page check --json`. Not for: their
evaluation (`verdicts`, `summary`).
"""

import asyncio
import itertools
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from benches.clones.lines import Line, add_lines, read_lines
from benches.common.progress import Progress
from resolab.basics.errors import ResolabError
from resolab.basics.records import BrowserKind
from resolab.extras.fidelity.bars import shortfalls
from resolab.extras.fidelity.lab import CheckSettings, CloneCheck, check_clone
from resolab.extras.fidelity.measures import compute_tau
from resolab.pages.file import read_model
from resolab.pages.model import PageModel

START_S = 6.0
"""The start of path, edge and browser, once for a page and browser."""
LOAD_S = 5.0
"""The time of a load beside the page's own time: the wait for further requests, and clearing the browser."""

Say = Callable[[str], None]


def measure(files: Sequence[Path], browsers: Sequence[str], loads: int, out: Path, progress: str, say: Say) -> int:
    """Load the pairs missing in the file; return the number of failed pages and browsers."""
    todo = list_left(files, browsers, read_lines(out))
    if len(todo) < len(files) * len(browsers):
        say(f"{len(files) * len(browsers) - len(todo)} of {len(files) * len(browsers)} stand in {out} already")
    steps = Progress(sum(foreseen_s(model, loads) for _, model, _ in todo), progress)
    missed = 0
    try:
        for number, (file, model, browser) in enumerate(todo, start=1):
            steps.step(f"[{number}/{len(todo)}] {model.name} in {browser}", foreseen_s(model, loads))
            settings = CheckSettings(browser=BrowserKind(browser), loads=loads)
            try:
                add_lines(out, lines_of(asyncio.run(_all(file, settings))))
            except ResolabError as error:
                missed += 1
                say(f"{model.name} in {browser}: {error}")
    finally:
        steps.end()
    return missed


async def _all(file: Path, settings: CheckSettings) -> list[CloneCheck]:
    return [one async for one in check_clone(file, settings)]


def list_left(
    files: Iterable[Path], browsers: Sequence[str], lines: Iterable[Line]
) -> list[tuple[Path, PageModel, str]]:
    """Return the pages and browsers without a line, page by page."""
    there = {(line.get("page"), line.get("browser")) for line in lines}
    models = [(file, read_model(file)) for file in files]
    return [
        (file, model, browser) for file, model in models for browser in browsers if (model.name, browser) not in there
    ]


def foreseen_s(model: PageModel, loads: int) -> float:
    """Estimate the loads of a page: until its last request begins, plus a wait of its longest pause."""
    starts = sorted(one.start_ms for one in model.resources)
    pause_ms = max((later - earlier for earlier, later in itertools.pairwise(starts)), default=0.0)
    return START_S + loads * (LOAD_S + (starts[-1] + pause_ms) / 1000)


def lines_of(checked: Sequence[CloneCheck]) -> list[Line]:
    """Write a page in a browser: a line per load, then the similarity of their orders."""
    lines: list[Line] = [
        {**msgspec.to_builtins(one.fidelity), "failure": one.failure, "short": [*shortfalls(one.fidelity)]}
        for one in checked
    ]
    taus = [compute_tau(one.starts, other.starts) for one, other in itertools.pairwise(checked)]
    known = [tau for tau in taus if tau is not None]
    if known:
        first = checked[0].fidelity
        lines.append({"page": first.page, "browser": first.browser, "tau_of_two_loads": statistics.median(known)})
    return lines
