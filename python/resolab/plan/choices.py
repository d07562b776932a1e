"""Tables of a plan for choosing conditions by levels: exclusions, repetitions, baseline and comparisons.

For: reading these tables. Not for: the existence of the chosen conditions (`support`).
"""

from collections.abc import Mapping, Sequence

from resolab.basics.records import TrialKind
from resolab.plan.comparison import ComparisonRule
from resolab.plan.condition import DECLARED, Baseline
from resolab.plan.corpus import Corpus
from resolab.plan.factors import EVERY_FACTOR, FACTORS, NAMED_ORDER, NUMBERS, OwnNames, Selection, parse_level
from resolab.plan.model import Plan, Repeat
from resolab.plan.section import PlanSection
from resolab.plan.settings import read_value

_OF_CORPUS = ("page", "profile")
BASELINE_FACTORS = tuple(factor for factor in (*FACTORS, *NAMED_ORDER) if factor not in _OF_CORPUS)
"""The factors available in a baseline: all except page and profile, as comparisons stay within these two."""


def read_exclusion(section: PlanSection, corpus: Corpus | None, kind: TrialKind, own_names: OwnNames) -> Selection:
    """Read one table of levels by factor; levels absent from the plan are allowed."""
    selection = _selection(section, _vocabularies(corpus, kind, own_names))
    section.finish()
    if not selection:
        section.fail("", "names no factor, and so would take out every condition")
    return selection


def read_repeat(section: PlanSection, corpus: Corpus | None, kind: TrialKind, own_names: OwnNames) -> Repeat:
    """Read the conditions to run as copies, and the number of copies; without a factor, all conditions."""
    selection = _selection(section, _vocabularies(corpus, kind, own_names))
    repeat = Repeat(selection, times=read_value(section, Repeat, "times"))
    section.finish()
    return repeat


def read_baseline(section: PlanSection, plan: Plan) -> Baseline:
    """Read the levels conditions are compared with: of any factor but page and profile."""
    for factor in _OF_CORPUS:
        if factor in section:
            section.fail(factor, "no baseline: conditions are compared within their own page and profile")
    words = {
        factor: section.take_optional_word(factor, plan.words(factor), NUMBERS.get(factor))
        for factor in EVERY_FACTOR
        if factor not in _OF_CORPUS and DECLARED[factor].belongs_to(plan.kind)
    }
    section.finish()
    given = {factor: word for factor, word in words.items() if word is not None}
    if not given:
        known = [factor for factor in BASELINE_FACTORS if DECLARED[factor].belongs_to(plan.kind)]
        section.fail("", f"names no level; give at least one of {', '.join(known)}")
    return Baseline({factor: parse_level(factor, word) for factor, word in given.items()})


def read_comparison(section: PlanSection, plan: Plan) -> ComparisonRule:
    """Read one comparison: the treated conditions, and the levels of their baseline."""
    name = section.text("name")
    treatment = section.section("treatment")
    selection = read_levels(treatment, plan, EVERY_FACTOR)
    treatment.finish()
    rule = ComparisonRule(name, selection, read_baseline(section.section("baseline"), plan))
    section.finish()
    return rule


def read_levels(section: PlanSection, plan: Plan, factors: Sequence[str]) -> Selection:
    """Read one or more levels of the plan. A factor of another kind of trial is refused."""
    known = [factor for factor in factors if DECLARED[factor].belongs_to(plan.kind)]
    selection = _selection(section, {factor: plan.words(factor) for factor in known})
    if not selection:
        section.fail("", f"names no level; give at least one of {', '.join(known)}")
    return selection


def _vocabularies(corpus: Corpus | None, kind: TrialKind, own_names: OwnNames) -> dict[str, Sequence[str] | None]:
    """List the allowed words of each factor; `None` when any word is allowed."""
    words: dict[str, Sequence[str] | None] = {
        factor: own_names.get(factor) or DECLARED[factor].words
        for factor in EVERY_FACTOR
        if DECLARED[factor].belongs_to(kind)
    }
    return words if corpus is None else {**words, "page": corpus.pages(), "profile": corpus.profiles()}


def _selection(section: PlanSection, vocabularies: Mapping[str, Sequence[str] | None]) -> Selection:
    given = {
        factor: section.optional_levels(factor, words, NUMBERS.get(factor)) for factor, words in vocabularies.items()
    }
    return {factor: words for factor, words in given.items() if words is not None}
