"""The conversion of a dataset into findings.

For: reading all named queries in one place. Not for: presenting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import TrialKind
from resolab.plan import Plan
from resolab.plan.access_link import access_rtt_ms
from resolab.report.findings.adjusted import adjust_comparisons
from resolab.report.findings.baseline_comparison import baseline_results
from resolab.report.findings.comparisons import aa_results, comparison_results, summarise_noise
from resolab.report.findings.dataset_plan import is_live, read_plan
from resolab.report.findings.effects import equivalences, shifts, slopes, slow_loads
from resolab.report.findings.exchanges import exchange_results
from resolab.report.findings.findings import Findings, OutcomeFindings
from resolab.report.findings.oracle import Oracle
from resolab.report.findings.outcome_pairs import compare_outcomes
from resolab.report.findings.page_loads import condition_results
from resolab.report.findings.sensitivity import sensitivities
from resolab.report.findings.vantage_comparison import compare_across_places
from resolab.store import Dataset, read_calibrations
from resolab.store.outcomes import LAST_BYTE, PLT, PLT_SUM, LoadOutcome, MissingValueMeaning, list_outcomes
from resolab.store.rows import LoadRow


def analyse(dataset: Dataset) -> Findings:
    """Compute the whole content of the report; the same dataset always gives the same numbers."""
    manifest, plan, loads = dataset.manifest, read_plan(dataset), dataset.measured_loads()
    rtt_ms = {} if is_live(plan) else {link.name: access_rtt_ms(link) for link in manifest.profiles}
    _check(dataset, plan, loads, rtt_ms)
    oracle = _oracle(dataset, plan, rtt_ms)
    main, *others = list_outcomes(plan.kind, plan.study)
    known = [main, *(one for one in others if _is_known(one, loads))]
    of_loads = plan.kind is TrialKind.PAGE_LOAD
    findings = Findings(
        manifest=manifest,
        plan=plan,
        loads=loads,
        plt=outcome_findings(plan, loads, oracle, main),
        # A study's queries are no cold exchanges alike: their arms stand in the study's own section.
        exchanges=[] if is_live(plan) or plan.study is not None else exchange_results(plan, dataset, rtt_ms),
        failures=dataset.failures(),
        flags=dataset.flags(),
        handshakes=dataset.handshakes(),
        hellos=dataset.hellos(),
        load_connections=dataset.load_connections(),
        lateness=dataset.lateness(),
        browsers=dataset.browsers(),
        trials_count=len(loads),
        oracle=oracle,
        calibrations=read_calibrations(dataset.folder),
        further=[outcome_findings(plan, loads, oracle, one) for one in known[1:]],
        sums=compare_outcomes(plan, loads, PLT_SUM, PLT) if of_loads else {},
        browser_parts=compare_outcomes(plan, loads, PLT, LAST_BYTE) if of_loads else {},
        sensitivities=sensitivities(plan, loads),
        slopes=slopes(plan, loads, oracle, known),
        equivalences=equivalences(plan, loads, rtt_ms),
        slow_loads=slow_loads(plan, loads),
        shifts=shifts(plan, loads),
        adjusted=adjust_comparisons(plan, loads, dataset.settled_conditions()) if of_loads else [],
        varying=plan.list_varying_factors(),
        missing_tables=dataset.missing_tables,
    )
    places = compare_across_places(plan, loads, findings.primary, dataset.vantage_point_of_trials())
    return replace(findings, across_places=places)


def _oracle(dataset: Dataset, plan: Plan, rtt_ms: Mapping[str, float]) -> Oracle:
    """Give the closed form its bytes when hellos are recorded; earlier clients' hellos had a different size."""
    if plan.kind is not TrialKind.EXCHANGE and not dataset.has_hellos():
        return Oracle(plan, rtt_ms)
    return Oracle(plan, rtt_ms, {link.name: link for link in dataset.manifest.profiles}, dataset.exchange_sizes())


def _is_known(outcome: LoadOutcome, loads: Sequence[LoadRow]) -> bool:
    return outcome.untold is MissingValueMeaning.AT_LEAST_ITS_LIMIT or any(
        outcome.value_of_load(load) is not None for load in loads
    )


def outcome_findings(plan: Plan, loads: Sequence[LoadRow], oracle: Oracle, outcome: LoadOutcome) -> OutcomeFindings:
    """Compute the report's findings about one outcome."""
    copies = aa_results(plan, loads, outcome)
    conditions = condition_results(plan, loads, oracle, outcome)
    return OutcomeFindings(
        outcome=outcome,
        conditions=conditions,
        comparisons=comparison_results(plan, loads, outcome)
        if plan.comparison_rules
        else baseline_results(plan, loads, outcome, conditions),
        aa=copies,
        noise=summarise_noise(copies),
    )


def _check(dataset: Dataset, plan: Plan, loads: Sequence[LoadRow], rtt_ms: Mapping[str, float]) -> None:
    missing = [name for name in plan.factors.profile if name not in rtt_ms and not is_live(plan)]
    if missing:
        problem = f"manifest.json holds no profile {missing[0]!r}, which its plan names"
        raise ConfigurationError(f"failed to read dataset {dataset.folder}: {problem}; restore the manifest")
    unknown = {load.condition for load in loads} - {condition.id for condition in plan.conditions()}
    if unknown:
        problem = f"its plan has no condition {min(unknown)}, of which it has trials"
        raise ConfigurationError(f"failed to read dataset {dataset.folder}: {problem}; restore manifest and trials")
