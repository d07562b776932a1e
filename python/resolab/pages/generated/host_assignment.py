"""The host of each request: every host serves its planned number, near the parent's host where possible.

Not for: the planned numbers (`hosts`).
"""

from collections.abc import Sequence

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.hosts import PlannedHost
from resolab.pages.model import Discovery, Kind


class HostCapacity:
    """The requests still to be placed at each host."""

    def __init__(self, hosts: Sequence[PlannedHost]) -> None:
        self._sites = [host.site for host in hosts]
        self._left = [host.requests for host in hosts]
        self._of_site: dict[int, list[int]] = {}
        for place, site in enumerate(self._sites):
            self._of_site.setdefault(site, []).append(place)

    def take_first(self, chance: UniformStream, *, count: int) -> list[int]:
        """Take seats for the page's own redirects and document: document at host 0, redirects on the same site."""
        self._left[0] -= 1
        return [*(self._take(chance, self._of_site[0]) for _ in range(count)), 0]

    def take(self, chance: UniformStream, parent_host: int, parent_kind: Kind, kind: Kind, discovery: Discovery) -> int:
        """Take a seat for a request."""
        site = self._sites[parent_host]
        if chance.happens(_stay_ratio(parent_kind, kind, discovery)) and self._has_left(site):
            return self._take(chance, self._of_site[site])
        if kind is Kind.DOCUMENT or discovery is Discovery.REDIRECT:
            others = [left if other != site else 0 for left, other in zip(self._left, self._sites, strict=True)]
            if any(others):
                return self._reserve(chance.pick(others))
        return self._reserve(chance.pick(self._left))

    def _has_left(self, site: int) -> bool:
        return any(self._left[host] for host in self._of_site[site])

    def _take(self, chance: UniformStream, hosts: Sequence[int]) -> int:
        weights = [self._left[host] for host in hosts]
        return self._reserve(hosts[chance.pick(weights)] if any(weights) else chance.pick(self._left))

    def _reserve(self, host: int) -> int:
        self._left[host] -= 1
        return host


def _stay_ratio(parent_kind: Kind, kind: Kind, discovery: Discovery) -> float:
    if discovery is Discovery.REDIRECT:
        return published.STAY_RATIO[Kind.IMAGE]
    if kind is Kind.DOCUMENT:
        return 1 - published.FRAME_CROSS_RATIO
    if kind is Kind.STYLESHEET and parent_kind is Kind.DOCUMENT:
        return published.SHEET_STAYS_RATIO
    return published.STAY_RATIO.get(parent_kind, published.STAY_RATIO[Kind.SCRIPT])
