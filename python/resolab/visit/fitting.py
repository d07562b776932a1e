"""How many loads of each page over each configuration: as many as are needed to tell, and as fit in the time.

For: `--loads` where it is not given, how long it will take, and when to end. Not for: measuring time.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from resolab import stats
from resolab.manners import Caps, site_of
from resolab.wording import counted

SECONDS_PER_LOAD, SECONDS_PER_START = 2.1, 2.0
"""A load with its look-ups and pings, and the start of a browser, one for most configurations. Slow pages
take longer: that shows when they are loaded."""
WITHIN_S = 170.0
"""Time of a visit whose number of loads is not given; starting and ending browsers takes the rest of three minutes."""
LEAST, MOST = 2, 11
FIRST_ROUNDS = 1
"""Rounds that stand apart: in them resolvers ask for what they hold afterwards."""
JOINT_LEVEL = 0.95
"""Of all intervals of a visit together, of any two ways."""


@dataclass(frozen=True, slots=True)
class Extent:
    """How much there is to do."""

    pages_count: int
    configurations_count: int
    loads_count: int

    @property
    def total(self) -> int:
        """Loads in all."""
        return self.pages_count * self.configurations_count * self.loads_count

    @property
    def seconds(self) -> float:
        """How long it will take."""
        return self.total * SECONDS_PER_LOAD + self.configurations_count * SECONDS_PER_START


def extent(urls: Sequence[str], configurations_count: int, *, loads_count: int | None, caps: Caps) -> Extent:
    """Decide; a number that is given is taken as it is, the ledger makes it wait where it must."""
    if loads_count is not None:
        return Extent(len(urls), configurations_count, loads_count)
    of_loads_s = WITHIN_S - configurations_count * SECONDS_PER_START
    fits = math.floor(of_loads_s / (SECONDS_PER_LOAD * len(urls) * configurations_count))
    of_one_site = max(Counter(map(site_of, urls)).values())
    of_caps = min(caps.loads_per_site_per_hour // (configurations_count * of_one_site), MOST)
    return Extent(len(urls), configurations_count, max(LEAST, min(fits, of_caps)))


def is_over(elapsed_s: float, done: int, found: Extent, *, within_s: float = WITHIN_S) -> bool:
    """Whether another block would end too late, by the pace so far; never before one round is done."""
    if done < found.pages_count * found.configurations_count:
        return False
    return elapsed_s * (done + found.configurations_count) / done > within_s


@lru_cache(maxsize=64)
def joint_level(ways_count: int) -> float:
    """Return the level of each interval so that those of any two of so many ways hold together at the joint one.

    A way is compared with the fastest, too, and which that is the same loads decide: whatever it is, it is one of these
    comparisons. The level is that of Tukey's range of as many values, which for two is the joint one itself.
    """
    reach = scipy.stats.studentized_range.ppf(JOINT_LEVEL, max(2, ways_count), np.inf) / math.sqrt(2)
    return 1 - 2 * float(scipy.stats.norm.sf(reach))


def pairs_needed(ways_count: int) -> int:
    """Return the fewest pairs of which a shift has an interval at that level."""
    level = joint_level(ways_count)
    return next(n for n in range(2, 100) if stats.hodges_lehmann(_zeros(n), level=level).ci_low is not None)


def _zeros(count: int) -> stats.Sample:
    return stats.Sample.exact(np.zeros(count))


def told_in_words(found: Extent) -> str | None:
    """Say beforehand that there will be too few pairs for any verdict."""
    pairs = found.pages_count * max(0, found.loads_count - FIRST_ROUNDS)
    needed = pairs_needed(found.configurations_count)
    if pairs >= needed:
        return None
    return (
        f"{counted(pairs, 'pair')} of loads will be too few to tell noise from a difference: it takes {needed}; "
        f"give --loads {math.ceil(needed / found.pages_count) + FIRST_ROUNDS}"
    )
