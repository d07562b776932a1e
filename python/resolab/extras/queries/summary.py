"""Summary statistics of one resolver's queries, and their paired differences from another resolver's queries.

For: medians, spread and paired differences; a timeout counts as at least the deadline. Not for: showing them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from resolab import stats
from resolab.basics.records import QueryRecord
from resolab.extras.queries.arms import Arm, Key
from resolab.extras.queries.phases import QueryPhase, sum_by_phase, wire_exchange_ns

SEED = 1
PAIRS_NEEDED = 6
"""With fewer pairs, no interval of a median reaches 95 %: five pairs fall on one side with probability 1/16."""
PAIRS_AT_MOST = 2_000
"""Resampling more pairs adds time and little precision. From a larger number, take this many, evenly spaced."""


@dataclass(frozen=True, slots=True)
class ResponseTimeSummary:
    """Query response times in milliseconds; infinite for a timeout."""

    median: float
    p10: float
    p90: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class ArmSummary:
    """The summary statistics of one arm."""

    arm: Arm
    failures: Counter[str]
    times: ResponseTimeSummary | None
    """`None` without any answer or timeout."""
    phases_ms: Mapping[QueryPhase, float]
    """Medians over the answered queries; they need not add up to the median time."""
    wire_exchange_ms: float | None
    """Median by the kernel's stamps."""
    difference: stats.Estimate | None
    """Median of the paired differences from the first arm, in ms; `None` for the first arm, or with too few pairs."""

    @property
    def count(self) -> int:
        """The number of queries sent."""
        return len(self.arm.records)


def as_json(one: ArmSummary) -> dict[str, object]:
    """Return a summary as a JSON object: times in ms, null for missing values and values beyond the deadline."""

    def finite(value: float | None) -> float | None:
        return value if value is not None and math.isfinite(value) else None

    times, difference = one.times, one.difference
    return {
        "record": "query_summary",
        "resolver": one.arm.resolver,
        "dns_transport": one.arm.dns_transport.value,
        "opening": one.arm.opening,
        "queries_count": one.count,
        "failures": dict(one.failures),
        "median_ms": times and finite(times.median),
        "p10_ms": times and finite(times.p10),
        "p90_ms": times and finite(times.p90),
        "min_ms": times and finite(times.least),
        "max_ms": times and finite(times.most),
        "phases_ms": {phase.value: ms for phase, ms in one.phases_ms.items()},
        "wire_exchange_ms": one.wire_exchange_ms,
        "difference_ms": difference and finite(difference.value),
        "difference_ci_low_ms": difference and finite(difference.ci_low),
        "difference_ci_high_ms": difference and finite(difference.ci_high),
        "difference_ci_level": difference and difference.level,
        "difference_pairs_count": difference and difference.n,
    }


def summaries(arms: Sequence[Arm], *, timeout_ms: float) -> list[ArmSummary]:
    """Summarise each arm, and compare it with the first arm."""
    first = next((arm for arm in arms if not arm.opening), None)
    found = []
    for arm in arms:
        compared = first is not None and arm is not first and not arm.opening
        difference = _difference(arm, first, timeout_ms) if compared and first is not None else None
        found.append(_summary(arm, timeout_ms, difference))
    return found


def _summary(arm: Arm, timeout_ms: float, difference: stats.Estimate | None) -> ArmSummary:
    answered = [record for record in arm.records.values() if record.query_response_time_ns is not None]
    failures = Counter(record.failure.value for record in arm.records.values() if record.failure is not None)
    splits = [sum_by_phase(record) for record in answered]
    wire = [ns for record in answered if (ns := wire_exchange_ns(record)) is not None]
    return ArmSummary(
        arm=arm,
        failures=failures,
        times=_times(_sample(arm, sorted(_usable(arm)), timeout_ms)),
        phases_ms={phase: _median_ms([split[phase] for split in splits]) for phase in QueryPhase} if splits else {},
        wire_exchange_ms=_median_ms(wire) if wire else None,
        difference=difference,
    )


def _times(sample: stats.Sample) -> ResponseTimeSummary | None:
    if not len(sample):
        return None
    # A value that was measured, never between a time and infinity.
    p10, p90 = np.quantile(sample.high, [0.1, 0.9], method="inverted_cdf")
    return ResponseTimeSummary(
        median=float(np.median(sample.high)),
        p10=float(p10),
        p90=float(p90),
        least=float(sample.high.min()),
        most=float(sample.high.max()),
    )


def _difference(arm: Arm, first: Arm, timeout_ms: float) -> stats.Estimate | None:
    keys = sorted(_usable(arm) & _usable(first), key=lambda key: (key[2], key[0], key[1]))
    if len(keys) < PAIRS_NEEDED:
        return None
    if len(keys) > PAIRS_AT_MOST:
        keys = [keys[index] for index in np.linspace(0, len(keys) - 1, PAIRS_AT_MOST).astype(int)]
    return stats.estimate_paired_difference(_sample(arm, keys, timeout_ms), _sample(first, keys, timeout_ms), seed=SEED)


def _sample(arm: Arm, keys: Sequence[Key], timeout_ms: float) -> stats.Sample:
    times = [arm.records[key].query_response_time_ns for key in keys]
    return stats.Sample.from_censored([None if ns is None else ns / 1e6 for ns in times], [timeout_ms] * len(times))


def _usable(arm: Arm) -> set[Key]:
    """Return the keys of queries with a known time, or with a timeout (at least the deadline)."""
    return {key for key, record in arm.records.items() if record.query_response_time_ns is not None or _is_late(record)}


def _is_late(record: QueryRecord) -> bool:
    return record.failure is not None and record.failure.value.endswith("_timeout")


def _median_ms(values_ns: Sequence[int]) -> float:
    return float(np.median(values_ns)) / 1e6
