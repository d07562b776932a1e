"""What can be said of a page in numbers: sizes, hosts, depth, how much is known of who asked.

For: summaries, and comparing pages. Not for: printing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from resolab.pages.model import Discovery, Evidence, Kind, Outcome, PageModel, Resource

_HOLDING = (Kind.DOCUMENT, Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE)
INFERRED_BELOW = 0.5
"""With less evidence a model says what could have been, and nothing of the page's own discoverers."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A page in numbers."""

    requests_count: int
    hosts_count: int
    sites_count: int
    single_request_hosts_count: int
    documents_count: int
    redirects_count: int
    failed_count: int
    after_load_count: int
    depth: int
    """Longest chain of discoverers below the page's own request."""
    wire_bytes: int
    raw_bytes: int
    bytes_by_kind: Mapping[str, int]
    requests_by_kind: Mapping[str, int]
    evidence_ratio: float
    """Share of the requests, but for the page's own, whose discoverer the recording names."""
    load_ms: float | None


def facts_of(model: PageModel) -> Facts:
    """Count."""
    resources = model.resources
    by_host = Counter(one.host for one in resources)
    sizes: Counter[str] = Counter()
    for one in resources:
        sizes[one.kind.value] += one.wire_bytes
    return Facts(
        requests_count=len(resources),
        hosts_count=len(by_host),
        sites_count=len({model.hosts[host].site for host in by_host}),
        single_request_hosts_count=sum(count == 1 for count in by_host.values()),
        documents_count=sum(one.kind is Kind.DOCUMENT and not leads_on(one) for one in resources),
        redirects_count=sum(one.discovery is Discovery.REDIRECT for one in resources),
        failed_count=sum(one.outcome is Outcome.FAILED for one in resources),
        after_load_count=sum(one.after_load for one in resources),
        depth=max(depths(resources)),
        wire_bytes=sum(one.wire_bytes for one in resources),
        raw_bytes=sum(one.raw_bytes for one in resources),
        bytes_by_kind=dict(sizes.most_common()),
        requests_by_kind=dict(Counter(one.kind.value for one in resources).most_common()),
        evidence_ratio=evidence_ratio(resources),
        load_ms=model.load_ms,
    )


def leads_on(one: Resource) -> bool:
    """Whether its answer was a redirect."""
    return 300 <= one.status < 400 and one.status != 304


def holds_load(one: Resource) -> bool:
    """Whether the load event waits for its answer (HTML, "delay the load event"); what scripts fetch it does not.

    Of the rest of what was asked for before the load event it waits until it is asked for: a clone's scripts see to it.
    """
    is_used = one.kind is Kind.FONT and one.discovery in {Discovery.DOCUMENT, Discovery.STYLESHEET}
    return not one.after_load and (one.kind in _HOLDING or is_used)


def depths(resources: Sequence[Resource]) -> list[int]:
    """Count the discoverers above each request."""
    found: list[int] = []
    for one in resources:
        found.append(0 if one.parent is None else found[one.parent] + 1)
    return found


def evidence_ratio(resources: Sequence[Resource]) -> float:
    """Share of requests, but for the first, whose discoverer the recording itself names; 1 where there is no other."""
    others = resources[1:]
    known = sum(one.evidence in {Evidence.INITIATOR, Evidence.REDIRECT} for one in others)
    return known / len(others) if others else 1.0
