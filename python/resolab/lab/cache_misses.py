"""Draw the names of a page missing in the resolver's cache, for a plan with a miss ratio.

For: the random draw for each name. Not for: the cost of a miss (`edge_state`), or a resolver lacking every name
(`resolver_cache`).

All trials of a block draw alike, for any ratio: a name missed at 0.1 is missed at 0.4, too. So conditions of a block
differ only by the names added by the larger ratio.
"""

import random
from collections.abc import Sequence

from resolab.plan import stream_seed


def draw_missed_names(names: Sequence[str], seed: int, trial_id: str, *, ratio: float) -> frozenset[str]:
    """Draw each name independently: with the ratio 0 no name is missed, with 1 every name."""
    block = trial_id.partition("-")[0]
    return frozenset(name for name in names if random.Random(stream_seed(seed, "miss", block, name)).random() < ratio)
