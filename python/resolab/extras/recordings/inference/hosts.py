"""The hosts of a recording: groups of one site, one address, one certificate, and the distance of each.

For: the model's facts about names after dropping the names. Not for: times of single requests.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache

from publicsuffixlist import PublicSuffixList

from resolab.extras.recordings.recording import RecordedExchange, Timings
from resolab.extras.recordings.values import read_host
from resolab.pages.model import Host

_ROUND_TRIP_MIN_MS = 0.1
"""Less was not measured on a network: the recorder's zero."""


@cache
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def find_site(host: str) -> str:
    """Return the registrable domain, or the host itself without such a domain (addresses, bare suffixes)."""
    return _suffixes().privatesuffix(host) or host


def describe_hosts(
    exchanges: Sequence[RecordedExchange], document: RecordedExchange, *, keep_names: bool
) -> dict[str, Host]:
    """Describe each host, by name, in the order of their first request."""
    of_host: dict[str, list[RecordedExchange]] = {}
    for one in exchanges:
        of_host.setdefault(read_host(one.url) or "", []).append(one)
    opened = _find_connection_hosts(exchanges)
    first = find_site(read_host(document.url) or "")
    sites = {first: 0} | {site: number for number, site in enumerate(_others(of_host, first), start=1)}
    addresses = _groups(of_host, lambda asked: next((one.address for one in asked if one.address), None))
    certificates = _groups(
        of_host, lambda asked: next((one.certificate_names for one in asked if one.certificate_names), None)
    )
    return {
        host: Host(
            site=sites[find_site(host)],
            name=host if keep_names else None,
            protocols=tuple(sorted({one.protocol for one in asked if one.protocol})),
            address_group=addresses.get(host),
            certificate=certificates.get(host),
            alt_svc=_any(one.alt_svc for one in asked),
            round_trip_ms=round_trip(asked),
            connection_count=_connections(host, asked, opened),
        )
        for host, asked in of_host.items()
    }


def _others(hosts: Mapping[str, object], first: str) -> list[str]:
    return [site for site in dict.fromkeys(find_site(host) for host in hosts) if site != first]


def _groups(
    of_host: Mapping[str, Sequence[RecordedExchange]], key: Callable[[Sequence[RecordedExchange]], Hashable | None]
) -> dict[str, int]:
    numbers: dict[Hashable, int] = {}
    groups = {}
    for host, asked in of_host.items():
        found = key(asked)
        if found is not None:
            groups[host] = numbers.setdefault(found, len(numbers))
    return groups


def _find_connection_hosts(exchanges: Iterable[RecordedExchange]) -> dict[str | None, str]:
    """Return the host of each connection: the host of the request with the handshake, else of the first request."""
    hosts: dict[str | None, str] = {}
    for one in sorted(exchanges, key=lambda one: not one.timings.connect):
        hosts.setdefault(one.connection, read_host(one.url) or "")
    return hosts


def _connections(host: str, asked: Iterable[RecordedExchange], opened: Mapping[str | None, str]) -> int | None:
    """Count the connections to a host, 0 if all its requests used others' connections; `None` without connections."""
    told = {one.connection for one in asked if one.connection}
    return sum(opened[one] == host for one in told) if told else None


def _any(values: Iterable[bool | None]) -> bool | None:
    told = [value for value in values if value is not None]
    return any(told) if told else None


def round_trip(asked: Sequence[RecordedExchange]) -> float | None:
    """Return the smallest round trip of a host's handshakes: TCP's, or QUIC's, as QUIC's takes one round trip."""
    trips = [trip for trip in (_trip(one.timings, one.protocol) for one in asked) if trip is not None]
    return min(trips) if trips else None


def _trip(timings: Timings, protocol: str | None) -> float | None:
    if timings.connect is None:
        return None
    tls = timings.ssl or 0.0
    trip = timings.connect if protocol == "h3" or not 0 < tls < timings.connect else timings.connect - tls
    return trip if trip >= _ROUND_TRIP_MIN_MS else None
