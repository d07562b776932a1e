"""`resolab compare A B`: the changes between two datasets, and their noise.

For: reading both, then a table for people, JSON or a page. Not for: the comparison itself (`report`).
"""

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from resolab.basics.errors import ConfigurationError, UsageError
from resolab.basics.wording import suggest_word
from resolab.cli.console import Console

if TYPE_CHECKING:
    from resolab.store import Dataset
    from resolab.store.outcomes import LoadOutcome

_FILE_COLUMNS = 170
EXIT_NOTHING_IN_COMMON = 3


def run(options: argparse.Namespace) -> int:
    """Compare two datasets and show the result."""
    if options.check:
        return _check(options)
    from resolab.cli.dataset.check import read_optional_check

    read_optional_check("compare", options)
    if options.any_margin:
        raise UsageError("compare: --any-margin is for --check, which gives the verdicts")
    from resolab.report.pages.compare.changes import compare_datasets
    from resolab.report.pages.compare.page import comparison_page
    from resolab.report.pages.compare.text import as_json, tables, verdict
    from resolab.store import dataset_folder, ensure_tables, open_dataset, write_named
    from resolab.store.outcomes import OUTCOMES

    if options.outcome is not None and options.outcome not in OUTCOMES and "." not in options.outcome:
        problem = f"there is no outcome {options.outcome!r}{suggest_word(options.outcome, OUTCOMES)}"
        problem += f"; choose one of {', '.join(OUTCOMES)}"
        raise ConfigurationError(f"failed to compare {options.first} and {options.second}: {problem}")
    for folder in (options.first, options.second):
        ensure_tables(dataset_folder(folder))
    with open_dataset(options.first) as first, open_dataset(options.second) as second:
        found = compare_datasets(first, second, _choose_outcome(first, second, options.outcome))
    if options.html:
        if options.html.is_dir():
            raise ConfigurationError(f"failed to write {options.html}: it is a folder; name a file")
        write_named(options.html, comparison_page(found).encode())
    code = 0 if found.conditions else EXIT_NOTHING_IN_COMMON
    if options.json:
        print(json.dumps(as_json(found)))
        return code
    console = Console()
    if not console.is_terminal:
        console = Console(width=_FILE_COLUMNS)
    console.print(verdict(found), highlight=False, markup=False)
    for title, table in tables(found, narrow=console.width < _FILE_COLUMNS):
        console.print(_build_table(title, table.columns, table.rows, table.words))
    return code


def _check(options: argparse.Namespace) -> int:
    from resolab.cli.dataset.check import read_check_options, run_across

    if options.html or options.outcome:
        raise UsageError("compare: --html and --outcome are without --check; [[expect]] names the outcome")
    return run_across(options.first, options.second, read_check_options(options), any_margin=options.any_margin)


def _choose_outcome(first: "Dataset", second: "Dataset", name: str | None) -> "LoadOutcome":
    """Return the outcome by its name, or the main outcome of both datasets' trials."""
    from resolab.report.findings.dataset_plan import read_plan
    from resolab.store.outcomes import list_outcomes

    kinds = first.kind(), second.kind()
    studies = [read_plan(one).study for one in (first, second)]
    names = [None if one is None else one.name for one in studies]
    if kinds[0] is not kinds[1] or names[0] != names[1]:
        told = [str(kind) if name is None else name for kind, name in zip(kinds, names, strict=True)]
        problem = f"one has trials of the kind {told[0]}, the other of the kind {told[1]}"
        raise ConfigurationError(f"failed to compare {first.folder} and {second.folder}: {problem}")
    known = {one.name: one for one in list_outcomes(kinds[0], studies[0])}
    if name is not None and name not in known:
        problem = f"{name!r} is no outcome of trials of the kind {kinds[0]}; choose one of {', '.join(known)}"
        raise ConfigurationError(f"failed to compare {first.folder} and {second.folder}: {problem}")
    return next(iter(known.values())) if name is None else known[name]


def _build_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], words: frozenset[int]) -> Table:
    shown = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        shown.add_column(column, justify="left" if position in words else "right", overflow="fold")
    for row in rows:
        shown.add_row(*(Text(cell) for cell in row))
    return shown
