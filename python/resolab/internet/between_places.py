"""Differences between vantage points of a dataset, against those of the boxes they were measured in. Pure.

For: each resolver, transport and connection from one place less the same from another, answers from the cache alone:
nothing but the distance of home differs there. Not for: single look-ups against their truth (`check`).

Durations are compared, never instants: a vantage point's clock is its own.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from resolab.internet.check import LookUp
from resolab.internet.places import stands_for
from resolab.protocols import place_of
from resolab.records import DnsTransport
from resolab.report.h20.printed import FollowUpDifference, follow_up_difference
from resolab.stats import Estimate, Sample, hodges_lehmann

TOLERANCE_RATIO, TOLERANCE_MS = 0.05, 1.0
"""How far a difference may lie from the true one; the greater of both counts."""
Kind = tuple[str, DnsTransport, str]
"""Resolver, transport and state of the connection."""


class Agreement(StrEnum):
    """Whether a difference is as near to the true one as it has to be, by equivalence: few look-ups decide nothing."""

    WITHIN = "within"
    """Its interval lies where it may be."""
    OUTSIDE = "outside"
    """No part of it does."""
    UNDECIDED = "undecided"


class PlaceRow(msgspec.Struct, frozen=True, kw_only=True):
    """Look-ups of one kind from one place, less those from the reference."""

    place: str
    reference: str
    resolver: str
    dns_transport: DnsTransport
    connection: str
    count: int
    reference_count: int
    measured_ms: float
    """Median from the place."""
    difference_ms: float
    """The shift from those from the reference (Hodges and Lehmann)."""
    low_ms: float | None
    high_ms: float | None
    """Its interval, 95 %; None: too few look-ups."""
    truth_ms: float
    """What the boxes say of the difference."""
    agreement: Agreement
    printed: FollowUpDifference | None
    """The same in the follow-up of Hounsel et al., over DoH to the resolver it stands for."""

    @property
    def error_ratio(self) -> float | None:
        """Error in units of the true difference, if there is one."""
        return (self.difference_ms - self.truth_ms) / self.truth_ms if self.truth_ms else None


def between_places(look_ups: Iterable[tuple[str, LookUp]], reference: str) -> list[PlaceRow]:
    """Compare every place with the reference; kinds that either lacks are left out."""
    by_place: dict[str, dict[Kind, list[LookUp]]] = defaultdict(lambda: defaultdict(list))
    for place, one in look_ups:
        if one.is_hit:
            by_place[place][one.truth.resolver, one.truth.dns_transport, one.truth.connection].append(one)
    return [row for place in by_place if place != reference for row in _rows(by_place, place, reference)]


def _rows(by_place: Mapping[str, Mapping[Kind, list[LookUp]]], place: str, reference: str) -> Iterator[PlaceRow]:
    own, others = by_place[place], by_place.get(reference, {})
    kinds = [kind for kind in own if kind in others]
    for kind in sorted(kinds, key=lambda kind: (kind[0], place_of(kind[1]), kind[2])):
        yield _row(place, reference, kind, own[kind], others[kind])


def _row(place: str, reference: str, kind: Kind, own: Sequence[LookUp], others: Sequence[LookUp]) -> PlaceRow:
    measured_ms = _median(one.measured_ms for one in own)
    shift = hodges_lehmann(*(Sample.exact([one.measured_ms for one in some]) for some in (own, others)))
    assert shift.value is not None, "every look-up that was answered has a time"
    truth_ms = _median(one.truth.total_ms for one in own) - _median(one.truth.total_ms for one in others)
    resolver, transport, connection = kind
    return PlaceRow(
        place=place,
        reference=reference,
        resolver=resolver,
        dns_transport=transport,
        connection=connection,
        count=len(own),
        reference_count=len(others),
        measured_ms=measured_ms,
        difference_ms=shift.value,
        low_ms=shift.ci_low,
        high_ms=shift.ci_high,
        truth_ms=truth_ms,
        agreement=_agreement(shift, truth_ms),
        printed=_printed(place, reference, kind),
    )


def _agreement(shift: Estimate, truth_ms: float) -> Agreement:
    if shift.ci_low is None or shift.ci_high is None:
        return Agreement.UNDECIDED
    tolerance_ms = max(TOLERANCE_MS, TOLERANCE_RATIO * abs(truth_ms))
    low_ms, high_ms = truth_ms - tolerance_ms, truth_ms + tolerance_ms
    if low_ms <= shift.ci_low and shift.ci_high <= high_ms:
        return Agreement.WITHIN
    is_outside = shift.ci_high < low_ms or shift.ci_low > high_ms
    return Agreement.OUTSIDE if is_outside else Agreement.UNDECIDED


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def _printed(place: str, reference: str, kind: Kind) -> FollowUpDifference | None:
    """Their clients connected for every query, so that cold look-ups over DoH are what theirs stand beside."""
    resolver, transport, connection = kind
    if transport is not DnsTransport.DOH or connection != "cold" or resolver not in stands_for():
        return None
    return follow_up_difference(stands_for()[resolver], place, reference)
