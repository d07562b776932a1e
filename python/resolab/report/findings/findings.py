"""The findings of a dataset: every number of the report, before printing or drawing.

For: the types filled by the analysis and read by the presentation. Not for: computing (`page_loads`, `exchanges`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from resolab.basics.records import CalibrationRecord
from resolab.plan import Condition, Plan, PlannedComparison
from resolab.plan.access_link import access_rtt_ms
from resolab.report.findings.oracle import ExpectedDifference, Oracle
from resolab.report.findings.parts import AdjustedComparison
from resolab.stats import Equivalence, Estimate, FalseAlarms, QuantileDifference, SignificantShare, TailShares
from resolab.store import Manifest
from resolab.store.connections.hellos import HelloRow
from resolab.store.connections.loads import LoadConnectionsRow
from resolab.store.outcomes import LoadOutcome, find_outcome
from resolab.store.rows import BrowserRow, FailureRow, FlagRow, HandshakeRow, LatenessRow, LoadRow


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition against its baseline, paired by block."""

    baseline: Condition
    difference_ms: Estimate
    blocks_ms: tuple[float, ...]
    change: Estimate
    expected: ExpectedDifference | None
    """The closed form; `None` on the live network, with unknown round-trip times."""
    shift_ms: Estimate | None = None
    """Hodges-Lehmann shift of the pairs."""
    delta: Estimate | None = None
    """Cliff's delta of the paired loads."""


@dataclass(frozen=True, slots=True)
class PairResult:
    """The result of a comparison of the plan, paired by block."""

    comparison: PlannedComparison
    difference_ms: Estimate
    change: Estimate
    shift_ms: Estimate
    delta: Estimate
    p_value: float | None
    """The p-value of the signed-rank test."""
    adjusted_p_value: float | None
    """The p-value after Holm's correction over all comparisons of its kind."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Estimates of a comparison for each choice of loads in `sensitivity`."""

    comparison: PlannedComparison
    estimates: Mapping[str, Estimate]

    @property
    def changes_nothing(self) -> bool:
        """Return True when every choice takes the same pairs."""
        return len({one.n for one in self.estimates.values()}) == 1

    @property
    def turns(self) -> bool:
        """Return True when two choices are decided with opposite signs."""
        return {-1, 1} <= {one.verdict for one in self.estimates.values()}

    @property
    def decides_by_some(self) -> bool:
        """Return True when some choices are decided and others are not, possibly only because of fewer pairs."""
        return not self.turns and len({one.verdict for one in self.estimates.values()}) > 1


@dataclass(frozen=True, slots=True)
class VantagePointComparison:
    """A comparison at every vantage point, and across them."""

    treatment: Condition
    """On the live network, the condition at the first vantage point, with the vantage point as its profile."""
    baseline: Condition
    places: Mapping[str, Estimate]
    """Paired difference by vantage point."""
    across: Estimate
    """The estimate over vantage points, each as a single observation."""


@dataclass(frozen=True, slots=True)
class SlopeResult:
    """The difference of a treatment from its baseline in round trips of the access link; both profiles are `""`."""

    treatment: Condition
    baseline: Condition
    outcome: LoadOutcome
    profiles_count: int
    slope: Estimate
    expected: float | None
    """The closed form's number of round trips."""


@dataclass(frozen=True, slots=True)
class EquivalenceResult:
    """The equivalence test of a comparison's conditions, within the plan's margin."""

    treatment: Condition
    baseline: Condition
    tested: Equivalence


@dataclass(frozen=True, slots=True)
class TailResult:
    """The shares of slow loads in a comparison's conditions, and the difference of pairs without slow loads."""

    treatment: Condition
    baseline: Condition
    found: TailShares
    neither_ms: Estimate
    """Median difference of the pairs without a slow load."""


@dataclass(frozen=True, slots=True)
class ShiftResult:
    """The difference of each quantile between a comparison's treatment and its baseline."""

    treatment: Condition
    baseline: Condition
    found: Sequence[QuantileDifference]


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise in A/A comparisons; both shares count the same p-values, and their floors differ in unit."""

    comparisons_count: int
    conditions_count: int
    """The number of copied conditions; three copies of a condition make three comparisons."""
    difference_ms: SignificantShare
    change: SignificantShare
    by_interval: Mapping[str, FalseAlarms]
    """The rate of intervals excluding 0, by estimate."""


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """An outcome over all page loads of a condition; `comparison` is `None` for a baseline and for a copy."""

    condition: Condition
    trials_count: int
    failed_count: int
    unusable_count: int
    reached_count: int
    told_count: int
    """Loads with a value: completed loads, and loads failing after the outcome's instant."""
    median_ms: Estimate
    comparison: Comparison | None
    range_ms: tuple[float, float] | None = None
    """The least and the greatest known value."""


