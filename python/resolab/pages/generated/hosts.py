"""The hosts of a generated page: sites, number of requests, network distance and protocols.

Host 0 is the document's, site 0 its own. Not for: the host of each request (`host_assignment`), or counts known only
after placing all requests (connections).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.totals import Totals


@dataclass(slots=True, kw_only=True)
class PlannedHost:
    """A host still without requests."""

    site: int
    requests: int
    """The number of requests planned for the host."""
    is_cdn: bool = False
    address_group: int = 0
    certificate: int = 0
    offers_h3: bool = False
    has_https_record: bool = False
    is_h1: bool = False
    round_trip_ms: float = 0.0
    server_time_ms: float = 0.0
    """The median of the host's server time, in ms, before each request's own variation."""


def draw_hosts(chance: UniformStream, totals: Totals) -> list[PlannedHost]:
    """Draw all hosts of a page."""
    sites = _sites(chance, totals)
    hosts = [
        PlannedHost(site=site, requests=count)
        for site, count in zip(sites, _requests(chance, totals, sites), strict=True)
    ]
    for place, host in enumerate(hosts):
        _equip(chance, host, is_document=place == 0)
    _share_addresses(chance, hosts)
    _share_certificates(chance, hosts)
    return hosts


def _sites(chance: UniformStream, totals: Totals) -> list[int]:
    """Give each host a site: first the first party's hosts, then one host a site, then more for existing sites."""
    spare = totals.hosts - totals.sites
    drawn = math.exp(
        published.FIRST_HOSTS_INTERCEPT
        + published.FIRST_HOSTS_SLOPE * math.log(totals.hosts)
        + published.FIRST_HOSTS_SD * chance.normal()
    )
    own = spare + 1 if totals.sites == 1 else max(1, min(round(drawn), spare + 1))
    sites = [0] * own + list(range(1, totals.sites))
    while len(sites) < totals.hosts:
        # Who has hosts gets hosts.
        sites.append(sites[own + chance.below(len(sites) - own)])
    return sites


def _requests(chance: UniformStream, totals: Totals, sites: Sequence[int]) -> list[int]:
    """Count the requests of each host; the sum is the page's."""
    hosts = range(totals.hosts)
    drawn = published.SINGLE_CENTRE + published.SINGLE_SD * chance.normal()
    singles = round(totals.hosts * min(0.85, max(0.10, drawn)))
    singles = min(max(singles, 2 * totals.hosts - totals.requests), totals.hosts - 1)
    single = {1 + place for place in chance.shuffle(totals.hosts - 1)[:singles]}
    counts = [1 if host in single else 2 for host in hosts]
    if totals.requests < sum(counts):
        counts[0] = 1
    left = totals.requests - sum(counts)
    own = [host for host in hosts if sites[host] == 0 and host not in single]
    others = [host for host in hosts if sites[host] != 0 and host not in single]
    target = round(_first_party_ratio(chance, totals.hosts) * totals.requests)
    for_own = left if not others else max(0, min(left, target - sum(counts[host] for host in own)))
    weights = [published.FIRST_HOST_WEIGHT, *_zipf(len(own) - 1)]
    _spread(chance, counts, own, weights, for_own)
    _spread(chance, counts, others, _zipf(len(others)), left - for_own)
    return counts


def _first_party_ratio(chance: UniformStream, hosts: int) -> float:
    logit = (
        published.FIRST_PARTY_INTERCEPT
        + published.FIRST_PARTY_SLOPE * math.log(hosts)
        + published.FIRST_PARTY_SD * chance.normal()
    )
    return 1 / (1 + math.exp(-logit))


def _zipf(count: int) -> list[float]:
    return [rank**-published.ZIPF_SLOPE for rank in range(1, count + 1)]


def _spread(
    chance: UniformStream, counts: list[int], hosts: Sequence[int], weights: Sequence[float], left: int
) -> None:
    for _ in range(left):
        counts[hosts[chance.pick(weights)]] += 1


def _equip(chance: UniformStream, host: PlannedHost, *, is_document: bool) -> None:
    """Draw a host's distance and protocols."""
    ratio = published.CDN_RATIO_FIRST if host.site == 0 else published.CDN_RATIO_THIRD
    host.is_cdn = chance.happens(published.CDN_RATIO_DOCUMENT if is_document else ratio)
    offered = published.H3_OFFERED_DOCUMENT if is_document else published.H3_OFFERED_OTHERS
    offers, has_record = chance.happens(offered), chance.happens(published.HTTPS_RECORD_RATIO)
    host.offers_h3 = host.is_cdn and offers
    host.has_https_record = host.offers_h3 and has_record
    is_h1 = chance.happens(published.H1_RATIO_CDN if host.is_cdn else published.H1_RATIO_ORIGIN)
    host.is_h1 = is_h1 and not host.offers_h3
    median = published.FAR_CDN_MEDIAN_MS if host.is_cdn else published.FAR_ORIGIN_MEDIAN_MS
    host.round_trip_ms = published.ACCESS_ROUND_TRIP_MS + chance.log_normal(median, published.FAR_LOG_SD)
    host.server_time_ms = chance.log_normal(published.SERVER_TIME_MEDIAN_MS, published.SERVER_HOST_LOG_SD)


def _share_addresses(chance: UniformStream, hosts: Sequence[PlannedHost]) -> None:
    """Put hosts of one site, and hosts of one CDN, behind one address at one distance."""
    addresses = 0
    for place, host in enumerate(hosts):
        before = hosts[:place]
        of_site = [one for one in before if one.site == host.site and one.is_cdn is host.is_cdn]
        of_cdn = [one for one in before if one.is_cdn and host.is_cdn and one.site != host.site]
        with_site, with_cdn = (
            chance.happens(published.SHARED_ADDRESS_OF_SITE),
            chance.happens(published.SHARED_ADDRESS_OF_CDN),
        )
        near = of_site if of_site and with_site else of_cdn if with_cdn else []
        if near:
            other = near[chance.below(len(near))]
            host.address_group, host.round_trip_ms = other.address_group, other.round_trip_ms
        else:
            host.address_group, addresses = addresses, addresses + 1


def _share_certificates(chance: UniformStream, hosts: Sequence[PlannedHost]) -> None:
    """Put the names of one site on one certificate, except names with their own certificate."""
    of_site: dict[int, int] = {}
    certificates = 0
    for host in hosts:
        is_shared = chance.happens(published.SHARED_CERTIFICATE_OF_SITE)
        if host.site in of_site and is_shared:
            host.certificate = of_site[host.site]
            continue
        host.certificate = certificates
        of_site.setdefault(host.site, certificates)
        certificates += 1
