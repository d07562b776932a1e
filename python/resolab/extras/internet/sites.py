"""The sites of the box: pages of the corpus, every host name with an address and distance, in a zone with a TTL.

For: the addresses of pages, always the same for the same list of pages. Not for: clones (`pages`), failing sites
(`failures`).
"""

import zlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

from resolab.extras.internet.layout import BoxOrigin, BoxSite, HostNetwork, Zone, ZoneRecord
from resolab.extras.internet.standard import SITE_SERVERS, SITES_NETWORK
from resolab.lab.layout import Http3Offer, site_settings
from resolab.lab.layout import PageSite as LabSite
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus
from resolab.plan.pages.page_file import registrable_domain

_T = TypeVar("_T")
PAGES = (
    "arcelormittal-2018-04",
    "bing-2024-07",
    "brasserie-2018-04",
    "calibre-2020-07",
    "enorm-2017-02",
    "github-2015-12",
    "github-2017-02",
    "google-2018-11",
    "google-2021-10",
    "google-2026-03",
    "google-ru-2018-03",
    "http2-2018-10",
    "interiordesignshow-2016-01",
    "izettle-2016-01",
    "izettle-2019-09",
    "lansstyrelsen-2016-01",
    "linkedin-2016-01",
    "masterofmalt-2024-06",
    "nenapaiva-2019-11",
    "nghttp2-2017-06",
    "paulirish-2019-11",
    "paulirish-2024-05",
)
"""The pages of the corpus with few names, for short loads."""
PER_NETWORK_COUNT = 250
SITES_PREFIX = ".".join(SITES_NETWORK.split(".")[:2])
TTLS_S = (2, 20, 60, 300, 3600)
"""The TTLs of the addresses of sites' names, in s; each name has one of these."""


class AddressAllocator:
    """An allocator of addresses, each with a distance."""

    def __init__(self) -> None:
        self.networks: list[HostNetwork] = []
        """The networks of single addresses with their distance, except addresses at their host's distance."""
        self._given_count = 0

    def next(self, extra_rtt_ms: float) -> str:
        """Return a new address, farther than its host by `extra_rtt_ms`."""
        network, last = divmod(self._given_count, PER_NETWORK_COUNT)
        self._given_count += 1
        address = f"{SITES_PREFIX}.{network + 1}.{last + 1}"
        if extra_rtt_ms > 0:
            self.networks.append(HostNetwork(prefix=f"{address}/32", extra_one_way_ms=extra_rtt_ms / 2))
        return address


def corpus_sites(pages: Sequence[str], addresses: AddressAllocator) -> tuple[BoxSite, ...]:
    """Place pages of the corpus in the box."""
    return tuple(_assign_addresses(site, addresses) for site in assign_sites(Corpus.from_project(), pages).values())


def _assign_addresses(site: LabSite, addresses: AddressAllocator) -> BoxSite:
    """Assign new addresses; names sharing an address keep sharing, at the nearest distance, as in the lab."""
    extra: dict[str, float] = {}
    for origin in site.origins:
        own_ms = origin.serving.extra_rtt_ms
        extra[origin.address] = min(own_ms, extra.get(origin.address, own_ms))
    places = {address: addresses.next(extra_rtt_ms) for address, extra_rtt_ms in extra.items()}
    domain = registrable_domain(site.host)
    origins = [
        BoxOrigin(
            host=one.host,
            address=places[one.address],
            table=_table(one.host, places[one.address], site_settings(Http3Offer.NOTHING, one.settings), one.folder),
            certificate=one.serving.certificate,
        )
        for one in site.origins
    ]
    redirect = {"response": [{"path": "/", "status": 302, "location": site.url}]}
    origins.append(
        BoxOrigin(host=domain, address=origins[0].address, table=_table(domain, origins[0].address, redirect))
    )
    return BoxSite(page=site.page, url=site.url, domain=domain, origins=tuple(origins))


def _table(host: str, address: str, settings: Mapping[str, object], folder: object = None) -> dict[str, object]:
    files = {} if folder is None else {"folder": folder}
    return {"host": host, "address": address, **files, "ticket_policy": "resume", **settings}


def site_zones(sites: Sequence[BoxSite]) -> tuple[Zone, ...]:
    """Make a zone for each registrable domain, on one of the servers."""
    records: dict[str, list[ZoneRecord]] = {}
    for site in sites:
        for origin in site.origins:
            kept = records.setdefault(registrable_domain(origin.host), [])
            kept.append(ZoneRecord(owner=origin.host, kind="A", value=origin.address, ttl_s=ttl_s(origin.host)))
    return tuple(
        Zone(origin=domain, server=draw_by_name(SITE_SERVERS, domain), records=tuple(kept))
        for domain, kept in records.items()
    )


def ttl_s(host: str) -> int:
    """Return the TTL of a name's address, in s."""
    return draw_by_name(TTLS_S, host)


def draw_by_name(among: Sequence[_T], name: str) -> _T:
    """Choose by a name, with the same result every time and on every machine."""
    return among[zlib.crc32(name.encode()) % len(among)]
