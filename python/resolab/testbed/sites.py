"""The pages of a plan as sites with an address each. Not for: what is inside a page; see `pages/`."""

import tomllib
from collections.abc import Sequence

import msgspec

from resolab.errors import ConfigurationError
from resolab.plan import Corpus
from resolab.testbed.layout import Site, site_address


class _PageDescription(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    description: str
    source: str
    host: str
    folder: str
    path: str
    request_count: int


def sites_of(corpus: Corpus, pages: Sequence[str]) -> dict[str, Site]:
    """Read each page's `page.toml` and give it an origin's address."""
    return {page: _site(corpus, page, number) for number, page in enumerate(pages)}


def _site(corpus: Corpus, page: str, number: int) -> Site:
    folder = corpus.page_folder(page)
    file = folder / "page.toml"
    try:
        described = msgspec.convert(tomllib.loads(file.read_text("utf-8")), _PageDescription)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"failed to read page {file}: {error}") from error
    site = Site(
        page=page,
        host=described.host,
        address=site_address(number),
        folder=folder / described.folder,
        path=described.path,
    )
    if not site.folder.is_dir():
        raise ConfigurationError(f"failed to read page {file}: folder: {site.folder} does not exist")
    return site
