"""List all hosts a measurement would contact, before any contact (`--dry-run`).

For: a list from a plan or a command, as a pure function. Not for: hosts contacted by the pages themselves. These hosts
are known only during loading, as stated in `UNKNOWN_BEFOREHAND`.
"""

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from resolab.basics.protocols.dns_transports import Carrier
from resolab.plan.manners.caps import Caps
from resolab.plan.manners.resolvers import ResolverEndpoint, resolver_endpoint
from resolab.plan.manners.sites import is_looked_up, read_host

UNKNOWN_BEFOREHAND = (
    "Besides these each page makes the browser contact hosts of others, which nobody knows before it is loaded: the "
    "hosts of its redirects, pictures, scripts and advertisements. Of these the opt-out list alone is obeyed."
)
PINGS_PER_LOAD = 5


class ContactReason(enum.StrEnum):
    """The reason for contacting a host."""

    OPT_OUT = "opt_out"
    """The server of the opt-out list, before each batch."""
    PAGE = "page"
    RESOLVER = "resolver"
    BOOTSTRAP = "bootstrap"
    """The system's resolver, asked for the address of a resolver given by name."""
    PING = "ping"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """A host with the reason, the protocols and the frequency of contact."""

    reason: ContactReason
    host: str
    """The host name or address, as given."""
    port: int | None
    """The port; `None`: ICMP, without ports. Without permission for ICMP, pings use TCP or QUIC on the ports of the
    resolver's rows."""
    carriers: tuple[str, ...]
    """The carriers: `udp`, `tcp`, `quic` or `icmp`."""
    times_at_most: int | None
    """The total of page loads, queries, pings or fetches; `None`: as many queries as the pages have names."""
    per_hour_at_most: int
    """The maximum per hour, by the caps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedContacts:
    """The intentions of a plan or command, as far as known beforehand."""

    urls: Sequence[str]
    loads_of: Mapping[str, int]
    """The number of loads of each URL over all configurations."""
    resolvers: Iterable[tuple[str, int]]
    """The words for each resolver and the number of loads over this resolver. The system's resolver is given by
    address."""
    system_resolver: str | None
    """The words for the system's resolver; `None`: no host is given by name, so no look-up is needed."""
    opt_out: str | None = None
    batches_count: int = 1


def contacts(intended: PlannedContacts, caps: Caps) -> list[Contact]:
    """List all hosts known beforehand: the opt-out list, the pages, the resolvers, pings."""
    found: list[Contact] = []
    if intended.opt_out is not None and "://" in intended.opt_out:
        found.append(_contact(ContactReason.OPT_OUT, intended.opt_out, ("tcp",), intended.batches_count))
    for url in intended.urls:
        per_hour = min(caps.loads_per_site_per_hour, caps.loads_per_hour)
        found.append(_contact(ContactReason.PAGE, url, ("tcp", "quic"), intended.loads_of.get(url, 0), per_hour))
    asked = _endpoints(intended.resolvers)
    hourly = caps.queries_per_resolver_per_hour
    found += [_resolver(ContactReason.RESOLVER, endpoint, None, hourly) for endpoint in asked]
    if intended.system_resolver is not None and _has_names(intended, asked):
        found.append(_resolver(ContactReason.BOOTSTRAP, resolver_endpoint(intended.system_resolver), None, hourly))
    loads_over: dict[str, int] = {}
    for endpoint, loads in asked.items():
        loads_over[endpoint.host] = loads_over.get(endpoint.host, 0) + loads
    found += [
        Contact(
            reason=ContactReason.PING, host=host, port=None, carriers=("icmp",), times_at_most=PINGS_PER_LOAD * loads,
            per_hour_at_most=PINGS_PER_LOAD * caps.loads_per_hour,
        )
        for host, loads in loads_over.items()
    ]  # fmt: skip
    return found


def _has_names(intended: PlannedContacts, asked: Iterable[ResolverEndpoint]) -> bool:
    """Return True when some host is given by name, so the system's resolver is asked before any load."""
    listed = intended.opt_out is not None and "://" in intended.opt_out and is_looked_up(intended.opt_out)
    return listed or any(not one.is_address for one in asked)


def names_contacted(found: Iterable[Contact]) -> frozenset[str]:
    """Return the hosts of a list, for comparison with the hosts really contacted."""
    return frozenset(one.host for one in found)


def _endpoints(resolvers: Iterable[tuple[str, int]]) -> dict[ResolverEndpoint, int]:
    found: dict[ResolverEndpoint, int] = {}
    for text, loads in resolvers:
        endpoint = resolver_endpoint(text)
        found[endpoint] = found.get(endpoint, 0) + loads
    return found


def _resolver(reason: ContactReason, endpoint: ResolverEndpoint, times: int | None, per_hour: int) -> Contact:
    carriers: tuple[str, ...] = (endpoint.carrier.value,)
    if endpoint.carrier is Carrier.UDP:
        # A response that does not fit is asked for again over TCP (RFC 7766 section 5).
        carriers = (Carrier.UDP.value, Carrier.TCP.value)
    return Contact(
        reason=reason, host=endpoint.host, port=endpoint.port, carriers=carriers, times_at_most=times,
        per_hour_at_most=per_hour,
    )  # fmt: skip


def _contact(
    reason: ContactReason, url: str, carriers: tuple[str, ...], times: int, per_hour: int | None = None
) -> Contact:
    parts = urlsplit(url if "://" in url else f"https://{url}")
    port = parts.port or (80 if parts.scheme == "http" else 443)
    return Contact(
        reason=reason,
        host=read_host(url),
        port=port,
        carriers=carriers if port != 80 else ("tcp",),
        times_at_most=times,
        per_hour_at_most=times if per_hour is None else per_hour,
    )
