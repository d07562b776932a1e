"""`resolab page new`: the description of a user's own page, with its requests counted by a load.

For: making a page for plans from a folder of files. Not for: the load (`testbed.first_load`).
"""

import asyncio
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.basics.toml_text import key_text, value_text
from resolab.basics.wording import format_count
from resolab.cli.console import Console
from resolab.plan.pages.page_file import PAGES_DOMAIN, read_pages
from resolab.plan.section import NAME
from resolab.store import machine_errors

_DOCUMENT = "<!doctype html>\n<html lang=en><title>{name}</title><p>Put the page's files beside this one.\n"


def run(folder: Path, *, path: str, requests_count: int | None) -> int:
    """Write the description; remove a description without counted requests."""
    folder = folder.absolute()
    file = folder / "page.toml"
    if not NAME.fullmatch(folder.name):
        raise ConfigurationError(f"{folder.name!r} is no name of a page: use letters, digits, - and _")
    if file.exists():
        raise ConfigurationError(f"{file} is there; change it, or remove it to have it made anew")
    is_new = not any((folder / one).exists() for one in ("index.html", "site", "hosts"))
    if is_new and folder.is_dir() and any(folder.iterdir()):
        problem = "it holds files, and neither site/ nor index.html"
        raise ConfigurationError(f"{folder} is no page's folder: {problem}; put the page's files into {folder}/site")
    with machine_errors(f"write {file}"):
        hosts = _hosts(folder)
        _write(file, hosts, path, requests_count or 1)
    try:
        # Everything wrong with it is told as a plan would.
        read_pages([folder])
        if requests_count is None:
            requests_count = _count(folder)
            _write(file, hosts, path, requests_count)
    except BaseException:
        file.unlink(missing_ok=True)
        raise
    console = Console()
    names = format_count(len(hosts), "host name")
    requests = format_count(requests_count, "request")
    said = f'{file}: {names}, {requests}; a plan beside it names it with page = ["./{folder.name}"]'
    console.print(said, highlight=False, markup=False, soft_wrap=True)
    if is_new:
        made = f"nothing was there: {folder}/site/index.html is made, a first document to replace"
        console.print(made, highlight=False, markup=False, soft_wrap=True)
    return 0


def _hosts(folder: Path) -> dict[str, str]:
    """Assign a host name to each folder of files; make a document when there is no file."""
    host = f"{folder.name.lower().replace('_', '-')}.{PAGES_DOMAIN}"
    own = "." if (folder / "index.html").is_file() and not (folder / "site").is_dir() else "site"
    if not (folder / own).is_dir():
        (folder / own).mkdir(parents=True)
        (folder / own / "index.html").write_text(_DOCUMENT.format(name=folder.name), "utf-8")
    others = sorted(one for one in (folder / "hosts").glob("*") if one.is_dir())
    return {host: own, **{f"{one.name}.{host}": f"hosts/{one.name}" for one in others}}


def _write(file: Path, hosts: dict[str, str], path: str, requests_count: int) -> None:
    (host, folder), *others = hosts.items()
    lines = [
        "# A page for resolab; every key: docs/formats/page.md",
        f"host = {value_text(host)}",
        f"folder = {value_text(folder)}",
        f"path = {value_text(path)}",
        f"request_count = {requests_count}  # of a whole load; one with fewer answered has failed",
        *(["", "[hosts]"] if others else []),
        *(f"{key_text(name)} = {value_text(below)}" for name, below in others),
    ]
    file.write_text("\n".join(lines) + "\n", "utf-8")


def _count(folder: Path) -> int:
    from resolab.trials.page_load.first_load import load_first

    notes = Console(stderr=True)

    def say(line: str) -> None:
        notes.print(f"resolab: {line}", highlight=False, markup=False, soft_wrap=True)

    say("loading the page once to count its requests")
    found = asyncio.run(load_first(str(folder)))
    for url in found.missing:
        say(f"not there: {url}")
    if found.failure is not None:
        problem = f"its load failed: {found.failure}; mend it, or give --requests N"
        raise ConfigurationError(f"could not count the requests of {folder}: {problem}")
    return found.requests_count
