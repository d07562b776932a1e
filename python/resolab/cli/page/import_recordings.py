"""`resolab page import`: make page models from recordings, with a summary of each and of its missing parts.

For: files, names and words. Not for: reading recordings (`resolab.extras.recordings`).
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.basics.wording import format_count
from resolab.cli.console import Console
from resolab.cli.output_place import STANDARD_OUTPUT
from resolab.extras.recordings import STANDARD_INPUT, import_page
from resolab.pages.facts import count_facts
from resolab.pages.file import ENDING, model_text
from resolab.pages.model import PageModel
from resolab.pages.path import load_estimate
from resolab.plan.section import NAME
from resolab.store import write_named

if TYPE_CHECKING:
    from resolab.extras.recordings.netlog import PageConnections

_ENDINGS = (".gz", ".har", ".json", ".jsonl")
_REASONS = {"address": "address and certificate", "certificate": "certificate", "untold": "a reason not told"}


def run(options: argparse.Namespace) -> int:
    """Import every file; report unreadable files, also in the exit code, and write all others."""
    if options.name is not None and len(options.files) > 1:
        raise ConfigurationError("--name is of one page; give one FILE with it")
    if options.netlog is not None and len(options.files) > 1:
        raise ConfigurationError("--netlog is of one load; give one FILE with it")
    check_output(options)
    if options.output == STANDARD_OUTPUT and len(options.files) > 1:
        raise ConfigurationError("standard output takes one page: give one FILE with -o -")
    notes = Console(stderr=True, highlight=False)
    console = notes if options.output == STANDARD_OUTPUT else Console(highlight=False)
    failed: ResolabError | None = None
    for file, place, name in _places(options):
        try:
            model, connections = _import_recording(options, file, name)
            write_model(model, place, force=options.force)
        except ResolabError as error:
            failed = error
            if len(options.files) == 1:
                raise
            notes.print(f"resolab: {error}", markup=False, soft_wrap=True)
            continue
        if options.json:
            more = {} if connections is None else {"connections": msgspec.to_builtins(connections)}
            print(json.dumps({"page": name, "file": str(place), **build_json(model), **more}))
        else:
            console.print(f"{place}: {summarise_page(model)}", markup=False, soft_wrap=True)
            if connections is not None:
                console.print(f"  {connections_in_a_line(connections)}", markup=False, soft_wrap=True)
            for loss in losses_in_words(model):
                console.print(f"  not told: {loss}", style="dim", markup=False, soft_wrap=True)
    return failed.exit_code if failed else 0


def _import_recording(options: argparse.Namespace, file: Path, name: str) -> "tuple[PageModel, PageConnections | None]":
    if options.netlog is None:
        return import_page(file, name, keep_names=options.keep_names), None
    from resolab.browser.chromium.netlog import read_netlog
    from resolab.extras.recordings.netlog import import_with_netlog

    return import_with_netlog(file, name, read_netlog(options.netlog), keep_names=options.keep_names)


def _places(options: argparse.Namespace) -> Iterator[tuple[Path, Path, str]]:
    files: Sequence[Path] = options.files
    output: Path | None = options.output
    if output == STANDARD_OUTPUT:
        output = None
    into_folder = output is None or output.is_dir() or len(files) > 1 or not output.name.endswith(".json")
    if output is not None and into_folder and output.exists() and not output.is_dir():
        raise ConfigurationError(f"{output} is no folder: give one, or a file NAME{ENDING}, with -o")
    taken: set[str] = set()
    for file in files:
        name = options.name or (make_page_name(file) if output is None or into_folder else model_name(output))
        if not NAME.fullmatch(name):
            raise ConfigurationError(
                f"{name!r} is no name of a page: use letters, digits, - and _; give one with --name"
            )
        if name in taken:
            raise ConfigurationError(f"two files would be page {name!r}; import one of them apart, with --name")
        taken.add(name)
        if options.output == STANDARD_OUTPUT:
            yield file, STANDARD_OUTPUT, name
            return
        yield file, (output or Path()) / f"{name}{ENDING}" if into_folder else output or Path(), name


def model_name(file: Path) -> str:
    """Return the page's name from a model's file; reject names impossible in plans."""
    name = file.name.removesuffix(ENDING)
    if not file.name.endswith(ENDING) or not NAME.fullmatch(name):
        raise ConfigurationError(
            f"{file} is no name for a page's model: call the file NAME{ENDING}, with letters, digits, - and _ in NAME"
        )
    return name


def make_page_name(file: Path) -> str:
    """Make a page's name from a file's name."""
    name = "stdin" if file == STANDARD_INPUT else file.name
    while name.endswith(_ENDINGS):
        name = name.rpartition(".")[0]
    return re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")


def check_output(options: argparse.Namespace) -> None:
    """Refuse two results on standard output."""
    if options.output == STANDARD_OUTPUT and options.json:
        raise ConfigurationError("-o - and --json would both write to standard output; give one of them")


def write_model(model: PageModel, place: Path, *, force: bool) -> None:
    """Write the model; replace an existing file only with `force`."""
    if place == STANDARD_OUTPUT:
        sys.stdout.write(model_text(model))
        return
    if place.exists() and not force:
        raise ConfigurationError(f"{place} is there; give --force to have it written anew, or another place with -o")
    write_named(place, model_text(model).encode())


def build_json(model: PageModel) -> dict[str, object]:
    """Return facts, the estimate of a load and losses for machines."""
    return {
        "facts": msgspec.to_builtins(count_facts(model)),
        "estimate": msgspec.to_builtins(load_estimate(model)),
        "losses": msgspec.to_builtins(model.losses),
    }


def summarise_page(model: PageModel) -> str:
    """Return a page's summary in a line."""
    facts = count_facts(model)
    load = "no load event" if facts.load_ms is None else f"load {facts.load_ms:,.0f} ms"
    return (
        f"{facts.requests_count:,} requests, {facts.hosts_count} hosts of {facts.sites_count} sites, "
        f"{facts.wire_bytes / 1e3:,.0f} kB, {format_count(facts.redirects_count, 'redirect')}, depth {facts.depth}, "
        f"{load}; discoverer evident in {facts.evidence_ratio:.0%}"
    )


def connections_in_a_line(found: "PageConnections") -> str:
    """Return the summary of a page's connections in a line."""
    versions = ", ".join(f"{version} {count}" for version, count in found.by_protocol.items())
    handshakes = (
        f"handshakes: {found.full_handshakes_count} full, {found.resumed_handshakes_count} resumed "
        f"({found.early_data_count} with early data), {found.untold_handshakes_count} not told"
    )
    told = [
        f"{found.connections_count} connections ({versions})" if versions else "no connections",
        handshakes,
        f"{found.sharing_names_count} of {found.names_count} names on connections of others alone",
        *(f"{count} by {_REASONS[reason]}" for reason, count in found.shared.items()),
        *([f"{found.unused_count} unused"] if found.unused_count else []),
        *([f"{found.failed_count} failed"] if found.failed_count else []),
    ]
    return "; ".join(told)


def losses_in_words(model: PageModel) -> list[str]:
    """Return the facts missing in the recording."""
    return [loss.what if not loss.count else f"{loss.what} ({loss.count:,})" for loss in model.losses]
