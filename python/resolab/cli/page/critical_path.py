"""`resolab page critical-path`: the critical paths of modelled pages' loads, by arm or link by link.

For: printing. Not for: finding paths (`resolab.pages.path`) or their summary (`resolab.report`).
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from rich.table import Table

from resolab.basics.errors import ConfigurationError
from resolab.cli.console import Console
from resolab.pages.file import ENDING, read_model
from resolab.pages.model import PageModel
from resolab.pages.path import PathLink, PhaseKind
from resolab.report.plots.words import estimate_text, interval_text

if TYPE_CHECKING:
    from resolab.report.sections.paths import LoadPath, LoadPaths, PathSummary

_WORDS = {
    PhaseKind.DNS: "look-up",
    PhaseKind.CONNECT: "TCP",
    PhaseKind.HANDSHAKE: "TLS, QUIC",
    PhaseKind.ROUND_TRIP: "round trip",
}
_NS = 1e6


def run(options: argparse.Namespace) -> int:
    """Print a summary for each arm, or the links of a single load."""
    from resolab.report.sections.paths import load_paths, path_summaries

    models = _models(options.models)
    paths = load_paths(options.dataset, models)
    if not paths.found:
        raise ConfigurationError(f"failed to find critical paths in {options.dataset}: {_why_none(paths)}")
    if options.trial is not None:
        return _one(options, paths, models)
    summaries = path_summaries(paths.found)
    if options.json:
        for one in summaries:
            print(json.dumps(msgspec.to_builtins(one)))
        return 0
    console = Console(highlight=False)
    console.print(_table(summaries))
    if any(one.connections for one in summaries):
        console.print(_connections(summaries))
    for note in _notes(paths, summaries):
        console.print(note, style="dim", markup=False, soft_wrap=True)
    return 0


def _models(files: Sequence[Path]) -> dict[str, PageModel]:
    """Read the models; a page has the name of its model's file, as in plans."""
    return {file.name.removesuffix(ENDING): read_model(file) for file in files}


def _why_none(paths: "LoadPaths") -> str:
    if paths.loads_without_path_count or paths.failed_count:
        return "every load of a page with a model failed, or none of its requests is one of the model's"
    if paths.pages_without_model:
        pages = ", ".join(paths.pages_without_model)
        return (
            f"it needs the models of its pages ({pages}); give the files its plan names. "
            "Of pages without a model nobody knows who discovered whom"
        )
    return "it has no finished trial"


def _table(summaries: Sequence["PathSummary"]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("arm")
    parts = [part for part in PhaseKind if any(one.shares_ratio[part].high for one in summaries)]
    for heading in ("pages", "loads", "load ms", *(f"{_WORDS.get(part, part.value)} %" for part in parts)):
        table.add_column(heading, justify="right")
    for heading in ("blocking", "of look-ups", "look-ups ms", "closed form ms"):
        table.add_column(heading, justify="right")
    for one in summaries:
        shares = (estimate_text(one.shares_ratio[part], scale=100) for part in parts)
        lookups = f"{estimate_text(one.lookup_ms)} {interval_text(one.lookup_ms)}".rstrip()
        table.add_row(
            one.arm,
            str(one.pages_count),
            str(one.loads_count),
            estimate_text(one.load_ms, 0),
            *shares,
            estimate_text(one.blocking_lookups_count),
            estimate_text(one.lookups_count),
            lookups,
            estimate_text(one.predicted_lookup_ms),
        )
    return table


def _connections(summaries: Sequence["PathSummary"]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("arm")
    counted = next(tuple(one.connections) for one in summaries if one.connections)
    for what in counted:
        table.add_column(what.replace("_", " "), justify="right")
    for one in summaries:
        table.add_row(one.arm, *(estimate_text(one.connections[what]) if one.connections else "" for what in counted))
    return table


def _notes(paths: "LoadPaths", summaries: Sequence["PathSummary"]) -> list[str]:
    untold = sum(one.with_untold_count for one in summaries)
    notes = ["medians over loads; shares of the load time need not sum up to 100 (docs/method/critical-path.md)"]
    if untold:
        notes.append(f"{untold} loads lack requests of their model: their paths may have gone through those")
    return [*notes, *paths.left_out]


def _one(options: argparse.Namespace, paths: "LoadPaths", models: dict[str, PageModel]) -> int:
    chosen = next((one for one in paths.found if one.trial.trial_id == options.trial), None)
    if chosen is None:
        has = f"one that has is {paths.found[0].trial.trial_id}"
        raise ConfigurationError(f"failed to find {options.trial!r} in {options.dataset}: no load with a path; {has}")
    if options.json:
        print(json.dumps({"trial": chosen.trial.trial_id, **msgspec.to_builtins(chosen.path)}))
        return 0
    console = Console(highlight=False)
    console.print(f"{chosen.trial.trial_id}  {chosen.trial.condition}", style="bold", markup=False, soft_wrap=True)
    console.print(_links(chosen, models[chosen.trial.page]))
    return 0


def _links(chosen: "LoadPath", model: PageModel) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("request")
    table.add_column("led on by")
    parts = [part for part in PhaseKind if part in chosen.path.parts_ns]
    for part in parts:
        table.add_column(f"{_WORDS.get(part, part.value)} ms", justify="right")
    for link in chosen.path.links:
        one = model.resources[link.place]
        name = f"{link.place} {one.kind.value} {model.hosts[one.host].name or f'h{one.host}'}"
        why = "holding up" if link.held_up else "discovery"
        table.add_row(name, why, *_cells(link, parts))
    last = {
        part: spent - sum(link.parts_ns.get(part, 0) for link in chosen.path.links)
        for part, spent in chosen.path.parts_ns.items()
    }
    table.add_row("after the last", "", *(f"{last[part] / _NS:,.1f}" if last[part] else "" for part in parts))
    table.add_row(
        "load", f"{chosen.path.load_ns / _NS:,.1f}", *(f"{chosen.path.parts_ns[part] / _NS:,.1f}" for part in parts)
    )
    return table


def _cells(link: PathLink, parts: Sequence[PhaseKind]) -> list[str]:
    return [f"{link.parts_ns[part] / _NS:,.1f}" if part in link.parts_ns else "" for part in parts]
