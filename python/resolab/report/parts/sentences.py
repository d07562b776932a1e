"""The answer in sentences, each with its interval: the size of the changes.

For: a reader's summary. Not for: the full tables, or the significance of changes (`plain_answers`).
"""

from collections.abc import Sequence

from resolab.basics.wording import format_count
from resolab.report.findings.findings import Comparison, ConditionResult, ExchangeResult, Findings
from resolab.report.findings.resolvers import list_resolvers, make_resolver, several_caches
from resolab.report.parts.comparison_tables import answer_comparisons
from resolab.report.parts.labels import baseline_label, name_combination
from resolab.report.plots import estimate_text, interval_text, number_text, transport_label

Compared = tuple[ConditionResult, Comparison]


def answers(findings: Findings) -> list[str]:
    """Answer the plan's question in one sentence per named comparison or, without any, per combination of protocols.

    A sentence per transport's lookup follows.
    """
    groups: dict[str, list[Compared]] = {}
    for compared in findings.plt.compared:
        groups.setdefault(name_combination(findings, compared[0].condition), []).append(compared)
    baseline = baseline_label(findings)
    named = answer_comparisons(findings)
    phrase = findings.plt.outcome.phrase
    sentences = named or [_combination(name, baseline, group, phrase) for name, group in groups.items()]
    exchanges: dict[tuple[str, str, str], list[ExchangeResult]] = {}
    for one in findings.exchanges:
        exchanges.setdefault((one.dns_transport, one.requested_handshake_mode, one.resolver_cache), []).append(one)
    caches = several_caches(list_resolvers(findings.exchanges))
    return sentences + [_lookup(group, caches=caches) for group in exchanges.values()]


def _combination(name: str, baseline: str, group: Sequence[Compared], phrase: str) -> str:
    known = [one for one in group if one[1].change.value is not None]
    known.sort(key=lambda one: one[1].change.value or 0.0)
    start = f"{name} against {baseline}: "
    if not known:
        return start + "no answer yet; too few loads ended."
    if len(known) == 1:
        text = f"the median {phrase} changes by {_place(known[0])}"
    else:
        text = f"the median {phrase} changes by {_place(known[0])} to {_place(known[-1])}"
    silent = len(group) - len(known)
    tail = f"; {silent} of {len(group)} comparisons give no number" if silent else ""
    return f"{start}{text}{tail}."


def _place(one: Compared) -> str:
    result, comparison = one
    change = f"{estimate_text(comparison.change, scale=100, signed=True)} %"
    interval = interval_text(comparison.change, scale=100, signed=True) or "no interval"
    difference = estimate_text(comparison.difference_ms, signed=True)
    return f"{change} {interval} ({result.condition.page} on {result.condition.profile}, {difference} ms)"


def _lookup(group: Sequence[ExchangeResult], *, caches: bool) -> str:
    first = group[0]
    label = transport_label(first.dns_transport)
    cache = f" (cache {first.resolver_cache})" if caches else ""
    mode = cache if first.requested_handshake_mode == "full" else f" asking for {first.requested_handshake_mode}{cache}"
    trips = format_count(first.expected_round_trips, "round trip")
    known = [one.remainder_ms.value for one in group if one.remainder_ms.value is not None]
    if not known:
        return f"A cold {label} exchange{mode}: no median; half or more of the exchanges failed."
    low, high = number_text(min(known), 2), number_text(max(known), 2)
    rest = f"{low} ms" if low == high else f"{low} to {high} ms"
    intervals = ", ".join(
        f"{_where(one, group)} {interval_text(one.remainder_ms, 2) or 'no interval'}" for one in group
    )
    return f"A cold {label} exchange{mode} takes {trips} and, at the median, {rest} more ({intervals})."


def _where(one: ExchangeResult, group: Sequence[ExchangeResult]) -> str:
    resolver = make_resolver(one).label(list_resolvers(group))
    return f"{one.profile} ({resolver})" if resolver else one.profile
