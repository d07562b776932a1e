"""The deliberate failures in the box, each with its own name or resolver, and their expected outcomes.

For: sites dead, lame, refused or too busy, and the opt-out list. Not for: faults of the box itself.
"""

from pathlib import Path

import msgspec

from resolab.extras.internet.layout import BoxOrigin, BoxSite, Zone, ZoneRecord
from resolab.extras.internet.sites import AddressAllocator
from resolab.extras.internet.standard import UNOWNED_ADDRESS, UNOWNED_SERVER
from resolab.plan.pages.page_file import registrable_domain

OPT_OUT_HOST = "optout.example"
OPT_OUT_FILE = "opt-out.txt"
OPT_OUT_URL = f"https://{OPT_OUT_HOST}/{OPT_OUT_FILE}"
TTL_S = 60
DISTANCE_MS = 10.0
"""The extra round trip time of sites answering with a refusal, in ms."""
_ADDRESS = ZoneRecord(owner="", kind="A", value=UNOWNED_ADDRESS, ttl_s=TTL_S)


class InjectedFailure(msgspec.Struct, frozen=True, kw_only=True):
    """A failure injected into the box."""

    name: str
    what: str
    """The event of the failure."""
    url: str
    """The URL of the affected page; for a resolver, its address."""
    shows_as: str
    """The expected record of the failure."""


FAILURES = (
    InjectedFailure(
        name="dead-site",
        what="its address leads nowhere: packets to it are lost",
        url="https://www.dead-site.test/",
        shows_as="page-load timeout or connection failure",
    ),
    InjectedFailure(
        name="lame-zone",
        what="the zone is referred to a server that does not have it and answers REFUSED",
        url="https://www.lame-zone.test/",
        shows_as="DNS error (SERVFAIL of the resolver)",
    ),
    InjectedFailure(
        name="servfail-zone",
        what="the zone's server has no data for it and answers SERVFAIL",
        url="https://www.servfail-zone.test/",
        shows_as="DNS error (SERVFAIL)",
    ),
    InjectedFailure(
        name="silent-zone",
        what="the zone's server does not exist: its queries are lost",
        url="https://www.silent-zone.test/",
        shows_as="DNS error (SERVFAIL or timeout)",
    ),
    InjectedFailure(
        name="no-such-name",
        what="the domain is not registered",
        url="https://www.no-such-name.test/",
        shows_as="DNS error (NXDOMAIN)",
    ),
    InjectedFailure(
        name="too-many",
        what="answers 429 with Retry-After: 3600",
        url="https://www.too-many.test/",
        shows_as="429; the site is left alone for the rest of the run",
    ),
    InjectedFailure(
        name="forbidden",
        what="answers 403",
        url="https://www.forbidden.test/",
        shows_as="403; the site is left alone for the rest of the run",
    ),
    InjectedFailure(
        name="busy",
        what="answers 503 with Retry-After: 3600",
        url="https://www.busy.test/",
        shows_as="503; the site is left alone for the rest of the run",
    ),
    InjectedFailure(
        name="reset",
        what="resets every request",
        url="https://www.reset.test/",
        shows_as="browser error",
    ),
    InjectedFailure(
        name="drops-doq",
        what="the resolver takes DoQ's packets and never answers; its other transports work",
        url="quic://dns.deaf.example",
        shows_as="quic_handshake_timeout",
    ),
)
_ANSWERS: dict[str, dict[str, object]] = {
    "too-many": {"status": 429, "fields": {"retry-after": "3600"}},
    "forbidden": {"status": 403},
    "busy": {"status": 503, "fields": {"retry-after": "3600"}},
    "reset": {"outcome": "reset"},
}


def place_failing_sites(addresses: AddressAllocator, opt_out_folder: Path) -> tuple[BoxSite, ...]:
    """Place the sites answering with a refusal, and the opt-out list."""
    sites = [
        _site(f"www.{name}.test", addresses, {"response": [{"path": "/", **answer}]})
        for name, answer in _ANSWERS.items()
    ]
    listed = {"folder": opt_out_folder, "compression": [], "cache_control": "no-store"}
    return (*sites, _site(OPT_OUT_HOST, addresses, listed))


def _site(host: str, addresses: AddressAllocator, settings: dict[str, object]) -> BoxSite:
    address = addresses.next(DISTANCE_MS)
    table = {"host": host, "address": address, "ticket_policy": "resume", **settings}
    domain = registrable_domain(host)
    origin = BoxOrigin(host=host, address=address, table=table)
    return BoxSite(page=domain.partition(".")[0], url=f"https://{host}/", domain=domain, origins=(origin,))


def make_failing_zones() -> tuple[Zone, ...]:
    """Make the zones with a failure or a dead address; zones of failing sites are made like all others."""
    return (
        _zone("dead-site", "auth-a"),
        _zone("lame-zone", "auth-a", is_served=False),
        _zone("servfail-zone", "auth-a", is_readable=False),
        _zone("silent-zone", UNOWNED_SERVER),
    )


def _zone(name: str, server: str, *, is_served: bool = True, is_readable: bool = True) -> Zone:
    record = msgspec.structs.replace(_ADDRESS, owner=f"www.{name}.test")
    return Zone(origin=f"{name}.test", server=server, records=(record,), is_served=is_served, is_readable=is_readable)
