"""The factors of a plan as lists, their levels as words, and the conditions selected by levels.

For: reading, identifiers, exclusions, tables, figures and schemas; everything follows from the fields of `Condition`.
Not for: possible combinations of levels (`support`) or a plan's choice (`model`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from resolab.basics.records import TrialKind
from resolab.plan.condition import DECLARED
from resolab.plan.factor import ConditionLevels, FactorSubject

FACTORS = tuple(name for name, one in DECLARED.items() if not one.is_optional and not one.about.of_transport)
"""The factors of every plan, in the order of the levels in a condition's identifier."""

OPTIONAL_FACTORS: Mapping[str, Any] = {name: one.default for name, one in DECLARED.items() if one.is_optional}
"""The optional factors, each with the only level in a plan without the factor."""

NAMED_ORDER = tuple(name for name in DECLARED if name not in FACTORS)
"""Order of the levels of named optional factors in a condition's identifier. `resolver_path` is a named factor when the
plan gives a list for any transport."""

EVERY_FACTOR = (*FACTORS, *(name for name in NAMED_ORDER if name not in OPTIONAL_FACTORS), *OPTIONAL_FACTORS)
"""All factors, in the order of lists."""

LOAD_FACTORS = tuple(name for name in EVERY_FACTOR if DECLARED[name].belongs_to(TrialKind.PAGE_LOAD))
"""The factors of page loads."""

NUMBERS: Mapping[str, tuple[float, float]] = {
    name: one.about.bounds for name, one in DECLARED.items() if one.about.bounds is not None
}
"""The factors with numbers as levels, with the lowest and the highest; as words the numbers have six digits."""

FREE_NAMES = tuple(
    name for name, one in DECLARED.items() if one.is_optional and one.words is None and one.about.bounds is None
)
"""The optional factors with names declared by the plan as levels."""


def select_factors(*subjects: FactorSubject) -> tuple[str, ...]:
    """List the factors about one of these subjects, for separating or pooling in a table."""
    return tuple(name for name in EVERY_FACTOR if DECLARED[name].about.subject in subjects)


QUERY_FACTORS = select_factors(FactorSubject.NETWORK, FactorSubject.RESOLVER)
"""The factors affecting our own client's queries beside a load; the queries are alike over all other factors."""


def list_differing_factors(conditions: Iterable[object]) -> tuple[str, ...]:
    """List the factors with different levels among the conditions: all that tells the conditions apart."""
    found = list(conditions)
    return tuple(factor for factor in EVERY_FACTOR if len({getattr(one, factor) for one in found}) > 1)


OwnNames = Mapping[str, Sequence[str]]
"""By factor, the names of levels in a plan with names of its own: the stock names and those of the plan's tables."""
Selection = Mapping[str, Sequence[str]]
"""Levels by factor; selects the conditions with a listed level in every named factor."""


def list_allowed_words(factor: str) -> tuple[str, ...]:
    """List a factor's closed vocabulary; pages, profiles and numbers have no vocabulary."""
    words = DECLARED[factor].words
    if words is None:
        raise KeyError(f"{factor} has no closed vocabulary")
    return words


def parse_level(factor: str, word: str) -> Any:
    """Turn a plan's word into the level a condition has."""
    return DECLARED[factor].parse_level(word)


def format_level(level: object, factor: str) -> str:
    """Turn a condition's level into the plan's word; the factor defines the word for `None`."""
    return DECLARED[factor].format_level(level)


def find_label(factor: str, word: str) -> str | None:
    """Return a level's label for people, complete by itself; `None` when the factor has no labels."""
    return DECLARED[factor].about.labels.get(word)


def applies(factor: str, one: ConditionLevels) -> bool:
    """Return True when a factor can have another level in this condition; if not, the level has no meaning."""
    return DECLARED[factor].about.applies(one)


def selects(selection: Selection, condition: object) -> bool:
    """Return True when a condition has a level of the selection in every factor of the selection."""
    return all(format_level(getattr(condition, factor), factor) in words for factor, words in selection.items())
