"""Quantiles of the page load times of Sengupta et al., for drawing over ours.

For: the paper's Figs. 9 to 12. Not for: its medians (`paper_numbers`), shown beside ours in tables.

The values are read from the vector data of Fig. 9. They are quantiles of single loads (the paper's sum) relative to the
median of DoUDP + H3 full on the same page and profile. Multiplied by the baseline's median, they give the quantiles of
Figs. 10 and 11 in milliseconds.
"""

from collections.abc import Sequence

from resolab.studies.paper_profiles import find_paper_profile
from resolab.studies.s24.paper_numbers import plt_baseline_ms, plt_change_percent, plt_median_ms

SHARES = (0.10, 0.25, 0.50, 0.75, 0.90)
_COMBINATIONS = (("doq", "zero_rtt"), ("doq", "full"), ("doh", "full"))

# Per cent, at SHARES, for each of _COMBINATIONS.
_RELATIVE: dict[str, dict[str, tuple[tuple[float, ...], ...]]] = {
    "fiber": {
        "example": (
            (8.8, 10.2, 11.5, 12.5, 13.3),
            (17.4, 19.2, 21.1, 33.0, 35.9),
            (28.9, 30.5, 32.3, 44.4, 47.2),
        ),
        "wikipedia": (
            (-5.5, -2.2, -0.1, 1.7, 3.2),
            (-2.0, 1.7, 4.0, 5.9, 7.3),
            (0.1, 3.8, 6.2, 8.1, 9.5),
        ),
        "instagram": (
            (-0.7, 0.2, 1.2, 2.4, 3.5),
            (1.9, 2.9, 4.0, 5.1, 6.2),
            (4.0, 5.0, 6.0, 7.2, 8.3),
        ),
    },
    "cable": {
        "example": (
            (10.4, 12.9, 14.4, 15.7, 16.9),
            (14.6, 20.1, 21.8, 23.2, 24.5),
            (28.4, 34.0, 35.6, 37.1, 38.3),
        ),
        "wikipedia": (
            (-2.8, 0.5, 3.1, 5.3, 6.9),
            (-0.7, 2.8, 5.6, 7.6, 9.0),
            (2.9, 6.3, 9.1, 11.1, 12.5),
        ),
        "instagram": (
            (1.0, 1.8, 2.8, 3.9, 5.1),
            (3.4, 4.2, 5.3, 6.3, 7.5),
            (6.7, 7.5, 8.5, 9.6, 10.8),
        ),
    },
    "dsl": {
        "example": (
            (19.0, 20.9, 21.9, 22.8, 23.6),
            (26.4, 30.7, 31.9, 32.9, 33.8),
            (36.0, 40.3, 41.4, 42.4, 43.3),
        ),
        "wikipedia": (
            (2.3, 5.1, 7.3, 8.9, 10.0),
            (5.5, 8.7, 10.8, 12.4, 13.6),
            (8.8, 11.9, 14.0, 15.7, 16.9),
        ),
        "instagram": (
            (1.9, 2.4, 2.9, 3.3, 3.6),
            (3.5, 4.0, 4.5, 4.9, 5.3),
            (4.9, 5.4, 5.8, 6.2, 6.5),
        ),
    },
    "4g": {
        "example": (
            (22.6, 23.7, 24.4, 25.0, 25.5),
            (25.9, 27.2, 28.0, 28.6, 29.2),
            (50.5, 51.8, 52.5, 53.1, 53.7),
        ),
        "wikipedia": (
            (5.6, 8.2, 10.0, 11.3, 12.2),
            (7.3, 10.0, 11.8, 13.0, 13.9),
            (17.7, 20.3, 22.2, 23.4, 24.3),
        ),
        "instagram": (
            (4.8, 5.2, 5.7, 6.3, 6.8),
            (6.7, 7.2, 7.8, 8.5, 9.1),
            (13.5, 14.0, 14.7, 15.4, 15.9),
        ),
    },
    "4g-medium": {
        "example": (
            (24.5, 25.4, 26.0, 26.5, 27.1),
            (27.4, 28.6, 29.2, 29.8, 30.2),
            (52.0, 53.1, 53.7, 54.3, 54.8),
        ),
        "wikipedia": (
            (7.4, 9.9, 11.4, 12.6, 13.4),
            (8.6, 11.4, 13.1, 14.2, 15.2),
            (19.7, 22.4, 24.1, 25.2, 26.2),
        ),
        "instagram": (
            (5.2, 5.6, 6.2, 6.7, 7.2),
            (6.8, 7.3, 7.8, 8.3, 8.8),
            (13.4, 13.8, 14.4, 15.0, 15.4),
        ),
    },
}


def relative_quantiles(page: str, profile: str, dns_transport: str, handshake_mode: str) -> list[tuple[float, float]]:
    """Return ratios with their shares; an empty list if the paper has no loads of this kind."""
    combination = (dns_transport, handshake_mode)
    cells = _RELATIVE.get(find_paper_profile(profile), {}).get(page)
    if cells is None or combination not in _COMBINATIONS:
        return []
    percents = cells[_COMBINATIONS.index(combination)]
    return [(percent / 100, share) for percent, share in zip(percents, SHARES, strict=True)]


def quantiles_ms(page: str, profile: str, dns_transport: str, handshake_mode: str) -> list[tuple[float, float]]:
    """Return the quantiles in milliseconds, from the baseline's printed median or, without one, its computed median."""
    ratios = relative_quantiles(page, profile, dns_transport, handshake_mode)
    if not ratios:
        return []
    baseline_ms = plt_median_ms(profile, page, "doudp", "full") or plt_baseline_ms(profile, page)
    return [(baseline_ms * (1 + ratio), share) for ratio, share in ratios]


def medians_quantiles(
    cells: Sequence[tuple[str, str]], dns_transport: str, handshake_mode: str
) -> list[tuple[float, float]]:
    """Return the paper's changes of the median in the cells (page, profile), each with the share at or below."""
    found = (plt_change_percent(profile, page, dns_transport, handshake_mode) for page, profile in cells)
    known = sorted(percent / 100 for percent in found if percent is not None)
    return [(ratio, (rank + 1) / len(known)) for rank, ratio in enumerate(known)]
