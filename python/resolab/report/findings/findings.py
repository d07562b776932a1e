"""What a dataset says: every number of the report, before it is printed or drawn.

For: the shapes the analysis fills and the presentations read. Not for: computing (`page_loads`, `exchanges`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resolab.plan import Condition, Plan, PlannedComparison
from resolab.plan.access_link import access_rtt_ms
from resolab.records import CalibrationRecord
from resolab.report.findings.oracle import Expected, Oracle
from resolab.report.findings.parts import Adjusted
from resolab.stats import Beyond, Equivalence, Estimate, FalseAlarms, QuantileDifference, SignificantShare
from resolab.store import Manifest
from resolab.store.connections.hellos import HelloRow
from resolab.store.connections.loads import LoadConnectionsRow
from resolab.store.outcomes import OUTCOMES, Outcome
from resolab.store.rows import BrowserRow, FailureRow, FlagRow, HandshakeRow, LatenessRow, LoadRow

if TYPE_CHECKING:
    from resolab.report.live.findings import LiveFindings


@dataclass(frozen=True, slots=True)
class Comparison:
    """A condition against its baseline, paired by block."""

    baseline: Condition
    difference_ms: Estimate
    blocks_ms: tuple[float, ...]
    change: Estimate
    expected: Expected | None
    """The closed form; None on the live network, whose round trips nobody set."""
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
class Sensitivity:
    """One comparison by each choice of its loads, which `sensitivity` names."""

    comparison: PlannedComparison
    estimates: Mapping[str, Estimate]

    @property
    def changes_nothing(self) -> bool:
        """Whether every choice takes the same pairs."""
        return len({one.n for one in self.estimates.values()}) == 1

    @property
    def turns(self) -> bool:
        """Whether choices are decided with opposite signs."""
        return {-1, 1} <= {one.verdict for one in self.estimates.values()}

    @property
    def decides_by_some(self) -> bool:
        """Whether some choices are decided and others are not, which fewer pairs alone may make them."""
        return not self.turns and len({one.verdict for one in self.estimates.values()}) > 1


@dataclass(frozen=True, slots=True)
class AcrossPlaces:
    """One comparison at every vantage point, and across them."""

    treatment: Condition
    """On the live network of one vantage point, whose name stands for its profile."""
    baseline: Condition
    places: Mapping[str, Estimate]
    """Paired difference by vantage point."""
    across: Estimate
    """Over vantage points, each one observation."""


@dataclass(frozen=True, slots=True)
class SlopeResult:
    """By how many round trips of the access link a treatment differs from its baseline; both on no profile (`""`)."""

    treatment: Condition
    baseline: Condition
    outcome: Outcome
    profiles_count: int
    slope: Estimate
    expected: float | None
    """The closed form's round trips."""


@dataclass(frozen=True, slots=True)
class EquivalenceResult:
    """Whether a comparison's conditions are alike within the plan's margin."""

    treatment: Condition
    baseline: Condition
    tested: Equivalence


@dataclass(frozen=True, slots=True)
class BeyondResult:
    """How many loads of a comparison's conditions are slow, and what the pairs without any say."""

    treatment: Condition
    baseline: Condition
    found: Beyond
    neither_ms: Estimate
    """Median difference of the pairs of which neither load is slow."""


@dataclass(frozen=True, slots=True)
class ShiftResult:
    """By how much each quantile of a comparison's treatment differs from its baseline's."""

    treatment: Condition
    baseline: Condition
    found: Sequence[QuantileDifference]


@dataclass(frozen=True, slots=True)
class Noise:
    """What the A/A comparisons show; both shares count the same p-values, their floors differ in unit."""

    comparisons_count: int
    conditions_count: int
    """Of as many conditions; three copies make three comparisons."""
    difference_ms: SignificantShare
    change: SignificantShare
    by_interval: Mapping[str, FalseAlarms]
    """How many intervals exclude 0, by the estimate they are of."""


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """One outcome of all page loads of one condition; `comparison` is None for a baseline and for a copy."""

    condition: Condition
    trials_count: int
    failed_count: int
    unusable_count: int
    reached_count: int
    told_count: int
    """Loads with a value: those that did not fail, and those that failed after it."""
    median_ms: Estimate
    comparison: Comparison | None
    range_ms: tuple[float, float] | None = None
    """The least and the greatest of those values."""


