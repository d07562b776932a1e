"""The requests after the load event: requests of scripts, with all their descendants.

Not for: the times of these requests (`timeline`).
"""

import math
from collections.abc import Sequence

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.tree import Node
from resolab.pages.model import Discovery

BY_RUNS = (Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE)
"""Discoveries by running code: scripts and inline scripts."""


def put_after_load(chance: UniformStream, nodes: Sequence[Node]) -> None:
    """Mark whole branches until the drawn share of the page is marked, without exceeding the share."""
    centre = math.log(published.AFTER_LOAD_CENTRE / (1 - published.AFTER_LOAD_CENTRE))
    ratio = 1 / (1 + math.exp(-centre - published.AFTER_LOAD_LOGIT_SD * chance.normal()))
    left = round(ratio * len(nodes))
    children: list[list[int]] = [[] for _ in nodes]
    for place, node in enumerate(nodes):
        if node.parent is not None:
            children[node.parent].append(place)
    for place in chance.shuffle(len(nodes)):
        if left <= 0:
            break
        if nodes[place].discovery not in BY_RUNS or nodes[place].is_after_load:
            continue
        branch = _branch(children, place)
        added = [one for one in branch if not nodes[one].is_after_load]
        if len(added) <= left:
            left -= len(added)
            for one in added:
                nodes[one].is_after_load = True


def _branch(children: Sequence[Sequence[int]], place: int) -> list[int]:
    found = [place]
    for one in found:
        found.extend(children[one])
    return found
