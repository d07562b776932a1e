"""Compare opted-out hosts' last contacts with the instants of their listing. Pure.

For: "obeyed within a batch". Not for: the coverage of the list (`manners.opt_out`).

The list is fetched before each batch: after the start of the first batch with a site on the list, the site is not
contacted. A host used only inside some page is known after loading the page, so the page is loaded at most once more.
"""

import bisect
from collections.abc import Iterable, Sequence

import msgspec

from resolab.extras.internet.contact_check.box_contacts import BoxContacts, OptOutListing
from resolab.extras.internet.layout import BoxLayout, BoxSite, list_names
from resolab.plan.manners import OptOut

SERVED_WITHIN_NS = 1_000_000_000
"""The time allowed for the box to serve the list anew after a change of its file, in ns."""


class OptedOutHost(msgspec.Struct, frozen=True, kw_only=True):
    """A host of the box's sites covered by the list."""

    domain: str
    """The domain, as listed."""
    host: str
    since_ns: int
    """The instant of the listing, in ns."""
    batch_ns: int | None
    """The start of the first batch afterwards, in ns; `None` without any."""
    last_contact_ns: int | None
    """The host's last request, in ns; `None` without any."""
    obeyed: bool


def judge_listed_hosts(layout: BoxLayout, seen: BoxContacts, batches_ns: Iterable[int]) -> list[OptedOutHost]:
    """Judge every host covered by the list; hosts removed from the list are not judged."""
    batches = sorted(batches_ns)
    documents = {_document_host(site) for site in layout.sites}
    found = []
    for listed in seen.listed:
        if listed.until_ns is None:
            covers = OptOut(frozenset({listed.domain})).covers
            hosts = [host for host in dict.fromkeys(list_names(layout.sites)) if covers(host)]
            found += [_judge_host(layout, seen, listed, host, batches, is_site=host in documents) for host in hosts]
    return found


def _judge_host(
    layout: BoxLayout, seen: BoxContacts, listed: OptOutListing, host: str, batches: Sequence[int], *, is_site: bool
) -> OptedOutHost:
    place = bisect.bisect_left(batches, listed.since_ns + SERVED_WITHIN_NS)
    batch_ns = batches[place] if place < len(batches) else None
    last_ns = seen.last_requests_ns.get(host)
    late = batch_ns is not None and last_ns is not None and last_ns > batch_ns
    if late and not is_site and batch_ns is not None and last_ns is not None:
        # A page may be found out to ask for it once; its next load is one too many.
        late = _count_loads(layout, seen, host, batch_ns, last_ns) > 1
    return OptedOutHost(
        domain=listed.domain, host=host, since_ns=listed.since_ns, batch_ns=batch_ns, last_contact_ns=last_ns,
        obeyed=not late,
    )  # fmt: skip


def _count_loads(layout: BoxLayout, seen: BoxContacts, host: str, after_ns: int, until_ns: int) -> int:
    """Count the loads of the page using a host."""
    pages = [site for site in layout.sites if any(origin.host == host for origin in site.origins)]
    instants = [at_ns for page in pages if page.domain in seen.sites for at_ns in seen.sites[page.domain].documents_ns]
    return sum(after_ns < at_ns <= until_ns for at_ns in instants)


def _document_host(site: BoxSite) -> str:
    return site.url.partition("://")[2].partition("/")[0]
