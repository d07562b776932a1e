"""Fig. 8 of Sengupta et al. cell by cell beside ours, and both readings of the paper's headline.

For: comparing signs, the closed form's explanation, and the remaining share of DoH's overhead. Not for: figures.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.plan import stream_seed
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_level
from resolab.report.findings.oracle import ExpectedDifference
from resolab.report.findings.page_loads import group_by_condition, make_sample, select_contributing
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import ABSENT, estimate_text, interval_text, number_text
from resolab.stats import Estimate, Sample, estimate_remaining_share, relative_change
from resolab.store.outcomes import LoadOutcome
from resolab.store.rows import LoadRow
from resolab.studies.s24.loads import LoadTimes
from resolab.studies.s24.paper_numbers import plt_baseline_ms, plt_change_percent
from resolab.studies.s24.scope import BASELINE, IN_PAPER, PaperScope, combination_name

COALESCED, DOH = IN_PAPER[0], IN_PAPER[2]
Cell = Mapping[str, str | float | None]


def changes_table(times: Sequence[LoadTimes], scope: PaperScope, findings: Findings) -> NamedTable | None:
    """Show our changes beside the paper's, one row for each cell and combination of Fig. 8."""
    plt, sums = times[0], times[1] if len(times) > 1 else None
    differences = {one.condition.id: compared.difference_ms for one, compared in findings.plt.compared}
    rows, cells = [], []
    for (page, profile), cell in scope.cells.items():
        for combination in IN_PAPER:
            theirs = plt_change_percent(profile, page, *combination)
            condition = cell.get(combination)
            if theirs is None or condition is None or condition.id not in plt.changes:
                continue
            one = _Row(
                page=page,
                profile=profile,
                combination=combination_name(combination),
                theirs_ratio=theirs / 100,
                their_baseline_ms=plt_baseline_ms(profile, page),
                plt=plt.changes[condition.id],
                plt_sum=sums.changes.get(condition.id) if sums else None,
                baseline_ms=plt.medians[cell[BASELINE].id].value,
                difference_ms=differences[condition.id],
                expected=findings.oracle.predict_extra_time(condition, cell[BASELINE]),
            )
            rows.append(one.words())
            cells.append(one.numbers())
    if not rows:
        return None
    return NamedTable(
        "s24_changes", "Fig. 8, cell by cell", Table(_COLUMNS, rows, frozenset((0, 1, 2, 6, 7, 10))), cells, _NOTE
    )


_COLUMNS = (
    "page", "profile", "combination", "theirs %", "PLT: ours %", "PLT sum: ours %", "sign of PLT", "sign of PLT sum",
    "paired difference, ms", "closed form ms", "difference holds it", "theirs beyond round trips, ms",
    "PLT beyond it, ms", "closed form % of our baseline",
)  # fmt: skip
_NOTE = (
    "Theirs: changes of the median of their sum. Sign: of our estimate against theirs; 'undecided' where our interval "
    "contains 0. Signs are of the change of the median, the paper's estimand; the report's answer goes by the plan's. "
    "Closed form: the round trips before the page's first request beyond those of DoUDP + H3 full, times "
    "RTT: 0 for DoQ + H3 0-RTT (one more for the look-up, one less for the handshake), 1 for DoQ and 2 for DoH with a "
    "full handshake; and, where the dataset has hellos, our bytes over the rates. Beyond it: change times the "
    "baseline's median, less the closed form, theirs by its round trips alone. Theirs holds the costs of "
    "their instrument, 10 to 20 ms, and in the 0-RTT rows the round trip that their 0-RTT did not save: what is left "
    "over there grows with the RTT. Their baselines are computed from their figures (DoH's and DoQ's exchanges and "
    "changes). The same milliseconds are another percentage of another page load time: the last column is what the "
    "closed form makes of ours."
)


@dataclass(frozen=True, slots=True)
class _Row:
    page: str
    profile: str
    combination: str
    theirs_ratio: float
    their_baseline_ms: float
    plt: Estimate
    plt_sum: Estimate | None
    baseline_ms: float | None
    difference_ms: Estimate
    expected: ExpectedDifference

    @property
    def closed_form_ms(self) -> float:
        return self.expected.total_ms

    @property
    def holds_closed_form(self) -> bool | None:
        low, high = self.difference_ms.ci_low, self.difference_ms.ci_high
        return None if low is None or high is None else low <= self.closed_form_ms <= high

    @property
    def theirs_beyond_ms(self) -> float:
        return self.theirs_ratio * self.their_baseline_ms - self.expected.round_trips_ms

    @property
    def beyond_ms(self) -> float | None:
        if self.plt.value is None or self.baseline_ms is None:
            return None
        return self.plt.value * self.baseline_ms - self.closed_form_ms

    @property
    def closed_form_ratio(self) -> float | None:
        return self.closed_form_ms / self.baseline_ms if self.baseline_ms else None

    def words(self) -> tuple[str, ...]:
        expected = None if self.closed_form_ratio is None else self.closed_form_ratio * 100
        return (
            self.page,
            self.profile,
            self.combination,
            number_text(self.theirs_ratio * 100, signed=True),
            _percent(self.plt),
            _percent(self.plt_sum),
            compare_signs(self.plt, self.theirs_ratio),
            compare_signs(self.plt_sum, self.theirs_ratio),
            both_text(self.difference_ms, signed=True),
            number_text(self.closed_form_ms, signed=True),
            {None: "no interval", True: "yes", False: "no"}[self.holds_closed_form],
            number_text(self.theirs_beyond_ms, signed=True),
            number_text(self.beyond_ms, signed=True),
            number_text(expected, signed=True),
        )

    def numbers(self) -> Cell:
        return {
            "page": self.page,
            "profile": self.profile,
            "combination": self.combination,
            "paper_change_ratio": self.theirs_ratio,
            "paper_baseline_ms": self.their_baseline_ms,
            **_columns("plt_change", self.plt),
            **_columns("plt_sum_change", self.plt_sum),
            "plt_sign": compare_signs(self.plt, self.theirs_ratio),
            "plt_sum_sign": compare_signs(self.plt_sum, self.theirs_ratio),
            "baseline_plt_ms": self.baseline_ms,
            "paired_difference_ms": self.difference_ms.value,
            "paired_difference_ci_low_ms": self.difference_ms.ci_low,
            "paired_difference_ci_high_ms": self.difference_ms.ci_high,
            "round_trips_ms": self.expected.round_trips_ms,
            "closed_form_ms": self.closed_form_ms,
            "closed_form_has_bytes": int(self.expected.bytes_ms is not None),
            "interval_holds_closed_form": None if self.holds_closed_form is None else int(self.holds_closed_form),
            "closed_form_ratio": self.closed_form_ratio,
            "paper_beyond_closed_form_ms": self.theirs_beyond_ms,
            "plt_beyond_closed_form_ms": self.beyond_ms,
        }


