"""The answers of a live dataset in sentences, each with its interval over sites.

For: the fastest configuration per vantage point, the cost of each encrypted transport against Do53 of the same
resolver, equivalence. Not for: single comparisons with the plan's baseline (`plain_answers`), or tables.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import level_text
from resolab.report.live.findings import LiveFindings
from resolab.report.live.lookups import LookupSummary
from resolab.report.live.pairs import ConfigurationPair, each_once
from resolab.report.plots import estimate_text, interval_text, transport_label
from resolab.stats import Estimate

if TYPE_CHECKING:
    from resolab.report.findings.resolvers import Resolver

NAMED_COUNT = 4
"""Up to this number, configurations sharing the first rank are named."""


def live_answers(findings: Findings, live: LiveFindings | None) -> list[str]:
    """Answer for each vantage point separately: page loads first, then each resolver; empty for an emulated network."""
    if live is None:
        return []
    places = findings.plan.factors.profile
    return [sentence for place in places for sentence in _answer_place(findings, live, place)]


def _answer_place(findings: Findings, live: LiveFindings, place: str) -> Iterator[str]:
    pairs = [one for one in live.pairs if one.profile == place]
    if pairs:
        yield _overview(findings, place, pairs)
    yield from _answer_by_resolver(pairs, place)
    yield from _lookups([one for one in live.lookups if one.way.profile == place], place)


def _overview(findings: Findings, place: str, pairs: Sequence[ConfigurationPair]) -> str:
    once = each_once(pairs)
    apart = [one for one in once if one.verdict]
    alike = [one for one in once if one.tested is not None and one.tested.is_alike]
    both = sum(one in alike for one in apart)
    margin = findings.plan.analysis.equivalence_margin_ms
    without = sum(one.curve.median_ms.ci_low is None for one in once)
    lacking = f", {without} have no interval" if without else ""
    told = f"{len(apart)} of {len(once)} pairs of configurations are told apart{_count_by_chance(once)}{lacking}"
    if margin is not None:
        told += f", {len(alike)} are alike within {margin:g} ms"
        told += f" ({both} of them both: a difference smaller than the margin)" if both else ""
        told += f", {len(once) - len(apart) - len(alike) + both} are neither"
    sites = max(one.curve.pages_count for one in pairs)
    dead = max(one.both_failed_count for one in pairs)
    left_out = f"; pairs of which both loads failed are left out (up to {dead})" if dead else ""
    return f"From {place}, page load time over {sites} sites: {_fastest(pairs)}; {told}{left_out}."


def _count_by_chance(once: Sequence[ConfigurationPair]) -> str:
    """Return the number of false differences expected by chance from these uncorrected intervals."""
    level = once[0].curve.median_ms.level
    return f" (each interval at {level_text(level)} for itself: about {len(once) * (1 - level):.2g} by chance alone)"


def _fastest(pairs: Sequence[ConfigurationPair]) -> str:
    """Return the configuration not beaten by another, or the number of configurations sharing the first rank."""
    names = list(dict.fromkeys(one.treatment for one in pairs))
    among = [one.resolver for one in names]
    beaten = {one.treatment for one in pairs if one.verdict > 0}
    first = [one.label(among) for one in names if one not in beaten]
    if len(first) == 1:
        return f"no other configuration is told to be faster than {first[0]}"
    if not first:
        return "each configuration is beaten by another"
    listed = f" ({'; '.join(first)})" if len(first) <= NAMED_COUNT else ""
    return f"of {len(names)} configurations {len(first)} have none that is told to be faster{listed}"


def _answer_by_resolver(pairs: Sequence[ConfigurationPair], place: str) -> Iterator[str]:
    groups: dict[Resolver, list[ConfigurationPair]] = {}
    for one in pairs:
        own, other = one.treatment, one.baseline
        if own.resolver == other.resolver and other.dns_transport == "doudp" and own.further == other.further:
            groups.setdefault(own.resolver, []).append(one)
    for resolver, found in groups.items():
        listed = "; ".join(
            f"{one.treatment.transport} {_format_signed(one.curve.median_ms)} (n = {one.curve.median_ms.n})"
            f"{_describe_judgement(one)}"
            for one in found
        )
        yield f"From {place}, {resolver.name}, page load time against its DoUDP: {listed}."


def _describe_judgement(one: ConfigurationPair) -> str:
    apart = "" if one.verdict else ", not told apart"
    alike = f", alike within {one.tested.margin:g} ms" if one.tested is not None and one.tested.is_alike else ""
    return f"{apart}{alike}"


def _lookups(found: Sequence[LookupSummary], place: str) -> Iterator[str]:
    """Yield the lookup times for each resolver, from its cache when cache states are known."""
    known = any(one.cache == "hit" for one in found)
    chosen = [one for one in found if one.cache == ("hit" if known else "every")]
    groups: dict[str, list[LookupSummary]] = {}
    for one in chosen:
        groups.setdefault(one.way.resolver, []).append(one)
    for resolver, ways in groups.items():
        apart = [one for one in ways if one.against_do53_ms is not None and one.against_do53_ms.n]
        alone = [one for one in ways if one not in apart]
        listed = "; ".join(f"{_way(one)} {_value(one.median_ms)}" for one in alone)
        against = ", ".join(
            f"{_way(one)} {_format_signed(one.against_do53_ms)}" for one in apart if one.against_do53_ms
        )
        cache = "answers from its cache" if known else "look-ups, cached or not"
        sites = max(one.median_ms.n for one in ways)
        beside = f"; against its DoUDP {against}" if against else ""
        yield f"From {place}, {resolver}, {cache}: {listed}{beside} (n = {sites} sites)."


def _way(one: LookupSummary) -> str:
    connection = {"none": "", "cold": " cold", "warm": " on an open connection"}[one.way.connection]
    return f"{transport_label(one.way.dns_transport)}{connection}"


def _value(one: Estimate) -> str:
    return f"{estimate_text(one, 1)} ms {interval_text(one, 1)}".rstrip()


def _format_signed(one: Estimate) -> str:
    return f"{estimate_text(one, 1, signed=True)} ms {interval_text(one, 1, signed=True) or 'no interval'}"
