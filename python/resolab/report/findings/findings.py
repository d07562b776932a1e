"""What a dataset says: every number of the report, before it is printed or drawn.

For: the shapes the analysis fills and the presentations read. Not for: computing (`page_loads`, `exchanges`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.plan import Condition, Plan, PlannedComparison
from resolab.records import CalibrationRecord
from resolab.stats import Estimate, SignificantShare
from resolab.store import Manifest
from resolab.store.rows import BrowserRow, FailureRow, FlagRow, HandshakeRow, LatenessRow


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition against its baseline, paired by block."""

    baseline: Condition
    difference_ms: Estimate
    blocks_ms: tuple[float, ...]
    change: Estimate
    expected_ms: float
    shift_ms: Estimate | None = None
    """Hodges-Lehmann shift of the pairs."""
    delta: Estimate | None = None
    """Cliff's delta of the paired loads."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """One of the plan's comparisons, paired by block."""

    comparison: PlannedComparison
    difference_ms: Estimate
    change: Estimate
    shift_ms: Estimate
    delta: Estimate
    p_value: float | None
    """Of signed ranks."""
    adjusted_p_value: float | None
    """By Holm over all comparisons of its kind."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What the A/A comparisons show; both shares count the same p-values, their floors differ in unit."""

    comparisons_count: int
    difference_ms: SignificantShare
    change: SignificantShare


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """All page loads of one condition; `comparison` is None for a baseline and for a copy."""

    condition: Condition
    trials_count: int
    failed_count: int
    unusable_count: int
    reached_count: int
    plt_ms: Estimate
    response_start_ms: Estimate
    comparison: Comparison | None
    range_ms: tuple[float, float] | None = None
    """The fastest and the slowest load that ended."""


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """All cold DNS exchanges of one transport and handshake on one profile with one resolver.

    `round_trips` rise, `shares` is the part of all `n` that took no longer; of many exchanges they are quantiles.
    """

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    rtt_ms: float
    """To the resolver: the link's round trip and the one beyond it."""
    dns_transport: str
    requested_handshake_mode: str
    n: int
    failed_count: int
    reached_count: int
    round_trips: tuple[float, ...]
    shares: tuple[float, ...]
    expected_round_trips: int
    median_ms: Estimate
    remainder_ms: Estimate


@dataclass(frozen=True, slots=True)
class PltSumResult:
    """Loads of one condition that have a sum or failed; a failed load is at least its limit in both."""

    condition: Condition
    plt_ms: Estimate
    plt_sum_ms: Estimate
    difference_ms: Estimate
    """Sum minus load time, within each load that has both."""
    change: Estimate | None
    """Of the median sum against the baseline's, paired by block as for `plt`; `None` for a baseline."""


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything the report shows."""

    manifest: Manifest
    plan: Plan
    conditions: Sequence[ConditionResult]
    exchanges: Sequence[ExchangeResult]
    failures: Sequence[FailureRow]
    flags: Sequence[FlagRow]
    handshakes: Sequence[HandshakeRow]
    lateness: Sequence[LatenessRow]
    browsers: Sequence[BrowserRow]
    trials_count: int
    calibrations: Sequence[CalibrationRecord] = ()
    plt_sums: Sequence[PltSumResult] = ()
    comparisons: Sequence[PairResult] = ()
    """Those the plan names or, without any, all with the baseline."""
    aa: Sequence[PairResult] = ()
    noise: Noise | None = None
    varying: tuple[str, ...] = ()
    """The optional factors in which conditions differ: none is shown without its level of them."""

    @property
    def compared(self) -> list[tuple[ConditionResult, Comparison]]:
        """Conditions that have a baseline other than themselves."""
        return [(one, one.comparison) for one in self.conditions if one.comparison is not None]
