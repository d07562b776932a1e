"""The factors of a plan as lists, their levels as words, and which conditions a choice of levels selects.

For: what reading, identifiers, exclusions, tables, figures and schemas ask; all of it follows from the fields of
`Condition`. Not for: which levels go together (`support`) or what a plan chose (`model`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from resolab.plan.condition import DECLARED
from resolab.plan.factor import HasLevels, Subject

FACTORS = tuple(name for name, one in DECLARED.items() if not one.is_optional and not one.about.of_transport)
"""The factors every plan names, in the order in which their levels make a condition's identifier."""

OPTIONAL_FACTORS: Mapping[str, Any] = {name: one.default for name, one in DECLARED.items() if one.is_optional}
"""The factors a plan may name, each with the only level it has in a plan that does not."""

NAMED_ORDER = tuple(name for name in DECLARED if name not in FACTORS)
"""Order in which the levels of named optional factors follow in a condition's identifier. `resolver_path` is one when
the plan gives a list for any transport."""

EVERY_FACTOR = (*FACTORS, *(name for name in NAMED_ORDER if name not in OPTIONAL_FACTORS), *OPTIONAL_FACTORS)
"""All of them, in the order of lists."""

NUMBERS: Mapping[str, tuple[float, float]] = {
    name: one.about.bounds for name, one in DECLARED.items() if one.about.bounds is not None
}
"""The factors whose levels are numbers, with the lowest and the highest; as words they have six digits."""

FREE_NAMES = tuple(
    name for name, one in DECLARED.items() if one.is_optional and one.words is None and one.about.bounds is None
)
"""The optional factors whose levels are names that the plan itself declares."""


def factors_about(*subjects: Subject) -> tuple[str, ...]:
    """List the factors that describe one of these subjects: what a table keeps apart, or may pool."""
    return tuple(name for name in EVERY_FACTOR if DECLARED[name].about.subject in subjects)


QUERY_FACTORS = factors_about(Subject.NETWORK, Subject.RESOLVER)
"""The factors on which our own client's queries beside a load depend; whatever else a plan varies, they are alike."""

Selection = Mapping[str, Sequence[str]]
"""Levels by factor; selects the conditions that have one of them in every factor it names."""


def allowed_words(factor: str) -> tuple[str, ...]:
    """List a factor's closed vocabulary; pages, profiles and numbers have none."""
    words = DECLARED[factor].words
    if words is None:
        raise KeyError(f"{factor} has no closed vocabulary")
    return words


def level_of(factor: str, word: str) -> Any:
    """Turn a plan's word into the level a condition has."""
    return DECLARED[factor].level_of(word)


def word_of(level: object, factor: str) -> str:
    """Turn a condition's level into the plan's word; which word `None` has, its factor says."""
    return DECLARED[factor].word_of(level)


def label_of(factor: str, word: str) -> str | None:
    """Spell a level for people so that it can stand alone; `None` where its factor has no such words."""
    return DECLARED[factor].about.labels.get(word)


def applies(factor: str, one: HasLevels) -> bool:
    """Whether a factor can have another level where a condition stands; if not, its level says nothing."""
    return DECLARED[factor].about.applies(one)


def selects(selection: Selection, condition: object) -> bool:
    """Whether a condition has one of the selection's levels in every factor the selection names."""
    return all(word_of(getattr(condition, factor), factor) in words for factor, words in selection.items())