def compare_signs(ours: Estimate | None, theirs_ratio: float) -> str:
    """Compare the sign of our change with the paper's; an interval containing 0 leaves the sign undecided."""
    if ours is None or ours.value is None:
        return ABSENT
    if ours.ci_contains_zero is not False:
        return "undecided"
    return "same" if (ours.value > 0) == (theirs_ratio > 0) else "opposite"


def overhead_table(outcome: LoadOutcome, findings: Findings, scope: PaperScope) -> NamedTable | None:
    """Show the remaining share of DoH's overhead beside the change of the page load time, ours and the paper's."""
    grouped = group_by_condition(select_contributing(outcome, findings.loads))
    rows, cells = [], []
    level = find_level(findings.plan)
    for (page, profile), cell in scope.cells.items():
        if not {BASELINE, COALESCED, DOH} <= cell.keys():
            continue
        chosen = [grouped.get(cell[one].id, []) for one in (COALESCED, DOH, BASELINE)]
        own, costly, base = _select_common_blocks(chosen, outcome)
        if not len(own):
            continue
        seed = stream_seed(findings.plan.seed, f"s24_overhead{outcome.suffix}", cell[COALESCED].id)
        share = estimate_remaining_share(own, costly, base, seed=seed, level=level)
        change = relative_change(own, costly, seed=seed, level=level)
        theirs = _their_headline(profile, page)
        rows.append((page, profile, str(len(own)), *_pair(share, theirs[0]), *_pair(change, theirs[1])))
        theirs_columns = {"paper_remaining_share_ratio": theirs[0], "paper_change_against_doh_ratio": theirs[1]}
        ours = {**_columns("remaining_share", share), **_columns("change_against_doh", change)}
        cells.append({"page": page, "profile": profile, "blocks_count": len(own), **ours, **theirs_columns})
    if not rows:
        return None
    title = f"The headline, of {outcome.label}: DoQ + H3 0-RTT against DoH + H3 full"
    return NamedTable(
        f"s24_overhead{outcome.suffix}", title, Table(_OVERHEAD_COLUMNS, rows, frozenset((0, 1))), cells, _HEADLINE
    )


_OVERHEAD_COLUMNS = (
    "page", "profile", "blocks", "overhead left: ours %", "theirs %", "change of the load time: ours %", "theirs %",
)  # fmt: skip
_HEADLINE = (
    "The paper's 'page load times reduced by 1/3 over fixed-line and 1/2 over mobile' is about overhead. Overhead "
    "left: what DoQ + H3 0-RTT costs over DoUDP + H3 full, as a share of what DoH + H3 full costs over it (medians; "
    "blocks resampled, percentile bootstrap; absent where DoH costs nothing). Change of the load time: the median of "
    "DoQ + H3 0-RTT against that of DoH + H3 full. The two say different things and are not to be mixed. A negative "
    "share is a load faster than the baseline."
)


def _their_headline(profile: str, page: str) -> tuple[float | None, float | None]:
    own, costly = (plt_change_percent(profile, page, *one) for one in (COALESCED, DOH))
    if own is None or costly is None:
        return None, None
    return own / costly, (100 + own) / (100 + costly) - 1


def _select_common_blocks(chosen: Sequence[Sequence[LoadRow]], outcome: LoadOutcome) -> list[Sample]:
    by_block = [{load.block: load for load in loads} for loads in chosen]
    blocks = sorted(set.intersection(*(set(one) for one in by_block)))
    return [make_sample(outcome, [one[block] for block in blocks]) for one in by_block]


def _pair(ours: Estimate, theirs_ratio: float | None) -> tuple[str, str]:
    return _percent(ours), number_text(None if theirs_ratio is None else theirs_ratio * 100, signed=True)


def _percent(change: Estimate | None) -> str:
    if change is None or not change.n:
        return ABSENT
    return f"{estimate_text(change, scale=100, signed=True)} {interval_text(change, scale=100, signed=True)}".rstrip()


def _columns(name: str, estimate: Estimate | None) -> dict[str, str | float | None]:
    if estimate is None:
        ends = ("ratio", "ci_low_ratio", "ci_high_ratio", "ci_level", "ci_method")
        return dict.fromkeys(f"{name}_{end}" for end in ends)
    return {
        f"{name}_ratio": estimate.value,
        f"{name}_ci_low_ratio": estimate.ci_low,
        f"{name}_ci_high_ratio": estimate.ci_high,
        f"{name}_ci_level": estimate.level,
        f"{name}_ci_method": str(estimate.method),
    }
