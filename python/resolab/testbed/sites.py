"""The pages of a plan as sites, every host name with an address. Not for: what is inside a page; see `pages/`."""

import itertools
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from resolab.errors import ConfigurationError
from resolab.plan import Corpus
from resolab.testbed.layout import Origin, Site, site_address


class _PageDescription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    description: str
    source: str
    host: str
    folder: str
    path: str
    request_count: int
    hosts: dict[str, str] = {}
    """Folders of the page's other names."""


def sites_of(corpus: Corpus, pages: Sequence[str]) -> dict[str, Site]:
    """Read each page's `page.toml` and give each of its names an address of its own."""
    numbers = itertools.count()
    sites = {page: _site(corpus, page, numbers) for page in pages}
    hosts = [host for site in sites.values() for host in site.hosts]
    twice = next((host for host in hosts if hosts.count(host) > 1), None)
    if twice is not None:
        raise ConfigurationError(
            f"host name {twice} stands twice in the plan's pages; give every page names of its own"
        )
    return sites


def _site(corpus: Corpus, page: str, numbers: Iterator[int]) -> Site:
    folder = corpus.page_folder(page)
    file = folder / "page.toml"
    try:
        described = msgspec.convert(tomllib.loads(file.read_text("utf-8")), _PageDescription)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"failed to read page {file}: {error}") from error
    first, *others = [
        Origin(host=host, address=site_address(next(numbers)), folder=_existing(folder / below, file))
        for host, below in [(described.host, described.folder), *described.hosts.items()]
    ]
    return Site(
        page=page,
        host=first.host,
        address=first.address,
        folder=first.folder,
        path=described.path,
        others=tuple(others),
        request_count=described.request_count,
    )


def _existing(folder: Path, file: Path) -> Path:
    if not folder.is_dir():
        raise ConfigurationError(f"failed to read page {file}: folder: {folder} does not exist")
    return folder
