"""Combine all comparisons of a box's contacts in a single result. Pure.

For: `resolab internet contacts`. Not for: each comparison (`named_addresses`, `contact_counts`, `opt_outs`), showing
(`cli`).
"""

from collections.abc import Sequence

import msgspec

from resolab.extras.internet.contact_check.box_contacts import BoxContacts
from resolab.extras.internet.contact_check.contact_counts import CapVerdict, ContactCount, count_contacts
from resolab.extras.internet.contact_check.named_addresses import (
    ContactedAddress,
    ContactNaming,
    UnusedDryRunRow,
    list_contacted,
    never_contacted,
)
from resolab.extras.internet.contact_check.opt_outs import OptedOutHost, judge_listed_hosts
from resolab.extras.internet.layout import BoxLayout
from resolab.plan.manners import Caps, Contact


class ContactJudgement(msgspec.Struct, frozen=True, kw_only=True):
    """The contacts of a box's servers beside the announced and allowed contacts."""

    counted_from_ns: int
    contacted: list[ContactedAddress]
    never_contacted: list[UnusedDryRunRow]
    counted: list[ContactCount]
    listed: list[OptedOutHost]
    batches_count: int

    @property
    def not_named(self) -> list[ContactedAddress]:
        """Return the contacted but not named addresses."""
        return [one for one in self.contacted if one.named_as is ContactNaming.NOT_NAMED]

    @property
    def exceeded(self) -> list[ContactCount]:
        """Return the sites and resolvers with more contacts than a cap allows."""
        return [one for one in self.counted if one.kept is CapVerdict.EXCEEDED]

    @property
    def not_shown(self) -> list[ContactCount]:
        """Return the resolvers with only packet counts, above the cap for queries."""
        return [one for one in self.counted if one.kept is CapVerdict.NOT_SHOWN]

    @property
    def disobeyed(self) -> list[OptedOutHost]:
        """Return the hosts contacted in spite of the list."""
        return [one for one in self.listed if not one.obeyed]

    @property
    def is_good(self) -> bool:
        """Return True without any unnamed contact, exceeded cap or contact in spite of the list."""
        return not (self.not_named or self.exceeded or self.disobeyed)


def hold(
    layout: BoxLayout,
    seen: BoxContacts,
    named: Sequence[Contact],
    caps: Caps,
    *,
    batches_ns: Sequence[int] | None = None,
) -> ContactJudgement:
    """Compare the received contacts with a dry run's rows and the caps in force.

    `batches_ns` are the starts of batches; by default the fetches of the box's opt-out list are used.
    """
    batches = seen.opt_out_fetches_ns if batches_ns is None else batches_ns
    flows = seen.from_home
    return ContactJudgement(
        counted_from_ns=seen.counted_from_ns,
        contacted=list_contacted(layout, flows, named),
        never_contacted=never_contacted(layout, flows, named),
        counted=count_contacts(layout, seen, named, caps),
        listed=judge_listed_hosts(layout, seen, batches),
        batches_count=len(batches),
    )
