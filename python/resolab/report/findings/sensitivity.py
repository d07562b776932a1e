"""The sensitivity of decisions to doubtful loads: every comparison once more without them.

For: the primary outcome by the primary estimand. Not for: deciding. A smaller sample may be biased, since loads fail,
are flagged or miss their handshake for a reason.
"""

from collections.abc import Callable, Mapping, Sequence

from resolab.basics.protocols import has_handshake
from resolab.basics.records import ConnectionState
from resolab.plan import ComparisonKind, Plan, PlannedComparison, stream_seed
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.estimands import estimate_estimand
from resolab.report.findings.estimators import choose_estimators
from resolab.report.findings.findings import Sensitivity
from resolab.report.findings.page_loads import group_by_condition, pair_samples
from resolab.stats import Estimate
from resolab.store.outcomes import find_outcome
from resolab.store.rows import LoadRow

ALL, UNFLAGGED, REACHED = "all loads", "without flagged trials", "only handshakes that were reached"
CHOICES: Mapping[str, Callable[[LoadRow], bool]] = {
    ALL: lambda _: True,
    UNFLAGGED: lambda load: not load.flags,
    REACHED: lambda load: _page_reached(load) and _look_up_reached(load),
}
"""The choices of loads, by name."""


def _page_reached(load: LoadRow) -> bool:
    """Return True when the page had the requested handshake.

    A load failing before any handshake counts as reached: without these loads, failures would make an arm faster.
    """
    mode = load.handshake_mode
    return mode == load.requested_handshake_mode or (mode is None and bool(load.failure))


def _look_up_reached(load: LoadRow) -> bool:
    """Return True when the lookup's connection was the requested connection, as far as observed."""
    if load.dns_connection_state is None:
        return True
    if load.dns_connection_state != load.requested_dns_connection_state:
        return False
    asks_for_one = load.dns_connection_state == ConnectionState.COLD and has_handshake(load.dns_transport)
    mode = load.dns_handshake_mode
    return not asks_for_one or mode == load.requested_dns_handshake_mode or (mode is None and bool(load.failure))


def list_choices(plan: Plan) -> Mapping[str, Callable[[LoadRow], bool]]:
    """Return the meaningful choices: on the live network, plans request no handshake."""
    return {name: takes for name, takes in CHOICES.items() if name != REACHED or not is_live(plan)}


def sensitivities(plan: Plan, loads: Sequence[LoadRow]) -> list[Sensitivity]:
    """Estimate every comparison of the plan, without copies, for each choice."""
    kept = {
        name: group_by_condition([load for load in loads if takes(load)]) for name, takes in list_choices(plan).items()
    }
    comparisons = (one for one in plan.comparisons() if one.kind is not ComparisonKind.AA)
    return [
        Sensitivity(one, {name: _estimate(plan, one, grouped) for name, grouped in kept.items()}) for one in comparisons
    ]


def _estimate(plan: Plan, one: PlannedComparison, grouped: Mapping[str, Sequence[LoadRow]]) -> Estimate:
    outcome = find_outcome(plan.analysis.primary)
    pair = pair_samples(
        outcome, grouped.get(one.treatment.id, []), grouped.get(one.baseline.id, []), both_failed=not is_live(plan)
    )
    if plan.stop is not None and plan.stop.drops_conditions:
        return choose_estimators(plan).difference(*pair)
    seed = stream_seed(plan.seed, outcome.change_stream, one.id)
    return estimate_estimand(choose_estimators(plan), *pair, plan.analysis.estimand, seed=seed)
