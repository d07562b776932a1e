"""`resolab page record`: make a page model from a single load of a web page.

For: the URL, the file's path, and words. Not for: the load (`resolab.extras.recordings.recorder`).
"""

import argparse
import asyncio
import json
from pathlib import Path
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError, UsageError
from resolab.basics.records import BrowserKind
from resolab.cli.console import Console
from resolab.cli.output_place import STANDARD_OUTPUT
from resolab.cli.page.import_recordings import (
    build_json,
    check_output,
    losses_in_words,
    model_name,
    summarise_page,
    write_model,
)
from resolab.extras.recordings.recorder import RecordingOptions, record
from resolab.pages.file import ENDING
from resolab.plan.section import NAME

_DEFAULT_NAME = "recorded"
"""The default name, without the host: a model does not contain the page's origin."""


def run(options: argparse.Namespace) -> int:
    """Load the page, write the model and print a summary."""
    url = _url(options.url)
    check_output(options)
    place, name = _place(options)
    if place != STANDARD_OUTPUT and place.exists() and not options.force:
        raise ConfigurationError(f"{place} is there; give --force to have it written anew, or another place with -o")
    notes = Console(stderr=True, highlight=False)
    console = notes if place == STANDARD_OUTPUT else Console(highlight=False)

    def say(line: str) -> None:
        notes.print(f"resolab: {line}", markup=False, soft_wrap=True)

    wish = RecordingOptions(
        url=url,
        name=name,
        browser=BrowserKind(options.browser),
        timeout_s=options.timeout,
        quiet_after_s=options.quiet_after,
        ca_file=options.ca,
        keep_names=options.keep_names,
    )
    say(f"loading {url} once in {options.browser.capitalize()}")
    model = asyncio.run(record(wish, say))
    write_model(model, place, force=options.force)
    if options.json:
        print(json.dumps({"page": name, "file": str(place), **build_json(model)}))
        return 0
    console.print(f"{place}: {summarise_page(model)}", markup=False, soft_wrap=True)
    for loss in losses_in_words(model):
        console.print(f"  not told: {loss}", style="dim", markup=False, soft_wrap=True)
    return 0


def _url(said: str) -> str:
    url = said if "://" in said else f"https://{said}"
    try:
        parts = urlsplit(url)
        is_page = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_page = False
    if not is_page:
        raise UsageError(f"{said!r} is no page of the web: give https://HOST/ or http://HOST/")
    return url


def _place(options: argparse.Namespace) -> tuple[Path, str]:
    """Return the model's path and name."""
    output: Path | None = options.output
    if output == STANDARD_OUTPUT:
        return STANDARD_OUTPUT, _check_name(options.name or _DEFAULT_NAME)
    is_file = output is not None and not output.is_dir() and output.name.endswith(".json")
    name = options.name or (model_name(output) if output and is_file else _DEFAULT_NAME)
    place = output if output and is_file else (output or Path()) / f"{_check_name(name)}{ENDING}"
    return place, _check_name(name)


def _check_name(name: str) -> str:
    if not NAME.fullmatch(name):
        raise ConfigurationError(f"{name!r} is no name of a page: use letters, digits, - and _; give one with --name")
    return name
