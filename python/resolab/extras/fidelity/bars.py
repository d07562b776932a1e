"""The minimum values for a clone to represent its model, and a load's shortfalls against these minima. Pure.

Not for: measuring (`measures`). Source of the minima: docs/method/clones.md.
"""

from collections.abc import Iterator

from resolab.basics.records import BrowserKind
from resolab.basics.wording import format_count
from resolab.extras.fidelity.measures import Fidelity

ISSUED_RATIO = 0.995
REDIRECTS_RATIO = 0.99
BYTES_RATIO = 0.02
DISCOVERERS_RATIO = 0.97
TAU_APART = {BrowserKind.CHROMIUM.value: 0.85, BrowserKind.FIREFOX.value: 0.80}
"""Median over pages with discoverers in their recording. For a single page, the value is printed without a minimum."""
TAU_OF_TWO = {BrowserKind.CHROMIUM.value: 0.95, BrowserKind.FIREFOX.value: 0.85}
EVIDENCE_RATIO = 0.6
"""Below this share of known discoverers, the model does not determine the order of the page."""


def shortfalls(one: Fidelity) -> Iterator[str]:
    """Yield a load's shortfalls, one phrase each."""
    issued = one.issued_count / one.requests_count
    if issued < ISSUED_RATIO:
        yield f"{format_count(one.requests_count - one.issued_count, 'request')} never asked for"
    if one.extra_count:
        yield f"{format_count(one.extra_count, 'request')} too many"
    if one.hosts_asked_count < one.hosts_count:
        yield f"{format_count(one.hosts_count - one.hosts_asked_count, 'host')} never asked"
    if one.redirects_count and one.redirects_followed_count / one.redirects_count < REDIRECTS_RATIO:
        yield f"{format_count(one.redirects_count - one.redirects_followed_count, 'redirect')} not followed"
    if one.model_bytes and abs(one.body_bytes / one.model_bytes - 1) > BYTES_RATIO:
        yield f"bodies weigh {one.body_bytes / one.model_bytes:.1%} of the model's"
    if one.depth_seen is not None and one.depth_seen != one.depth:
        yield f"depth {one.depth_seen} instead of {one.depth}"
    if one.discoverers_ratio is not None and one.discoverers_ratio < DISCOVERERS_RATIO:
        yield f"{one.discoverers_ratio:.1%} of discoverers are the model's"
