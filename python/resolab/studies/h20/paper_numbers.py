"""Printed numbers of Hounsel et al., for display beside ours.

"Comparing the Effects of DNS, DoT, and DoH on Web Performance", WWW 2020 (sections 4.1 to 4.4, Table 1), and "Analyzing
the Costs (and Benefits) of DNS, DoT, and DoH for the Modern Web", ANRW 2019, for the amortisation. Not for: judging the
studies; the closed form explains differences.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from resolab.studies.h20.load_status import H20Status
from resolab.studies.paper_profiles import find_paper_profile
from resolab.studies.printed_places import PrintedDifference

CITATION = "Hounsel et al., WWW 2020"

DEFAULT_NETWORK = "default"
NETWORKS: Mapping[str, str] = {
    "default-h20": DEFAULT_NETWORK,
    "4g-h20": "4G",
    "lossy-4g-h20": "lossy 4G",
    "3g-h20": "3G",
}
"""Profiles of the paper's networks (section 3.2.4), in its order; other profiles have no counterpart in the paper."""
PING_MS: Mapping[str, float] = {"Frankfurt": 1.03, "Seoul": 26.65}
"""Average ping of Cloudflare's resolver (section 4); here a vantage point is a distance of the resolver."""
_FIRST_FARTHER_MS = 60.0
"""Distances from this value on match no vantage point; the value is more than twice Seoul's."""

AMORTISED_AFTER_COUNT = 23
"""Queries amortising a DoT connection's set-up (ANRW 2019, section 1); WWW 2020 does not repeat the number."""

# Medians of the differences of page load time to Do53 with Cloudflare's resolver, ms (sections 4.3 and 4.4). Of
# Frankfurt's default network the text says that all three were within 30 ms; of its 3G it gives no number.
MEDIAN_DIFFERENCE_MS: Mapping[tuple[str, str], Mapping[str, float]] = {
    ("Frankfurt", "4G"): {"dot": -11, "doh": 58},
    ("Frankfurt", "lossy 4G"): {"dot": -101, "doh": -33},
    ("Seoul", "default"): {"dot": 1, "doh": 79},
    ("Seoul", "4G"): {"dot": 1, "doh": 70},
    ("Seoul", "lossy 4G"): {"dot": -45, "doh": 12},
    ("Seoul", "3G"): {"dot": 175, "doh": 265},
}

FASTEST_MS: Mapping[tuple[str, str], float] = {("3G", "doudp"): 150, ("3G", "dot"): 450, ("3G", "doh"): 600}
"""The fastest answers from Frankfurt (section 4.3, Fig. 3c)."""
FASTEST_ROUND_TRIPS: Mapping[str, int] = {"doudp": 1, "dot": 3, "doh": 4}
"""The round trips of these answers; the paper's DoH client first looked up the resolver's host name."""

_STATUSES = tuple(one for one in H20Status if one is not H20Status.INCOMPLETE)
_TABLE_1: Mapping[str, Mapping[str, tuple[float, float, float, float, float]]] = {
    "default": {
        "doudp": (78.70, 7.48, 9.51, 1.69, 2.62),
        "dot": (78.65, 7.47, 9.46, 1.74, 2.67),
        "doh": (78.85, 7.21, 9.90, 1.78, 2.27),
    },
    "4G": {
        "doudp": (80.02, 7.86, 9.02, 1.84, 1.26),
        "dot": (79.71, 7.75, 9.00, 1.67, 1.87),
        "doh": (78.61, 7.22, 9.77, 1.86, 2.53),
    },
    "lossy 4G": {
        "doudp": (78.29, 8.24, 9.95, 1.99, 1.54),
        "dot": (78.13, 8.16, 9.95, 1.96, 1.80),
        "doh": (76.95, 8.01, 10.76, 2.01, 2.28),
    },
    "3G": {
        "doudp": (28.10, 60.02, 9.83, 1.65, 0.40),
        "dot": (27.87, 60.31, 9.76, 1.54, 0.51),
        "doh": (20.06, 41.32, 37.15, 1.07, 0.40),
    },
}


@dataclass(frozen=True, slots=True)
class FollowUp:
    """Public DoH resolvers in the same group's measurements of 2021 (noise-lab): medians, ms."""

    vantage_point: str
    resolver: str
    ping_ms: float
    response_ms: float


FOLLOW_UP = (
    FollowUp("Frankfurt", "Cloudflare", 0.86, 13.52),
    FollowUp("Frankfurt", "Google", 1.18, 20.21),
    FollowUp("Frankfurt", "Quad9", 4.21, 18.61),
    FollowUp("Ohio", "Cloudflare", 11.01, 56.75),
    FollowUp("Ohio", "Google", 11.01, 44.64),
    FollowUp("Ohio", "Quad9", 11.03, 39.09),
    FollowUp("Seoul", "Cloudflare", 1.92, 17.01),
    FollowUp("Seoul", "Google", 30.77, 139.51),
    FollowUp("Seoul", "Quad9", 32.01, 101.53),
)


def follow_up_difference(resolver: str, vantage_point: str, reference: str) -> PrintedDifference | None:
    """Compare two of the follow-up's vantage points, ignoring the case of names; `None` for an unknown name.

    The resolvers had moved since 2020 (Cloudflare had come to Seoul), so query times need the pings beside them.
    """
    found = {one.vantage_point.lower(): one for one in FOLLOW_UP if one.resolver.lower() == resolver.lower()}
    own, other = found.get(vantage_point.lower()), found.get(reference.lower())
    if own is None or other is None:
        return None
    return PrintedDifference(round(own.response_ms - other.response_ms, 2), round(own.ping_ms - other.ping_ms, 2))


def vantage_points(distances_ms: Iterable[float]) -> dict[str, float]:
    """Return the resolver distance nearest to the ping of each vantage point, if any is near."""
    found: dict[str, float] = {}
    for distance in distances_ms:
        if distance >= _FIRST_FARTHER_MS:
            continue
        name = min(PING_MS, key=lambda one: abs(PING_MS[one] - distance))
        if name not in found or abs(PING_MS[name] - distance) < abs(PING_MS[name] - found[name]):
            found[name] = distance
    return found


def find_network(profile: str) -> str | None:
    """Return the paper's network of a profile; `None` for other profiles."""
    return NETWORKS.get(find_paper_profile(profile))


def status_percent(network: str | None, dns_transport: str, status: H20Status) -> float | None:
    """Return the paper's share of a status in Table 1 (Cloudflare, Frankfurt); `None` without a printed value."""
    shares = _TABLE_1.get(network or "", {}).get(dns_transport)
    return None if shares is None or status not in _STATUSES else shares[_STATUSES.index(status)]