@dataclass(frozen=True, slots=True)
class OutcomeComparison:
    """An outcome compared with another outcome of the same loads, for one condition."""

    other_ms: Estimate
    """Median of the other outcome."""
    difference_ms: Estimate
    """The outcome minus the other, within each load with both."""


@dataclass(frozen=True, slots=True)
class OutcomeFindings:
    """The findings about one outcome."""

    outcome: LoadOutcome
    conditions: Sequence[ConditionResult]
    comparisons: Sequence[PairResult] = ()
    """The comparisons named by the plan or, without any, all with the baseline."""
    aa: Sequence[PairResult] = ()
    noise: Noise | None = None

    @property
    def compared(self) -> list[tuple[ConditionResult, Comparison]]:
        """Conditions with a baseline other than themselves."""
        return [(one, one.comparison) for one in self.conditions if one.comparison is not None]

    @property
    def told(self) -> list[ConditionResult]:
        """Conditions with a value for at least one load."""
        return [one for one in self.conditions if one.told_count]


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """All cold DNS exchanges of one transport and handshake on one profile with one resolver.

    `round_trips` is ascending. `shares` holds the part of all `n` exchanges at or below each value. For a large number
    of exchanges, the values are quantiles.
    """

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
    resolver_software: str
    rtt_ms: float
    """The round-trip time to the resolver: the access link's plus the part beyond."""
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
class Findings:
    """The whole content of the report."""

    manifest: Manifest
    plan: Plan
    loads: Sequence[LoadRow]
    plt: OutcomeFindings
    """The page load time, shown first in every report."""
    exchanges: Sequence[ExchangeResult]
    failures: Sequence[FailureRow]
    flags: Sequence[FlagRow]
    handshakes: Sequence[HandshakeRow]
    lateness: Sequence[LatenessRow]
    browsers: Sequence[BrowserRow]
    trials_count: int
    oracle: Oracle
    """The expected results of comparisons according to the protocols."""
    calibrations: Sequence[CalibrationRecord] = ()
    further: Sequence[OutcomeFindings] = ()
    """The other outcomes with values in the dataset."""
    sums: Mapping[str, OutcomeComparison] = field(default_factory=dict)
    """The sum of a page load's parts against the page load time, by condition."""
    browser_parts: Mapping[str, OutcomeComparison] = field(default_factory=dict)
    """The page load time against the last byte, by condition: the browser's work after the last byte."""
    sensitivities: Sequence[Sensitivity] = ()
    """The plan's comparisons without doubtful loads."""
    slopes: Sequence[SlopeResult] = ()
    """The comparisons over several profiles, in round trips."""
    equivalences: Sequence[EquivalenceResult] = ()
    """Empty without a margin in the plan."""
    slow_loads: Sequence[TailResult] = ()
    """Comparisons with at least one slow load."""
    shifts: Sequence[ShiftResult] = ()
    """Quantiles of the primary outcome, for comparisons with enough pairs for an interval."""
    adjusted: Sequence[AdjustedComparison] = ()
    """The comparisons of the page load time, without the random variation after the treatment's effect."""
    varying: tuple[str, ...] = ()
    """The optional factors with several levels; every condition is shown with its levels of these factors."""
    hellos: Sequence[HelloRow] = ()
    load_connections: Sequence[LoadConnectionsRow] = ()
    """The connections by opener."""
    missing_tables: Sequence[str] = ()
    """The tables that a published folder lacks."""
    across_places: Sequence[VantagePointComparison] = ()
    """The comparisons of the primary outcome, for a dataset from several vantage points."""

    @property
    def pages(self) -> Sequence[str]:
        """The loaded pages, also when `plan` has a single placeholder page."""
        return list(dict.fromkeys(one.page for one in self.loads))

    @property
    def conditions(self) -> Sequence[ConditionResult]:
        """The page load time of every condition."""
        return self.plt.conditions

    @property
    def primary(self) -> OutcomeFindings:
        """The findings about the plan's primary outcome."""
        return self.find_outcome(find_outcome(self.plan.analysis.primary)) or self.plt

    @property
    def rtt_ms(self) -> dict[str, float]:
        """Round-trip times of the access links, by profile."""
        return {link.name: access_rtt_ms(link) for link in self.manifest.profiles}

    def find_outcome(self, outcome: LoadOutcome) -> OutcomeFindings | None:
        """Return the findings about an outcome; `None` when there are no findings."""
        return next((one for one in (self.plt, *self.further) if one.outcome == outcome), None)
