"""All that is held against a box's contacts, in one answer. Pure.

For: `resolab internet contacts`. Not for: each comparison (`named`, `counted`, `opt_outs`), showing (`cli`).
"""

from collections.abc import Sequence

import msgspec

from resolab.internet.contacted.counted import Counted, Kept, counted
from resolab.internet.contacted.named import Contacted, NamedAs, NeverContacted, contacted, never_contacted
from resolab.internet.contacted.opt_outs import ListedHost, listed_hosts
from resolab.internet.contacted.seen import Seen
from resolab.internet.layout import Layout
from resolab.manners import Caps, Contact


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """What a box's servers got beside what was told and allowed."""

    counted_from_ns: int
    contacted: list[Contacted]
    never_contacted: list[NeverContacted]
    counted: list[Counted]
    listed: list[ListedHost]
    batches_count: int

    @property
    def not_named(self) -> list[Contacted]:
        """Whoever was contacted and should not have been."""
        return [one for one in self.contacted if one.named_as is NamedAs.NOT_NAMED]

    @property
    def exceeded(self) -> list[Counted]:
        """Whoever got more than a cap allows."""
        return [one for one in self.counted if one.kept is Kept.EXCEEDED]

    @property
    def not_shown(self) -> list[Counted]:
        """Resolvers of which packets alone are known, and more of them than the cap allows queries."""
        return [one for one in self.counted if one.kept is Kept.NOT_SHOWN]

    @property
    def disobeyed(self) -> list[ListedHost]:
        """Whoever was contacted in spite of the list."""
        return [one for one in self.listed if not one.obeyed]

    @property
    def is_good(self) -> bool:
        """Whether nobody was contacted that was not named, more than allowed, or in spite of the list."""
        return not (self.not_named or self.exceeded or self.disobeyed)


def hold(
    layout: Layout, seen: Seen, named: Sequence[Contact], caps: Caps, *, batches_ns: Sequence[int] | None = None
) -> Held:
    """Hold what was got against a dry run's rows and the caps in force.

    `batches_ns` tells when batches began; without it the fetches of the box's opt-out list do.
    """
    batches = seen.opt_out_fetches_ns if batches_ns is None else batches_ns
    flows = seen.from_home
    return Held(
        counted_from_ns=seen.counted_from_ns,
        contacted=contacted(layout, flows, named),
        never_contacted=never_contacted(layout, flows, named),
        counted=counted(layout, seen, named, caps),
        listed=listed_hosts(layout, seen, batches),
        batches_count=len(batches),
    )
