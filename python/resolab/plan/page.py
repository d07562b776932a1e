"""A page's `page.toml`, read and checked: everything wrong with the pages of a plan is said in one go.

For: what a page is made of. Not for: addresses and certificates, which the testbed gives.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from resolab.errors import ConfigurationError

RESOLVER_NAME = "dns.resolab.test"
PAGES_DOMAIN = "resolab.test"
INDEX = "index.html"
HOSTS_LIMIT = 253
"""Each name has an address of its own in one network of 256."""

_NEEDED = {"host": str, "folder": str, "path": str, "request_count": int}
_FOR_PEOPLE = {"description": str, "source": str}
_KINDS = {str: "a text", int: "a whole number", dict: "a table of names and folders"}
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NAME_MAX_CHARACTERS = 253


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What a load asks for: host names with their files, the document's first."""

    name: str
    hosts: dict[str, Path]
    path: str
    """Of the document."""
    request_count: int
    """Requests of a whole load."""


def read_pages(folders: Sequence[Path]) -> list[Page]:
    """Read the pages of a plan."""
    read = [_page_in(folder) for folder in folders]
    pages = [one for one in read if isinstance(one, Page)]
    problems = [*(one for one in read if isinstance(one, str)), *_problems_between(pages)]
    if problems:
        raise ConfigurationError("; also ".join(problems))
    return pages


def _page_in(folder: Path) -> Page | str:
    file = folder / "page.toml"
    try:
        table = tomllib.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        return f"failed to read page {file}: {error}"
    problems = [*_wrong_keys(table)] or [*_wrong_values(table, folder)]
    if problems:
        return f"failed to read page {file}: {'; also '.join(problems)}"
    below = {table["host"]: table["folder"], **table.get("hosts", {})}
    return Page(
        name=folder.name,
        hosts={host: folder / files for host, files in below.items()},
        path=table["path"],
        request_count=table["request_count"],
    )


def _wrong_keys(table: dict[str, Any]) -> Iterator[str]:
    allowed: dict[str, type] = _NEEDED | _FOR_PEOPLE | {"hosts": dict}
    for key in table:
        if key not in allowed:
            yield f"unknown key {key!r}; allowed: {', '.join(allowed)}"
    for key, kind in allowed.items():
        if key not in table:
            if key in _NEEDED:
                yield f"{key}: is missing; must be {_KINDS[kind]}"
        elif not isinstance(table[key], kind) or isinstance(table[key], bool):
            yield f"{key}: must be {_KINDS[kind]}, not {table[key]!r}"


def _wrong_values(table: dict[str, Any], folder: Path) -> Iterator[str]:
    hosts: dict[str, Any] = table.get("hosts", {})
    if table["host"] in hosts:
        yield f"hosts: {table['host']} is the document's; name it once"
    for host, files in [(table["host"], table["folder"]), *hosts.items()]:
        if not _is_host(host):
            yield f"host {host!r}: must be a name below {PAGES_DOMAIN}, in lower case, and not {RESOLVER_NAME}"
        if not isinstance(files, str):
            yield f"host {host}: its folder must be {_KINDS[str]}, not {files!r}"
        elif not (folder / files).is_dir():
            yield f"host {host}: folder {folder / files} does not exist"
    if not table["path"].startswith("/"):
        yield f"path: must begin with /, not {table['path']!r}"
    elif (folder / table["folder"]).is_dir() and not _is_served(folder / table["folder"], table["path"]):
        yield f"path: {table['path']} is no file of {folder / table['folder']}; a folder is served by its {INDEX}"
    if table["request_count"] < 1:
        yield f"request_count: must be at least 1, which is the document's, not {table['request_count']}"


def _is_served(files: Path, target: str) -> bool:
    """Whether the edge answers for the document: a file called like it, query included, else the file of its path."""
    names = [unquote(target), unquote(target.partition("?")[0])]
    return any((files / f"{name}{INDEX if name.endswith('/') else ''}".lstrip("/")).is_file() for name in names)


def _is_host(host: str) -> bool:
    if host == RESOLVER_NAME or not host.endswith(f".{PAGES_DOMAIN}") or len(host) > _NAME_MAX_CHARACTERS:
        return False
    return all(_LABEL.fullmatch(label) for label in host.split("."))


def _problems_between(pages: Sequence[Page]) -> Iterator[str]:
    counts = Counter(host for page in pages for host in page.hosts)
    for host, count in counts.items():
        if count > 1:
            yield f"host name {host} stands in {count} of the plan's pages; give every page names of its own"
    if len(counts) > HOSTS_LIMIT:
        yield f"the plan's pages have {len(counts)} host names, more than {HOSTS_LIMIT}; leave pages out"
