"""Compare differences between vantage points of a dataset with the true differences of their boxes. Pure.

For: each resolver, transport and connection from a place minus the same from another place, with cached answers only.
Only home's distance differs in these differences. Not for: single look-ups against their truth (`check`).

Durations are compared, never instants: each vantage point has its own clock.
"""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec

from resolab.basics.protocols import transport_position
from resolab.basics.records import DnsTransport
from resolab.extras.internet.check import CheckedLookUp
from resolab.extras.internet.places import map_to_paper
from resolab.stats import Estimate, Sample, hodges_lehmann
from resolab.studies import find_values
from resolab.studies.printed_places import PrintedDifference, PrintedPlaces

TOLERANCE_RATIO, TOLERANCE_MS = 0.05, 1.0
"""The allowed error of a difference; the greater of both counts."""
Kind = tuple[str, DnsTransport, str]
"""The key of a comparison: resolver, transport and connection state."""


class DifferenceAgreement(StrEnum):
    """The agreement of a difference with the true difference, by equivalence: few look-ups decide nothing."""

    WITHIN = "within"
    """The whole interval lies within the tolerance."""
    OUTSIDE = "outside"
    """No part of the interval lies within the tolerance."""
    UNDECIDED = "undecided"


class VantageDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The difference between look-ups from a place and from the reference, for a resolver, transport and connection."""

    place: str
    reference: str
    resolver: str
    dns_transport: DnsTransport
    connection: str
    count: int
    reference_count: int
    measured_ms: float
    """The median from the place, in ms."""
    difference_ms: float
    """The shift from the reference's look-ups, in ms (Hodges and Lehmann)."""
    low_ms: float | None
    high_ms: float | None
    """The upper end of the 95 % interval, in ms, with `low_ms` as the lower end; both `None` with too few look-ups."""
    truth_ms: float
    """The true difference from the boxes, in ms."""
    agreement: DifferenceAgreement
    printed: PrintedDifference | None
    """The same difference as printed in a study, over DoH to the corresponding resolver."""

    @property
    def error_ratio(self) -> float | None:
        """Return the error in units of the true difference; `None` for a true difference of 0."""
        return (self.difference_ms - self.truth_ms) / self.truth_ms if self.truth_ms else None


def compare_places(look_ups: Iterable[tuple[str, CheckedLookUp]], reference: str) -> list[VantageDifference]:
    """Compare every place with the reference; keys missing in either are left out."""
    by_place: dict[str, dict[Kind, list[CheckedLookUp]]] = defaultdict(lambda: defaultdict(list))
    for place, one in look_ups:
        if one.is_hit:
            by_place[place][one.truth.resolver, one.truth.dns_transport, one.truth.connection].append(one)
    return [row for place in by_place if place != reference for row in _rows(by_place, place, reference)]


def _rows(
    by_place: Mapping[str, Mapping[Kind, list[CheckedLookUp]]], place: str, reference: str
) -> Iterator[VantageDifference]:
    own, others = by_place[place], by_place.get(reference, {})
    kinds = [kind for kind in own if kind in others]
    for kind in sorted(kinds, key=lambda kind: (kind[0], transport_position(kind[1]), kind[2])):
        yield _row(place, reference, kind, own[kind], others[kind])


def _row(
    place: str, reference: str, kind: Kind, own: Sequence[CheckedLookUp], others: Sequence[CheckedLookUp]
) -> VantageDifference:
    measured_ms = _median(one.measured_ms for one in own)
    shift = hodges_lehmann(*(Sample.exact([one.measured_ms for one in some]) for some in (own, others)))
    assert shift.value is not None, "every look-up that was answered has a time"
    truth_ms = _median(one.truth.total_ms for one in own) - _median(one.truth.total_ms for one in others)
    resolver, transport, connection = kind
    return VantageDifference(
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
        printed=_find_published_difference(place, reference, kind),
    )


def _agreement(shift: Estimate, truth_ms: float) -> DifferenceAgreement:
    if shift.ci_low is None or shift.ci_high is None:
        return DifferenceAgreement.UNDECIDED
    tolerance_ms = max(TOLERANCE_MS, TOLERANCE_RATIO * abs(truth_ms))
    low_ms, high_ms = truth_ms - tolerance_ms, truth_ms + tolerance_ms
    if low_ms <= shift.ci_low and shift.ci_high <= high_ms:
        return DifferenceAgreement.WITHIN
    is_outside = shift.ci_high < low_ms or shift.ci_low > high_ms
    return DifferenceAgreement.OUTSIDE if is_outside else DifferenceAgreement.UNDECIDED


def _median(values: Iterable[float]) -> float:
    return statistics.median(values)


def _find_published_difference(place: str, reference: str, kind: Kind) -> PrintedDifference | None:
    """Return the published difference, only for cold look-ups over DoH: the studies connected anew for each query."""
    resolver, transport, connection = kind
    if transport is not DnsTransport.DOH or connection != "cold" or resolver not in map_to_paper():
        return None
    found = (one.find_difference(map_to_paper()[resolver], place, reference) for one in _list_printed_places())
    return next((one for one in found if one is not None), None)


def list_printed_sources() -> list[str]:
    """List the sources of the printed differences, as words of a sentence."""
    return [one.source for one in _list_printed_places()]


def _list_printed_places() -> list[PrintedPlaces]:
    return find_values("printed_places", "PRINTED_PLACES")
