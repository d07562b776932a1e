"""The number of loads of each page over each configuration: enough for a verdict, limited by time.

For: the default of `--loads`, the expected duration, and the decision to end. Not for: measuring time.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from resolab import stats
from resolab.basics.wording import format_count
from resolab.plan.manners import Caps, find_site

SECONDS_PER_LOAD, SECONDS_PER_START = 2.1, 2.0
"""The expected time, in s, of a load with look-ups and pings, and of starting a browser. Most configurations need a
browser of their own. Slow pages take longer, noticed only during the loads."""
WITHIN_S = 170.0
"""The time of a visit without a given number of loads, in s. Starting and ending browsers takes the rest of three
minutes."""
LEAST, MOST = 2, 11
FIRST_ROUNDS = 1
"""The number of rounds kept apart. In these rounds resolvers ask for names held in their cache afterwards."""
JOINT_LEVEL = 0.95
"""The joint confidence level of all intervals of a visit, between any two configurations."""


@dataclass(frozen=True, slots=True)
class VisitExtent:
    """The number of pages, configurations and loads of a visit."""

    pages_count: int
    configurations_count: int
    loads_count: int

    @property
    def total(self) -> int:
        """Return the total number of loads."""
        return self.pages_count * self.configurations_count * self.loads_count

    @property
    def seconds(self) -> float:
        """Return the expected duration, in s."""
        return self.total * SECONDS_PER_LOAD + self.configurations_count * SECONDS_PER_START


def extent(urls: Sequence[str], configurations_count: int, *, loads_count: int | None, caps: Caps) -> VisitExtent:
    """Choose the extent; a given number of loads is kept, and the ledger delays loads as needed."""
    if loads_count is not None:
        return VisitExtent(len(urls), configurations_count, loads_count)
    of_loads_s = WITHIN_S - configurations_count * SECONDS_PER_START
    fits = math.floor(of_loads_s / (SECONDS_PER_LOAD * len(urls) * configurations_count))
    of_one_site = max(Counter(map(find_site, urls)).values())
    of_caps = min(caps.loads_per_site_per_hour // (configurations_count * of_one_site), MOST)
    return VisitExtent(len(urls), configurations_count, max(LEAST, min(fits, of_caps)))


def is_over(elapsed_s: float, done: int, found: VisitExtent, *, within_s: float = WITHIN_S) -> bool:
    """Return True when another block would end too late at the pace so far; never before a full round is done."""
    if done < found.pages_count * found.configurations_count:
        return False
    return elapsed_s * (done + found.configurations_count) / done > within_s


@lru_cache(maxsize=64)
def joint_level(ways_count: int) -> float:
    """Return the level of each interval needed to reach the joint level among `ways_count` configurations.

    A configuration is also compared with the fastest, chosen from the same loads. Any choice of the fastest is still a
    comparison of two configurations of the visit. The level is from Tukey's range of `ways_count` values; for two
    values the level is the joint level itself.
    """
    reach = scipy.stats.studentized_range.ppf(JOINT_LEVEL, max(2, ways_count), np.inf) / math.sqrt(2)
    return 1 - 2 * float(scipy.stats.norm.sf(reach))


def pairs_needed(ways_count: int) -> int:
    """Return the fewest pairs for an interval of the shift at the joint level."""
    level = joint_level(ways_count)
    return next(n for n in range(2, 100) if stats.hodges_lehmann(_zeros(n), level=level).ci_low is not None)


def _zeros(count: int) -> stats.Sample:
    return stats.Sample.exact(np.zeros(count))


def warn_of_few_pairs(found: VisitExtent) -> str | None:
    """Return a warning when there will be too few pairs for any verdict."""
    pairs = found.pages_count * max(0, found.loads_count - FIRST_ROUNDS)
    needed = pairs_needed(found.configurations_count)
    if pairs >= needed:
        return None
    return (
        f"{format_count(pairs, 'pair')} of loads will be too few to tell noise from a difference: it takes {needed}; "
        f"give --loads {math.ceil(needed / found.pages_count) + FIRST_ROUNDS}"
    )
