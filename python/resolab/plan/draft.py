"""A plan written from levels: every required key, impossible conditions excluded, each part with its purpose.

For: text accepted by `load`. Not for: choosing levels.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from resolab.basics.protocols import transport_label
from resolab.basics.records import DnsTransport, ResolverPath, TrialKind
from resolab.basics.toml_text import value_text
from resolab.plan.corpus import Corpus
from resolab.plan.expectation import ExpectationKind
from resolab.plan.factors import FACTORS, NUMBERS, OPTIONAL_FACTORS, list_allowed_words
from resolab.plan.load import parse_plan
from resolab.plan.pages.certificate_check import BY_CERTIFICATE
from resolab.plan.settings import PageCertificates, ResolverSettings
from resolab.plan.support import baselines_lack, exclusions_needed

_NATIVE = (DnsTransport.DOUDP, DnsTransport.DOH)
"""The transports of both browsers' own resolvers; other transports use the stub unless the plan says otherwise."""

_TIMES = {
    TrialKind.PAGE_LOAD: "page load time",
    TrialKind.EXCHANGE: "DNS response time",
    TrialKind.FETCH: "time to the document's first byte",
}
_NEVER_COMPARED = ("page", "profile", "browser", "resolver_path")
"""Their levels are compared within themselves."""


SLOW_MS, SLOW_PERCENT = 1_000, 5
"""The check beside each check of times: a median does not see some slow trials."""
BLOCKS_TO_A_VERDICT = 150
"""The most blocks of a plan with an expectation, unless its author names a number; the run ends when decided."""


@dataclass(frozen=True, slots=True)
class SoftwareDraft:
    """A resolver of the user: a template, and a program in place of the template's own."""

    template: str
    program: str | None = None


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """The content of a plan to be written."""

    name: str
    question: str
    seed: int
    blocks: int
    levels: Mapping[str, Sequence[str]]
    """Levels by factor, the first being the baseline's; an omitted optional factor has its default."""
    paths: Mapping[str, Sequence[str]]
    """The browser's path to each transport, where different from the usual path."""
    kind: TrialKind = TrialKind.PAGE_LOAD
    software: Mapping[str, SoftwareDraft] = field(default_factory=dict)
    margins_ms: Mapping[ExpectationKind, float] = field(default_factory=dict)
    """The margin of each expectation to write, about times."""


def plan_text(draft: PlanDraft, base: Path) -> str:
    """Write the plan; an impossible plan raises ConfigurationError, as in reading."""
    corpus, source = Corpus.from_project(), f"{draft.name}.toml"
    baseline = [one for one in ("dns_transport", "requested_handshake_mode") if one in draft.levels]
    if len(draft.levels.get("resolver_software", ())) > 1:
        # Builds are compared over each transport, and transports are not compared with each other.
        baseline = ["resolver_software"]
    elif all(len(draft.levels[factor]) == 1 for factor in baseline):
        # The question is what something else changes: alone these two would compare nothing.
        baseline += [one for one, words in draft.levels.items() if len(words) > 1 and one not in _NEVER_COMPARED]
    first = parse_plan(_text(draft, baseline, []), source, None, base=base)
    exclusions = exclusions_needed(first)
    baseline += baselines_lack(parse_plan(_text(draft, baseline, exclusions), source, None, base=base))
    text = _text(draft, baseline, exclusions)
    parse_plan(text, source, corpus, base=base)
    return text


def _text(
    draft: PlanDraft, baseline: Sequence[str], exclusions: Sequence[tuple[Mapping[str, Sequence[str]], str]]
) -> str:
    transports = draft.levels["dns_transport"]
    paths = {one: draft.paths.get(one) or [_usual(one)] for one in transports}
    lines = [
        "# What `resolab run` measures. Every key: docs/formats/plan.md; what stands in lists: `resolab list factors`.",
        f"name = {value_text(draft.name)}",
        f"question = {value_text(draft.question)}",
        *([] if draft.kind is TrialKind.PAGE_LOAD else [f"kind = {value_text(str(draft.kind))}"]),
        f"seed = {draft.seed}  # every random choice derives from it",
        f"blocks = {draft.blocks}  # each has every condition once, and is one pair of every comparison",
        "",
        "[factors]",
        *(f"{factor} = {_list(factor, draft.levels[factor])}" for factor in FACTORS if factor in draft.levels),
        *(f"{factor} = {_list(factor, draft.levels[factor])}" for factor in OPTIONAL_FACTORS if factor in draft.levels),
        *_pages(draft.levels.get("connection_sharing", ())),
        "",
        *_paths(paths if draft.kind is TrialKind.PAGE_LOAD else {}),
        *_software(draft.software),
        "# Every other condition is compared with the one that has these levels and is alike in everything else.",
        "[baseline]",
        *(f"{factor} = {_level(factor, draft.levels[factor][0])}" for factor in baseline),
    ]
    lines += ["", *_settings(draft.levels), *_expectations(draft, baseline)]
    for levels, reason in exclusions:
        lines += ["", f"# {reason[0].upper()}{reason[1:]}.", "[[exclude]]"]
        lines += [f"{factor} = {_list(factor, words)}" for factor, words in levels.items()]
    return "\n".join(lines) + "\n"


