"""The pages of a plan as sites, every host name with an address. Not for: what is inside a page; see `pages/`."""

import itertools
from collections.abc import Iterator, Sequence

from resolab.plan import Corpus, Page
from resolab.testbed.layout import Origin, Site, site_address


def sites_of(corpus: Corpus, pages: Sequence[str]) -> dict[str, Site]:
    """Give each name of each page an address of its own."""
    numbers = itertools.count()
    return {page.name: _site(page, numbers) for page in corpus.read_pages(pages)}


def _site(page: Page, numbers: Iterator[int]) -> Site:
    first, *others = [
        Origin(host=host, address=site_address(next(numbers)), folder=folder) for host, folder in page.hosts.items()
    ]
    return Site(
        page=page.name,
        host=first.host,
        address=first.address,
        folder=first.folder,
        path=page.path,
        others=tuple(others),
        request_count=page.request_count,
    )
