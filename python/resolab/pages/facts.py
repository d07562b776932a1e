"""A page in numbers: sizes, hosts, depth, and the share of known discoverers.

For: summaries, and comparing pages. Not for: printing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from resolab.pages.model import Discovery, Evidence, Kind, Outcome, PageModel, Resource

_HOLDING = (Kind.DOCUMENT, Kind.STYLESHEET, Kind.SCRIPT, Kind.IMAGE)
INFERRED_BELOW = 0.5
"""The limit of evidence: below this share a model shows possible discoverers, and nothing of the real discoverers."""


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
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
    """Share of the requests, without the page's own, with a discoverer named by the recording."""
    load_ms: float | None


def count_facts(model: PageModel) -> PageFacts:
    """Count the requests, hosts and bytes of a model."""
    resources = model.resources
    by_host = Counter(one.host for one in resources)
    sizes: Counter[str] = Counter()
    for one in resources:
        sizes[one.kind.value] += one.wire_bytes
    return PageFacts(
        requests_count=len(resources),
        hosts_count=len(by_host),
        sites_count=len({model.hosts[host].site for host in by_host}),
        single_request_hosts_count=sum(count == 1 for count in by_host.values()),
        documents_count=sum(one.kind is Kind.DOCUMENT and not is_redirected(one) for one in resources),
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


def is_redirected(one: Resource) -> bool:
    """Return True when the answer was a redirect."""
    return 300 <= one.status < 400 and one.status != 304


def holds_load(one: Resource) -> bool:
    """Return True when the load event waits for the answer (HTML, "delay the load event"), never for scripts' fetches.

    For other requests before the load event, the event waits until the request is sent: a clone's scripts ensure this.
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
    """Return the share of requests, except the first, with a discoverer named by the recording; 1 if alone."""
    others = resources[1:]
    known = sum(one.evidence in {Evidence.INITIATOR, Evidence.REDIRECT} for one in others)
    return known / len(others) if others else 1.0
