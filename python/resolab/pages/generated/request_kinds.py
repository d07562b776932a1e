"""The requests of a generated page beside its own document: kinds, and the redirects before each request.

Not for: the discoverers (`tree`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.totals import Totals
from resolab.pages.model import Kind

_NEVER_LED_TO = (Kind.BEACON, Kind.FONT)


@dataclass(slots=True)
class PlannedRequest:
    """A request other than a redirect, with the number of redirects before the request."""

    kind: Kind
    hops: int = 0


def draw_items(chance: UniformStream, totals: Totals) -> list[PlannedRequest]:
    """Draw everything below the page's document, in random order."""
    counts = dict(_kinds(chance, totals.requests - totals.redirects - totals.documents))
    counts[Kind.DOCUMENT] = totals.documents - 1
    listed = [PlannedRequest(kind) for kind, count in counts.items() for _ in range(count)]
    items = [listed[place] for place in chance.shuffle(len(listed))]
    _lead(chance, items, totals)
    return items


def _kinds(chance: UniformStream, count: int) -> Mapping[Kind, int]:
    """Share a number of requests out: log-normal shares around the centres, rounded to the largest remainders."""
    weights = {
        kind: share * math.exp(published.KIND_LOG_SD * chance.normal()) for kind, share in published.KIND_SHARES.items()
    }
    whole = math.fsum(weights.values())
    exact = {kind: count * weight / whole for kind, weight in weights.items()}
    counts = {kind: int(share) for kind, share in exact.items()}
    rest = sorted(exact, key=lambda kind: counts[kind] - exact[kind])
    for kind in rest[: count - sum(counts.values())]:
        counts[kind] += 1
    return counts


def _lead(chance: UniformStream, items: list[PlannedRequest], totals: Totals) -> None:
    """Give redirects to items, in chains of geometric length to the kinds chains lead to, then to any."""
    left = totals.redirects - totals.root_hops
    by_kind = {kind: [one for one in items if one.kind is kind] for kind in published.CHAIN_KINDS}
    while left and any(by_kind.values()):
        open_kinds = [kind for kind, heads in by_kind.items() if heads]
        kind = open_kinds[chance.pick([published.CHAIN_KINDS[one] for one in open_kinds])]
        head = by_kind[kind].pop()
        head.hops = min(chance.runs(published.CHAIN_MEAN), left, totals.chain_max)
        left -= head.hops
    for one in items * totals.chain_max:
        if not left:
            break
        if one.hops < totals.chain_max and one.kind not in _NEVER_LED_TO:
            one.hops += 1
            left -= 1
