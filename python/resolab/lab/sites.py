"""The pages of a plan as sites, every host name with an address. Not for: the content of a page; see `pages/`."""

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from resolab.lab.layout import PageOrigin, PageSite, site_address
from resolab.plan import Corpus, Page, PageDistances
from resolab.plan.pages.serving import has_files


def assign_sites(
    corpus: Corpus, pages: Sequence[str], distances: PageDistances = PageDistances.RECORDED
) -> dict[str, PageSite]:
    """Assign an address to each name of each page: a separate address, unless the page lets names share."""
    numbers = itertools.count()
    return {page.name: _site(page, numbers, distances) for page in corpus.read_pages(pages)}


def _site(page: Page, numbers: Iterator[int], distances: PageDistances) -> PageSite:
    of_groups: dict[int, str] = {}
    origins = []
    for host, folder in page.hosts.items():
        serving = page.find_serving(host)
        if distances is PageDistances.NONE and serving.extra_rtt_ms:
            serving = msgspec.structs.replace(serving, extra_rtt_ms=0.0)
        group = serving.address_group
        address = None if group is None else of_groups.get(group)
        address = address or site_address(next(numbers))
        if group is not None:
            of_groups[group] = address
        origins.append(
            PageOrigin(
                host=host,
                address=address,
                folder=folder if has_files(folder) else None,
                serving=serving,
                needed=not serving.is_never_awaited(folder),
            )
        )
    return PageSite(page=page.name, origins=tuple(origins), path=page.path, request_count=page.request_count)