@dataclass(frozen=True, slots=True)
class WithinLoads:
    """An outcome against another in the same loads of one condition."""

    other_ms: Estimate
    """Median of the other outcome."""
    difference_ms: Estimate
    """The outcome minus the other, within each load that has both."""


@dataclass(frozen=True, slots=True)
class OutcomeFindings:
    """What a dataset says about one outcome."""

    outcome: Outcome
    conditions: Sequence[ConditionResult]
    comparisons: Sequence[PairResult] = ()
    """Those the plan names or, without any, all with the baseline."""
    aa: Sequence[PairResult] = ()
    noise: Noise | None = None

    @property
    def compared(self) -> list[tuple[ConditionResult, Comparison]]:
        """Conditions that have a baseline other than themselves."""
        return [(one, one.comparison) for one in self.conditions if one.comparison is not None]

    @property
    def told(self) -> list[ConditionResult]:
        """Conditions of which some load has a value."""
        return [one for one in self.conditions if one.told_count]


@dataclass(frozen=True, slots=True)
class ExchangeResult:
    """All cold DNS exchanges of one transport and handshake on one profile with one resolver.

    `round_trips` rise, `shares` is the part of all `n` that took no longer; of many exchanges they are quantiles.
    """

    profile: str
    resolver_extra_rtt_ms: float
    resolver_cache: str
    resolver: str
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
class Findings:
    """Everything the report shows."""

    manifest: Manifest
    plan: Plan
    loads: Sequence[LoadRow]
    plt: OutcomeFindings
    """The page load time, which every report shows first."""
    exchanges: Sequence[ExchangeResult]
    failures: Sequence[FailureRow]
    flags: Sequence[FlagRow]
    handshakes: Sequence[HandshakeRow]
    lateness: Sequence[LatenessRow]
    browsers: Sequence[BrowserRow]
    trials_count: int
    oracle: Oracle
    """What the protocols say that comparisons come to."""
    calibrations: Sequence[CalibrationRecord] = ()
    further: Sequence[OutcomeFindings] = ()
    """The other outcomes of which the dataset has values."""
    sums: Mapping[str, WithinLoads] = field(default_factory=dict)
    """The page load time as a sum against the page load time, by condition."""
    browser_parts: Mapping[str, WithinLoads] = field(default_factory=dict)
    """The page load time against the last byte, by condition: what the browser does after it."""
    sensitivities: Sequence[Sensitivity] = ()
    """The plan's comparisons without the loads one may doubt."""
    slopes: Sequence[SlopeResult] = ()
    """The comparisons over several profiles, in round trips."""
    equivalences: Sequence[EquivalenceResult] = ()
    """Empty without a margin in the plan."""
    slow_loads: Sequence[BeyondResult] = ()
    """Comparisons in which any load is slow."""
    shifts: Sequence[ShiftResult] = ()
    """Quantiles of the primary outcome, of comparisons with enough pairs for an interval."""
    adjusted: Sequence[Adjusted] = ()
    """The comparisons of the page load time, without the chance that comes after all a treatment does."""
    varying: tuple[str, ...] = ()
    """The optional factors in which conditions differ: none is shown without its level of them."""
    hellos: Sequence[HelloRow] = ()
    load_connections: Sequence[LoadConnectionsRow] = ()
    """Connections by who opened them."""
    across_places: Sequence[AcrossPlaces] = ()
    """The comparisons of the primary outcome, where the dataset is of several vantage points."""
    live: "LiveFindings | None" = None
    """What there is only of the live network; None of an emulated one."""

    @property
    def pages(self) -> Sequence[str]:
        """Each of those that were loaded, also where `plan` has one for all."""
        return list(dict.fromkeys(one.page for one in self.loads))

    @property
    def conditions(self) -> Sequence[ConditionResult]:
        """The page load time of every condition."""
        return self.plt.conditions

    @property
    def primary(self) -> OutcomeFindings:
        """What the dataset says about the outcome that the plan declares to decide."""
        return self.of(OUTCOMES[self.plan.analysis.primary]) or self.plt

    @property
    def rtt_ms(self) -> dict[str, float]:
        """Round trips of the access links, by profile."""
        return {link.name: access_rtt_ms(link) for link in self.manifest.profiles}

    def of(self, outcome: Outcome) -> OutcomeFindings | None:
        """Return what there is of an outcome, if anything."""
        return next((one for one in (self.plt, *self.further) if one.outcome == outcome), None)