def _settings(levels: Mapping[str, Sequence[str]]) -> list[str]:
    lines = [
        "# Without a margin, declared before any trial, nothing can be called equivalent.",
        "[analysis]",
        "equivalence_margin_rtts = 0.25",
    ]
    if "miss" in levels.get("resolver_cache", ()):
        delay_ms = f"{ResolverSettings().miss_delay_ms:g}"
        lines += ["", "[resolver]", f"miss_delay_ms = {delay_ms}  # what an answer missing from the cache takes longer"]
    return lines


def _software(software: Mapping[str, SoftwareDraft]) -> list[str]:
    lines = []
    for name, one in software.items():
        usual = '# program = "./build/NAME"  # another build, relative to this file'
        program = usual if one.program is None else f"program = {value_text(one.program)}"
        lines += [f"[software.{name}]", f"template = {value_text(one.template)}", program, ""]
    return lines


def _expectations(draft: PlanDraft, baseline: Sequence[str]) -> list[str]:
    """Write each expectation about times, a check of the tail and one of failures, and the rule that ends the run."""
    varying = [factor for factor in baseline if len(draft.levels.get(factor, ())) > 1]
    if not draft.margins_ms or not varying:
        return []
    first, *others = draft.levels[varying[0]]
    arms = [
        f"treatment = {{ {varying[0]} = {_list(varying[0], others)} }}",
        f"baseline = {{ {varying[0]} = {_level(varying[0], first)} }}",
    ]
    # A first byte shows a resolver's delay with a quarter of the load's noise.
    outcome = ['outcome = "response_start"'] if draft.kind is TrialKind.PAGE_LOAD else []
    lines = ["", "# `resolab run --check` gives verdicts; guide: docs/guides/checks.md."]
    for kind, margin_ms in draft.margins_ms.items():
        name = str(kind).replace("_", " ")
        lines += ["[[expect]]", f"name = {value_text(name)}", f"kind = {value_text(str(kind))}", *outcome]
        lines += [f"margin_ms = {margin_ms:g}", *arms, ""]
    lines += ["# A median does not see that some trials are slow.", "[[expect]]", 'name = "no tail"']
    lines += ['kind = "slow_share_at_most"', f"percent = {SLOW_PERCENT}", f"slow_ms = {SLOW_MS}", *arms, ""]
    lines += ["[[expect]]", 'name = "nothing fails"', 'kind = "failures_at_most"', "count = 0", *arms, ""]
    return [*lines, "# The run ends when every expectation has a verdict.", "[stop]", 'rule = "expectations"']


def _paths(paths: Mapping[str, Sequence[str]]) -> list[str]:
    if not paths:
        return []
    return [
        "# How the browser reaches each transport: its own resolver, or resolab's stub on its loopback.",
        "[resolver_path]",
        *(f"{one} = {value_text(ways[0] if len(ways) == 1 else list(ways))}" for one, ways in paths.items()),
        "",
    ]


def _pages(sharing: Sequence[str]) -> list[str]:
    if not {*sharing} & {way.value for way in BY_CERTIFICATE}:
        return []
    told = "# Recordings seldom tell who shared a certificate: here the names of one site do."
    return ["", told, "[pages]", f'certificates = "{PageCertificates.SITE}"']


def _usual(transport: str) -> str:
    return str(ResolverPath.NATIVE if transport in _NATIVE else ResolverPath.STUB)


def _list(factor: str, words: Sequence[str]) -> str:
    return f"[{', '.join(_level(factor, word) for word in words)}]"


def _level(factor: str, word: str) -> str:
    return word if factor in NUMBERS else value_text(word)


def write_question(levels: Mapping[str, Sequence[str]], kind: TrialKind = TrialKind.PAGE_LOAD) -> str:
    """Return a question about the varying levels, for a plan without an author's question."""
    # A word that is no transport is refused with the rest of the plan.
    known = list_allowed_words("dns_transport")
    first, *others = (transport_label(one) if one in known else one for one in levels["dns_transport"])
    varying = [factor for factor, words in levels.items() if len(words) > 1 and factor not in {"page", "profile"}]
    if others:
        verb = "does" if len(others) == 1 else "do"
        return f"What {verb} {' and '.join(others)} change in {_TIMES[kind]} against {first}?"
    named = " and ".join(factor.replace("_", " ") for factor in varying)
    return f"What does the {named} change in {_TIMES[kind]}?" if named else f"How long is the {_TIMES[kind]}?"
