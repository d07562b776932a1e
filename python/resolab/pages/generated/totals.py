"""The totals of a generated page: drawn jointly, then made consistent in whole numbers.

Not for: the kind of each request (`tree`), or the serving host (`hosts`).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.copula import draw_scores
from resolab.pages.generated.margins import MarginalDistribution

REQUESTS = MarginalDistribution.from_percentiles(published.REQUESTS)
HOSTS = REQUESTS.regress(published.HOSTS_OF_REQUESTS, published.HOSTS_MEDIAN)
MARGINS: Mapping[str, MarginalDistribution] = {
    "requests": REQUESTS,
    "hosts": HOSTS,
    "sites": HOSTS.regress(published.SITES_OF_HOSTS),
    "bytes": MarginalDistribution.from_percentiles([kb * published.KB_BYTES for kb in published.PAGE_KB]),
    "depth": REQUESTS.regress(published.DEPTH_OF_REQUESTS),
    "redirects": REQUESTS.regress(published.REDIRECTS_OF_REQUESTS),
    "documents": REQUESTS.regress(published.DOCUMENTS_OF_REQUESTS),
}
_REQUESTS_MIN = 3
_SCORE_MAX = 4.0
"""A page in 30,000 lies further out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """Consistent whole numbers of a page."""

    requests: int
    hosts: int
    sites: int
    wire_bytes: int
    depth: int
    redirects: int
    root_hops: int
    """Redirects of the page's own address."""
    documents: int

    @property
    def chain_max(self) -> int:
        """Hops a request below the page's document can have without going deeper than the page does."""
        return max(0, min(published.CHAIN_MAX, self.depth - self.root_hops - 1))


def draw_totals(chance: UniformStream, *, hosts: int | None = None, requests: int | None = None) -> Totals:
    """Draw the totals; a given number stays, and the others are as in pages with this number."""
    told = {"hosts": hosts, "requests": requests}
    given = {name: _clamp_score(MARGINS[name].score(value)) for name, value in told.items() if value is not None}
    scores = draw_scores(chance, given)
    drawn = {name: margin.value(_clamp_score(scores[name])) for name, margin in MARGINS.items()}
    requests_count = requests or max(_REQUESTS_MIN, round(drawn["requests"]))
    hosts_count = hosts or max(1, min(round(drawn["hosts"]), requests_count // 2))
    requests_count = max(requests_count, hosts_count if requests else 2 * hosts_count, _REQUESTS_MIN)
    redirects, documents, root_hops = _parts(chance, drawn, requests_count)
    depth = max(round(drawn["depth"]), root_hops + (2 if redirects > root_hops else 1))
    depth = min(depth, published.DEPTH_MAX, requests_count - 1)
    # Every second request at most is led to by a chain, and no chain is longer than the page is deep.
    chains_max = (requests_count - 1 - redirects) // 2 * (depth - root_hops - 1)
    redirects = min(redirects, root_hops + max(chains_max, 0))
    return Totals(
        requests=requests_count,
        hosts=hosts_count,
        sites=max(1, min(round(drawn["sites"]), hosts_count)),
        wire_bytes=round(drawn["bytes"]),
        depth=depth,
        redirects=redirects,
        root_hops=root_hops,
        documents=documents,
    )


def _parts(chance: UniformStream, drawn: Mapping[str, float], requests: int) -> tuple[int, int, int]:
    """Count redirects, documents and the page's own redirects."""
    redirects = max(0, min(round(drawn["redirects"] - 0.5), int(published.REDIRECTS_MAX_RATIO * requests)))
    documents = max(1, min(round(drawn["documents"]), int(published.DOCUMENTS_MAX_RATIO * requests)))
    is_led_on, hops = chance.happens(published.ROOT_REDIRECT_RATIO), chance.runs(published.ROOT_HOPS_MEAN)
    root_hops = min(hops, redirects, 3) if is_led_on else 0
    if redirects > root_hops and requests - documents - redirects < 1:
        redirects = root_hops
    return redirects, documents, root_hops


def _clamp_score(score: float) -> float:
    return math.copysign(min(abs(score), _SCORE_MAX), score)
