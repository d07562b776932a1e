"""What the pairs of a comparison are a sample of: pages, or blocks in which these very pages were loaded.

For: the unit over which an interval of pooled pairs is made, and its words. Not for: the interval (`stats.clusters`).

Loads of one page are alike, and so are loads of one block. Of enough pages the answer is meant for pages like them, and
the page is what was sampled. Of fewer it is for these pages only: all pairs of a block stand together.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from resolab.stats import CLUSTERS_NEEDED, Estimate, Sample, clustered_median

BLOCKS_NEEDED = 12
"""Where several pages are given: with pages at different levels fewer blocks held 91 to 99 % of simulated medians."""


@dataclass(frozen=True, slots=True)
class PooledPairs:
    """Differences within pairs, each with the block and the page of its pair."""

    differences: Sample
    places: Sequence[tuple[int, str]]

    @property
    def pages_count(self) -> int:
        """Number of pages."""
        return len({page for _, page in self.places})

    @property
    def unit(self) -> str:
        """What was sampled."""
        return "page" if self.pages_count >= CLUSTERS_NEEDED else "block"

    @property
    def units(self) -> list[Hashable]:
        """Of each pair its page or its block."""
        return [page if self.unit == "page" else block for block, page in self.places]

    def median(self, level: float) -> Estimate:
        """Estimate the median over all pairs, its interval over pages or blocks."""
        needed = CLUSTERS_NEEDED if self.unit == "page" else BLOCKS_NEEDED
        return clustered_median(self.differences, self.units, needed=needed, level=level)


def places_of(keys: Iterable[tuple[Any, ...]]) -> list[tuple[int, str]]:
    """Read block and page off the keys of pairs, which begin with them."""
    return [(int(key[0]), str(key[1])) for key in keys]


def sampling_words(found: Iterable[tuple[str, int]]) -> str:
    """Say of curves, each with its unit and number of pages, what their intervals were made over."""
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
