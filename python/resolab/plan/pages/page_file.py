"""A page's `page.toml`, read and checked: all faults in the pages of a plan are reported together.

For: the parts of a page. Not for: addresses and certificates, given by the testbed.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.plan.pages.serving import ORDINARY, Serving, read_serving

RESOLVER_NAME = "dns.resolab.test"
PAGES_DOMAIN = "resolab.test"
"""The domain of included pages, and of pages with a description written by resolab."""
TOP_DOMAIN = "test"
"""The top-level domain of every page (RFC 6761): the lab's authority signs for names below this domain."""
INDEX = "index.html"
ADDRESSES_LIMIT = 253 + 254 * 254
"""10.77.1.1 to 10.77.255.254, without addresses ending in 0 or 255 and without the browsers' own address."""

_NEEDED = {"host": str, "folder": str, "path": str, "request_count": int}
_FOR_PEOPLE = {"description": str, "source": str}
_TABLES = {"hosts": dict, "serving": dict}
_KINDS = {str: "a text", int: "a whole number", dict: "a table of names and folders"}
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_NAME_MAX_CHARACTERS = 253


def registrable_domain(host: str) -> str:
    """Return the registrable domain of a lab name: below .test the last two labels."""
    return ".".join(host.split(".")[-2:])


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The requests of a load: host names with their files, the document's first."""

    name: str
    hosts: dict[str, Path]
    path: str
    """The path of the document."""
    request_count: int
    """Number of requests answered before the load event, in a complete load."""
    serving: dict[str, Serving] = {}
    """Settings of names with special serving."""

    def find_serving(self, host: str) -> Serving:
        """Return the serving of a name."""
        return self.serving.get(host, ORDINARY)

    @property
    def addresses_count(self) -> int:
        """Return the number of addresses for the page's names."""
        groups = [self.find_serving(host).address_group for host in self.hosts]
        return groups.count(None) + len({*groups} - {None})


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
        table = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        return f"failed to read page {file}: {error}"
    problems = [*_wrong_keys(table)]
    if problems:
        return _format_problems(file, problems)
    read = {host: read_serving(keys, folder) for host, keys in table.get("serving", {}).items()}
    serving = {host: of_host for host, (of_host, _) in read.items()}
    problems = [f"serving of {host}: {problem}" for host, (_, wrong) in read.items() for problem in wrong]
    # What is wrong with how names are served would make other things seem wrong.
    problems = [*_wrong_values(table, folder, None if problems else serving), *problems]
    if problems:
        return _format_problems(file, problems)
    below = {table["host"]: table["folder"], **table.get("hosts", {})}
    return Page(
        name=folder.name,
        hosts={host: folder / files for host, files in below.items()},
        path=table["path"],
        request_count=table["request_count"],
        serving=serving,
    )


def _format_problems(file: Path, problems: Sequence[str]) -> str:
    return f"failed to read page {file}: {'; also '.join(problems)}"


def _wrong_keys(table: dict[str, Any]) -> Iterator[str]:
    allowed: dict[str, type] = _NEEDED | _FOR_PEOPLE | _TABLES
    for key in table:
        if key not in allowed:
            yield f"unknown key {key!r}; allowed: {', '.join(allowed)}"
    for key, kind in allowed.items():
        if key not in table:
            if key in _NEEDED:
                yield f"{key}: is missing; must be {_KINDS[kind]}"
        elif not isinstance(table[key], kind) or isinstance(table[key], bool):
            yield f"{key}: must be {_KINDS[kind]}, not {table[key]!r}"


def _wrong_values(table: dict[str, Any], folder: Path, serving: Mapping[str, Serving] | None) -> Iterator[str]:
    """Report values impossible in a page; with a wrong `serving`, skip the check for anything to serve."""
    yield from _wrong_hosts(table, folder, serving)
    if not table["path"].startswith("/"):
        yield f"path: must begin with /, not {table['path']!r}"
    elif (folder / table["folder"]).is_dir() and serving is not None:
        answered = serving.get(table["host"], ORDINARY).response(table["path"]) is not None
        if not answered and not _is_served(folder / table["folder"], table["path"]):
            yield f"path: {table['path']} is no file of {folder / table['folder']}; a folder is served by its {INDEX}"
    if table["request_count"] < 1:
        yield f"request_count: must be at least 1, which is the document's, not {table['request_count']}"


def _wrong_hosts(table: dict[str, Any], folder: Path, serving: Mapping[str, Serving] | None) -> Iterator[str]:
    hosts: dict[str, Any] = table.get("hosts", {})
    if table["host"] in hosts:
        yield f"hosts: {table['host']} is the document's; name it once"
    names = {table["host"]: table["folder"]} | hosts
    for host, files in names.items():
        if not _is_host(host):
            yield f"host {host!r}: must be a name below {TOP_DOMAIN}, in lower case, and not {RESOLVER_NAME}"
        if not isinstance(files, str):
            yield f"host {host}: its folder must be {_KINDS[str]}, not {files!r}"
        elif not (folder / files).is_dir():
            yield f"host {host}: folder {folder / files} does not exist"
        elif serving is not None and not serving.get(host, ORDINARY).has_anything(folder / files):
            yield f"host {host}: folder {folder / files} holds no file, and its settings have no response"
    for host in table.get("serving", {}):
        if host not in names:
            yield f"serving of {host}: is no name of the page; name it in [hosts]"


def _is_served(files: Path, target: str) -> bool:
    """Return True when the edge serves the document: a file named as the target, query included, or as the path."""
    names = [unquote(target), unquote(target.partition("?")[0])]
    return any((files / f"{name}{INDEX if name.endswith('/') else ''}".lstrip("/")).is_file() for name in names)


def _is_host(host: str) -> bool:
    if host == RESOLVER_NAME or not host.endswith(f".{TOP_DOMAIN}") or len(host) > _NAME_MAX_CHARACTERS:
        return False
    return all(_LABEL.fullmatch(label) for label in host.split("."))


def _problems_between(pages: Sequence[Page]) -> Iterator[str]:
    counts = Counter(host for page in pages for host in page.hosts)
    for host, count in counts.items():
        if count > 1:
            yield f"host name {host} stands in {count} of the plan's pages; give every page names of its own"
    addresses_count = sum(page.addresses_count for page in pages)
    if addresses_count > ADDRESSES_LIMIT:
        yield f"the plan's pages need {addresses_count} addresses, more than {ADDRESSES_LIMIT}; leave pages out"
