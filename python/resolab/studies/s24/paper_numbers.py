"""Printed numbers of Sengupta et al., for display beside ours.

"On cross-layer interactions of QUIC, encrypted DNS and HTTP/3: design, evaluation, and dataset", IEEE Transactions on
Network and Service Management, 2024. Not for: judging the studies; the closed form explains differences.
"""

from resolab.studies.paper_profiles import find_paper_profile

CITATION = "Sengupta et al., IEEE TNSM 2024"

# Medians of a cold DNS exchange with a full handshake, ms, read from the vector data of their
# Figs. 5 and 6.
DNS_EXCHANGE_MEDIAN_MS: dict[str, dict[str, float]] = {
    "fiber": {"doudp": 15.50, "doq": 41.03, "doh": 54.83},
    "cable": {"doudp": 25.98, "doq": 62.95, "doh": 86.47},
    "dsl": {"doudp": 44.15, "doq": 124.38, "doh": 148.61},
    "4g": {"doudp": 92.66, "doq": 196.04, "doh": 286.98},
    "4g-medium": {"doudp": 105.49, "doq": 225.59, "doh": 326.54},
}

# Relative change of the median page load time over DoUDP with a full H3 handshake, percent (their Fig. 8), for
# DoQ with H3 0-RTT, DoQ with H3 full, DoH with H3 full.
_PLT_COMBINATIONS = (("doq", "zero_rtt"), ("doq", "full"), ("doh", "full"))
_PLT_CHANGES: dict[str, dict[str, tuple[float, float, float]]] = {
    "fiber": {"example": (11.5, 21.1, 32.3), "wikipedia": (-0.1, 4.0, 6.2), "instagram": (1.2, 4.0, 6.0)},
    "cable": {"example": (14.4, 21.8, 35.6), "wikipedia": (3.1, 5.6, 9.1), "instagram": (2.8, 5.3, 8.5)},
    "dsl": {"example": (21.9, 31.9, 41.4), "wikipedia": (7.3, 10.8, 14.0), "instagram": (2.9, 4.5, 5.8)},
    "4g": {"example": (24.4, 28.0, 52.5), "wikipedia": (10.1, 11.8, 22.2), "instagram": (5.7, 7.8, 14.7)},
    "4g-medium": {
        "example": (26.0, 29.2, 53.7),
        "wikipedia": (11.4, 13.1, 24.1),
        "instagram": (6.2, 7.8, 14.4),
    },
}

# Medians of the page load time (their sum) that section IV-D prints, ms, in the order of _PLT_COMBINATIONS after the
# baseline, DoUDP with a full H3 handshake. For instagram on 4G it prints differences only.
_PLT_MEDIANS_MS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "fiber": {"wikipedia": (630.4, 630.0, 655.7, 669.8), "instagram": (651.4, 659.3, 676.9, 690.7)},
    "4g": {"wikipedia": (876.9, 965.0, 980.4, 1071.2)},
}

# The baseline's median page load time in every cell, ms. They print few; all follow from their figures: between DoQ and
# DoH with a full H3 handshake nothing differs but the DNS exchange, so the baseline is the difference of those two
# exchanges (Figs. 5, 6) over that of the two changes (Fig. 8). Within 2 % of the three that are printed.
PLT_BASELINE_MS: dict[str, dict[str, float]] = {
    "fiber": {"example": 123.7, "wikipedia": 621.4, "instagram": 665.0},
    "cable": {"example": 170.1, "wikipedia": 663.9, "instagram": 719.4},
    "dsl": {"example": 254.3, "wikipedia": 750.9, "instagram": 1783.9},
    "4g": {"example": 371.3, "wikipedia": 876.9, "instagram": 1320.2},
    "4g-medium": {"example": 412.0, "wikipedia": 917.7, "instagram": 1531.6},
}

# Table II: round trip ("delay") ms, rate down and up Mbit/s, as printed.
TABLE_2: dict[str, tuple[float, float, float]] = {
    "fiber": (14.8, 99.9, 109.1),
    "cable": (25.2, 165.1, 11.6),
    "dsl": (42.4, 10.7, 0.8),
    "4g": (91.9, 54.0, 21.2),
    "4g-medium": (104.5, 28.7, 4.2),
}

# Medians of the handshakes in round trips (section IV-A and Figs. 3, 4): H3 with 0-RTT, H3 full, DoQ; by panel.
CONNECT_MEDIAN_ROUND_TRIPS: dict[str, tuple[float, float, float | None]] = {
    "all profiles": (1.17, 1.40, 1.43),
    "fiber": (1.23, 1.61, None),
    "4g": (1.06, 1.12, None),
}


def is_printed(page: str, profile: str) -> bool:
    """Return True when the paper has this page on this access profile."""
    return page in PLT_BASELINE_MS.get(find_paper_profile(profile), {})


def plt_baseline_ms(profile: str, page: str) -> float:
    """Return the paper's median page load time of the baseline, for a page and profile of the paper."""
    return PLT_BASELINE_MS[find_paper_profile(profile)][page]


def plt_median_ms(profile: str, page: str, dns_transport: str, handshake_mode: str) -> float | None:
    """Return the paper's printed median page load time; `None` without a printed value."""
    medians = _PLT_MEDIANS_MS.get(find_paper_profile(profile), {}).get(page)
    combinations = (("doudp", "full"), *_PLT_COMBINATIONS)
    if medians is None or (dns_transport, handshake_mode) not in combinations:
        return None
    return medians[combinations.index((dns_transport, handshake_mode))]


def plt_change_percent(profile: str, page: str, dns_transport: str, handshake_mode: str) -> float | None:
    """Return the paper's change of the median page load time; `None` without a printed value."""
    changes = _PLT_CHANGES.get(find_paper_profile(profile), {}).get(page)
    if changes is None or (dns_transport, handshake_mode) not in _PLT_COMBINATIONS:
        return None
    return changes[_PLT_COMBINATIONS.index((dns_transport, handshake_mode))]


def dns_exchange_median_ms(profile: str, dns_transport: str, handshake_mode: str) -> float | None:
    """Return the paper's median of a cold exchange; `None` without a printed value."""
    medians = DNS_EXCHANGE_MEDIAN_MS.get(find_paper_profile(profile), {})
    return medians.get(dns_transport) if handshake_mode == "full" else None
