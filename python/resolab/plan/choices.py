"""Tables of a plan that choose conditions by their levels: exclusions, repetitions, baseline and comparisons.

For: reading them. Not for: whether what they choose exists (`support`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from resolab.plan.comparison import ComparisonRule
from resolab.plan.condition import Baseline
from resolab.plan.corpus import Corpus
from resolab.plan.factors import FACTORS, NUMBERS, OPTIONAL_FACTORS, Selection, allowed_words, level_of
from resolab.plan.model import Plan, Repeat
from resolab.plan.section import Section

HIGHEST_TIMES = 20


def exclusion_in(section: Section, corpus: Corpus | None) -> Selection:
    """Read one table of levels by factor; levels the plan does not have may stand in it."""
    selection = _selection(section, _vocabularies(corpus))
    section.finish()
    if not selection:
        section.fail("", "names no factor, and so would take out every condition")
    return selection


def repeat_in(section: Section, corpus: Corpus | None) -> Repeat:
    """Read which conditions run as copies, and how many; without a factor, all."""
    selection = _selection(section, _vocabularies(corpus))
    times = section.integer("times", low=2, high=HIGHEST_TIMES, default=2)
    section.finish()
    return Repeat(selection, times)


def baseline_in(section: Section, plan: Plan) -> Baseline:
    """Read the levels conditions are compared with: of any factor but page and profile."""
    for factor in ("page", "profile"):
        if factor in section:
            section.fail(factor, "no baseline: conditions are compared within their own page and profile")
    factors = tuple(one.name for one in fields(Baseline))
    words = {factor: section.optional_one_of(factor, plan.words(factor), NUMBERS.get(factor)) for factor in factors}
    section.finish()
    given = {factor: word for factor, word in words.items() if word is not None}
    if not given:
        section.fail("", f"names no level; give at least one of {', '.join(factors)}")
    return Baseline(**{factor: _kept(factor, word) for factor, word in given.items()})


def comparison_in(section: Section, plan: Plan) -> ComparisonRule:
    """Read one comparison: which conditions, against the same with other levels."""
    name = section.text("name")
    treatment = section.section("treatment")
    selection = _selection(treatment, {factor: plan.words(factor) for factor in _every_factor()})
    treatment.finish()
    if not selection:
        treatment.fail("", f"names no level; give at least one of {', '.join(_every_factor())}")
    rule = ComparisonRule(name, selection, baseline_in(section.section("baseline"), plan))
    section.finish()
    return rule


def _every_factor() -> tuple[str, ...]:
    return (*FACTORS, "resolver_path", *OPTIONAL_FACTORS)


def _vocabularies(corpus: Corpus | None) -> dict[str, Sequence[str] | None]:
    """List the words each factor may have; None where any will do."""
    words: dict[str, Sequence[str] | None] = {
        factor: None if factor in NUMBERS else allowed_words(factor) for factor in _every_factor()[2:]
    }
    names = {"page": corpus.pages() if corpus else None, "profile": corpus.profiles() if corpus else None}
    return {**names, **words}


def _selection(section: Section, vocabularies: Mapping[str, Sequence[str] | None]) -> Selection:
    given = {
        factor: section.optional_levels(factor, words, NUMBERS.get(factor)) for factor, words in vocabularies.items()
    }
    return {factor: words for factor, words in given.items() if words is not None}


def _kept(factor: str, word: str) -> Any:
    """Give a level as `Baseline` keeps it: there None means that the condition's own level stays."""
    level = level_of(factor, word)
    return word if level is None else level
