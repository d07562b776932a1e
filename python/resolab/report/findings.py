"""What a dataset says: every number of the report, before it is printed or drawn.

For: the shapes the analysis fills and the presentations read. Not for: computing (`page_loads`, `exchanges`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.plan import Condition, Plan
from resolab.records import CalibrationRecord
from resolab.stats import Estimate
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


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """All page loads of one condition; `comparison` is None for a baseline."""

    condition: Condition
    trials_count: int
    failed_count: int
    unusable_count: int
    reached_count: int
    plt_ms: Estimate
    response_start_ms: Estimate
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """All cold DNS exchanges of one transport and handshake on one profile.

    `round_trips` rise, `shares` is the part of all `n` that took no longer; of many exchanges they are quantiles.
    """

    profile: str
    rtt_ms: float
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
    varying: tuple[str, ...] = ()
    """The optional factors in which conditions differ: none is shown without its level of them."""

    @property
    def compared(self) -> list[tuple[ConditionResult, Comparison]]:
        """Conditions that have a baseline other than themselves."""
        return [(one, one.comparison) for one in self.conditions if one.comparison is not None]
