"""Labels distinguishing conditions: the protocols, and every optional factor with several levels in the plan.

For: equal labels of a condition in figures, tables and sentences. Not for: spelling a level (`plots`).
"""

from resolab.basics.records import TrialKind
from resolab.plan import Condition, Plan
from resolab.plan.factors import FREE_NAMES, OPTIONAL_FACTORS, applies, format_level
from resolab.plan.kind import list_factors_of_kind
from resolab.plan.live.network import LEVELS
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import ExchangeResult, Findings
from resolab.report.findings.resolvers import list_resolvers, make_resolver
from resolab.report.plots import combination_label, level_label, transport_label


def name_combination(findings: Findings, condition: Condition) -> str:
    """Name a condition within its page and profile; without a page load's protocols by transport and resolver."""
    if not _has_page_protocols(findings.plan):
        return ", ".join((transport_label(condition.dns_transport), *list_varying_levels(findings, condition)))
    return combination_label(
        condition.dns_transport,
        condition.http_version,
        condition.requested_handshake_mode,
        list_varying_levels(findings, condition),
    )


def _has_page_protocols(plan: Plan) -> bool:
    """Return True when a plan chooses the page's HTTP version and handshake: neither live plans nor exchanges do."""
    return not is_live(plan) and plan.kind is TrialKind.PAGE_LOAD


def list_varying_levels(findings: Findings, condition: Condition) -> list[str]:
    """Return the condition's levels of the varying optional factors, and its copy number."""
    levels = [_level(factor, condition) for factor in findings.varying if applies(factor, condition)]
    return [*levels, *([f"copy {condition.replicate}"] if condition.replicate > 1 else [])]


def baseline_label(findings: Findings) -> str:
    """Return the label of the common baseline, or "their baseline" for several baselines."""
    baselines = {comparison.baseline for _, comparison in findings.plt.compared}
    labels = {
        transport_label(one.dns_transport)
        if not _has_page_protocols(findings.plan)
        else combination_label(one.dns_transport, one.http_version, one.requested_handshake_mode)
        for one in baselines
    }
    if len(labels) != 1:
        return "their baseline"
    further: list[str] = []
    for factor in findings.varying:
        levels = {_level(factor, one) for one in baselines if applies(factor, one)}
        if len(levels) == 1:
            further += levels
        elif levels:
            further.append(f"same {factor.replace('_', ' ')}")
    return ", ".join((*labels, *further))


def exchange_place(findings: Findings, one: ExchangeResult) -> str:
    """Return an exchange's profile and, with several resolvers, its resolver."""
    resolver = make_resolver(one).label(list_resolvers(findings.exchanges))
    return ", ".join(part for part in (one.profile, resolver) if part)


def list_constant_factors(findings: Findings) -> list[str]:
    """List the optional factors with equal levels in every condition, with their level."""
    conditions = findings.plan.conditions()
    elsewhere = _OF_THE_LAB if is_live(findings.plan) else frozenset(("resolver",))
    words = {
        factor: dict.fromkeys(format_level(getattr(one, factor), factor) for one in conditions)
        for factor in OPTIONAL_FACTORS
        if factor not in findings.varying
        and factor not in elsewhere
        and factor in list_factors_of_kind(findings.plan.kind, findings.plan.study)
        and any(applies(factor, one) for one in conditions)
    }
    # Of a factor the plan does not name there are several where a browser preset decides.
    return [f"{factor} {' or '.join(found)}" for factor, found in words.items()]


_OF_THE_LAB = frozenset(OPTIONAL_FACTORS) - frozenset(LEVELS)
"""Factors beyond control on the live network; resolvers have names only on the live network."""


def _level(factor: str, condition: Condition) -> str:
    word = format_level(getattr(condition, factor), factor)
    # Names of resolvers and of software, and the words of studies, stand for themselves.
    return word if factor in FREE_NAMES else level_label(factor, word)
