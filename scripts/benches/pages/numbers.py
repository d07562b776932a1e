"""The numbers for comparing generated pages with published and real pages; the real pages of a folder.

Not for: comparing (`compare`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from resolab.extras.recordings import import_page
from resolab.pages.facts import PageFacts, count_facts, is_redirected
from resolab.pages.generated import published
from resolab.pages.model import Kind, PageModel

KB_BYTES = 1024
ARCHIVE: Mapping[str, tuple[Sequence[float], Callable[[PageModel], float]]] = {
    "requests": (published.REQUESTS, lambda page: len(page.resources)),
    "kB": (published.PAGE_KB, lambda page: sum(one.wire_bytes for one in page.resources) / KB_BYTES),
    "scripts": (published.SCRIPT_REQUESTS, lambda page: _count(page, Kind.SCRIPT)),
    "images": (published.IMAGE_REQUESTS, lambda page: _count(page, Kind.IMAGE)),
    "style sheets": (published.STYLESHEET_REQUESTS, lambda page: _count(page, Kind.STYLESHEET)),
    "fonts": (published.FONT_REQUESTS, lambda page: _count(page, Kind.FONT)),
    "kB of scripts": (published.PAGE_SCRIPT_KB, lambda page: _kb(page, Kind.SCRIPT)),
    "kB of images": (published.PAGE_IMAGE_KB, lambda page: _kb(page, Kind.IMAGE)),
}
"""The numbers of a page, with percentiles published by the HTTP Archive (source A)."""


def _count(page: PageModel, kind: Kind) -> int:
    return sum(one.kind is kind and not is_redirected(one) for one in page.resources)


def _kb(page: PageModel, kind: Kind) -> float:
    return sum(one.wire_bytes for one in page.resources if one.kind is kind) / KB_BYTES


NUMBERS: Mapping[str, Callable[[PageFacts], float]] = {
    "requests": lambda one: one.requests_count,
    "hosts": lambda one: one.hosts_count,
    "sites": lambda one: one.sites_count,
    "hosts with one request, share": lambda one: one.single_request_hosts_count / one.hosts_count,
    "depth": lambda one: one.depth,
    "redirects, share of requests": lambda one: one.redirects_count / one.requests_count,
    "documents": lambda one: one.documents_count,
    "kB on the wire": lambda one: one.wire_bytes / 1e3,
    "after the load event, share": lambda one: one.after_load_count / one.requests_count,
}


def read_real(folder: Path) -> list[PageModel]:
    """Import every recording of a folder."""
    return [import_page(file, "real") for file in sorted(folder.glob("*.har*"))]


def numbers_of(models: Iterable[PageModel]) -> dict[str, NDArray[np.float64]]:
    """Return every number of every page."""
    facts = [count_facts(model) for model in models]
    return {name: np.array([value(one) for one in facts], float) for name, value in NUMBERS.items()}
