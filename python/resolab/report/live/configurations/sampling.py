"""The sampling unit of a comparison's pairs: pages, or blocks with loads of the given pages.

For: the unit of an interval of pooled pairs, and its words. Not for: the interval (`stats.clusters`).

Loads of a page are similar, and so are loads of a block. With enough pages, the page is the sampling unit, and the
answer applies to similar pages. With fewer pages, the answer applies to these pages only, and all pairs of a block form
a cluster.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from resolab.stats import CLUSTERS_NEEDED, Estimate, Sample, estimate_clustered_median

BLOCKS_NEEDED = 12
"""The minimum for several given pages. With pages at different levels, fewer blocks held 91 to 99 % of simulated
medians."""


@dataclass(frozen=True, slots=True)
class PooledPairs:
    """Differences within pairs, each with the block and the page of its pair."""

    differences: Sample
    places: Sequence[tuple[int, str]]

    @property
    def pages_count(self) -> int:
        """The number of different pages."""
        return len({page for _, page in self.places})

    @property
    def unit(self) -> str:
        """The sampling unit: page or block."""
        return "page" if self.pages_count >= CLUSTERS_NEEDED else "block"

    @property
    def units(self) -> list[Hashable]:
        """The page or the block of each pair."""
        return [page if self.unit == "page" else block for block, page in self.places]

    def median(self, level: float) -> Estimate:
        """Estimate the median over all pairs, with an interval over pages or blocks."""
        needed = CLUSTERS_NEEDED if self.unit == "page" else BLOCKS_NEEDED
        return estimate_clustered_median(self.differences, self.units, needed=needed, level=level)


def list_places(keys: Iterable[tuple[Any, ...]]) -> list[tuple[int, str]]:
    """Return block and page, the first two elements of each pair key."""
    return [(int(key[0]), str(key[1])) for key in keys]


def describe_sampling(found: Iterable[tuple[str, int]]) -> str:
    """Return words for the sampling units of curves, each given by its unit and number of pages."""
    curves = list(found)
    pages = [count for unit, count in curves if unit == "page"]
    pooled = sorted({count for unit, count in curves if unit == "block" and count > 1})
    words = []
    if pages:
        words.append(f"pages ({_span(pages)}) as what was sampled, for pages like them")
    if pooled:
        words.append(f"for these {_span(pooled)} very pages only, pairs of one block together")
    return "; ".join(words) or "a pair a block"


def _span(counts: Sequence[int]) -> str:
    least, most = min(counts), max(counts)
    return str(least) if least == most else f"{least} to {most}"
