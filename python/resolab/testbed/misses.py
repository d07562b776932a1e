"""Which of a page's names the resolver lacks while the page is loaded, where a plan says which share it lacks.

For: the draw, name by name. Not for: what a miss costs (`in_force`), or a resolver that lacks every name
(`resolver_cache`).

A block's trials draw alike, whatever their ratio: a name that is missed at 0.1 is missed at 0.4, too. So what a block
compares differs by the names that the larger ratio adds and by nothing else.
"""

import random
from collections.abc import Sequence

from resolab.plan import stream_seed


def missed_names(names: Sequence[str], seed: int, trial_id: str, *, ratio: float) -> frozenset[str]:
    """Draw each name by itself: with the ratio 0 none is missed, with 1 every one."""
    block = trial_id.partition("-")[0]
    return frozenset(name for name in names if random.Random(stream_seed(seed, "miss", block, name)).random() < ratio)
