"""`resolab page check`: load clones in a browser and print their fidelity to their models.

For: printing. Not for: loading (`fidelity.lab`) or counting (`fidelity.measures`).
"""

import argparse
import asyncio
import itertools
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from rich.table import Table

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserKind
from resolab.cli.console import Console
from resolab.cli.page.import_recordings import model_name
from resolab.extras.fidelity.bars import EVIDENCE_RATIO, shortfalls
from resolab.extras.fidelity.lab import CheckSettings, CloneCheck, check_clone
from resolab.extras.fidelity.measures import compute_tau
from resolab.pages.file import ENDING
from resolab.plan import Corpus

_HEADINGS = (
    "page", "browser", "requests", "extra", "hosts", "redirects", "bytes", "depth", "discoverers", "tau", "tau>50",
    "load ms", "recorded",
)  # fmt: skip
_TABLE_WIDTH = 140
SHORT = 1
"""The exit code after an incomplete or failed load."""


def run(options: argparse.Namespace) -> int:
    """Load every clone in every requested browser; print each result at once."""
    console, notes = Console(highlight=False), Console(stderr=True, highlight=False)

    def say(line: str) -> None:
        notes.print(f"resolab: {line}", markup=False, soft_wrap=True)

    loads: list[CloneCheck] = []
    for number, file in enumerate(files := [_file(word) for word in options.pages], start=1):
        for browser in options.browser:
            settings = CheckSettings(
                browser=BrowserKind(browser),
                http_version=options.http_version,
                profile=options.profile,
                loads=options.loads,
            )
            of_page = asyncio.run(_all(file, settings, _prefix_count(say, number, len(files))))
            loads += of_page
            for one in of_page:
                _tell(one, say, as_json=options.json)
            _tell_repeats(of_page, say, as_json=options.json)
    if not options.json:
        # Wider than a terminal it is folded by that, and not cut.
        Console(highlight=False, width=max(console.width, _TABLE_WIDTH)).print(_table(loads))
        for line in _medians(loads):
            console.print(line, markup=False, soft_wrap=True)
    return SHORT if any(one.failure or any(shortfalls(one.fidelity)) for one in loads) else 0


def _file(word: str) -> Path:
    file = Path(word)
    if not file.name.endswith(ENDING):
        return Corpus.from_project().model_file(word)
    if not file.is_file():
        raise ConfigurationError(f"failed to read page model {file}: there is no such file")
    model_name(file)
    return file


async def _all(file: Path, settings: CheckSettings, say: Callable[[str], None]) -> list[CloneCheck]:
    return [one async for one in check_clone(file, settings, say)]


def _prefix_count(say: Callable[[str], None], number: int, of: int) -> Callable[[str], None]:
    return lambda line: say(f"[{number}/{of}] {line}")


def _tell(one: CloneCheck, say: Callable[[str], None], *, as_json: bool) -> None:
    short = [*shortfalls(one.fidelity)]
    if as_json:
        told = {**msgspec.to_builtins(one.fidelity), "failure": one.failure, "short": short}
        print(json.dumps(told))
        return
    if one.failure:
        say(f"{one.fidelity.page}: the load failed: {one.failure}")
    for line in short:
        say(f"{one.fidelity.page}: {line}")


def _tell_repeats(loads: Sequence[CloneCheck], say: Callable[[str], None], *, as_json: bool) -> None:
    taus = [compute_tau(one.starts, other.starts) for one, other in itertools.pairwise(loads)]
    known = [tau for tau in taus if tau is not None]
    if not known:
        return
    median = statistics.median(known)
    if as_json:
        first = loads[0].fidelity
        print(json.dumps({"page": first.page, "browser": first.browser, "tau_of_two_loads": median}))
    else:
        say(f"{loads[0].fidelity.page}: two loads of the clone have their requests in the same order: tau {median:.3f}")


def _table(loads: Sequence[CloneCheck]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in _HEADINGS:
        table.add_column(heading, justify="left" if heading in {"page", "browser"} else "right", no_wrap=True)
    for one in loads:
        told = one.fidelity
        table.add_row(
            told.page,
            told.browser,
            f"{told.issued_count}/{told.requests_count}",
            f"{told.extra_count}",
            f"{told.hosts_asked_count}/{told.hosts_count}",
            f"{told.redirects_followed_count}/{told.redirects_count}",
            f"{told.body_bytes / told.model_bytes:.3f}" if told.model_bytes else "-",
            f"{'-' if told.depth_seen is None else told.depth_seen}/{told.depth}",
            _ratio(told.discoverers_ratio),
            _ratio(told.tau),
            _ratio(told.tau_apart),
            "-" if told.plt_ms is None else f"{told.plt_ms:,.0f}",
            "-" if told.model_load_ms is None else f"{told.model_load_ms:,.0f}",
            style="red" if one.failure or any(shortfalls(told)) else "",
        )
    return table


def _medians(loads: Sequence[CloneCheck]) -> list[str]:
    """Summarise the order over the pages with enough evidence in their recordings."""
    lines = []
    for browser in dict.fromkeys(one.fidelity.browser for one in loads):
        of_browser = [one.fidelity for one in loads if one.fidelity.browser == browser]
        evident = [one for one in of_browser if one.evidence_ratio >= EVIDENCE_RATIO and one.tau_apart is not None]
        if evident:
            median = statistics.median(one.tau_apart for one in evident if one.tau_apart is not None)
            lines.append(
                f"{browser}: order of requests against the recordings, median tau of {len(evident)} loads of pages "
                f"whose discoverers are known for {EVIDENCE_RATIO:.0%} or more: {median:.3f}"
            )
    return lines


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
