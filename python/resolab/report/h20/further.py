"""Levels of the look-up beyond the paper's transport and resolver, where loads of one transport differ in them.

For: keeping apart and naming what must not be pooled. Not for: levels of the page, which are alike within every pair.
"""

from collections.abc import Sequence

from resolab.plan.factor import HasLevels, Subject
from resolab.plan.factors import applies, factors_about, word_of
from resolab.plots import level_label

_FACTORS = tuple(one for one in factors_about(Subject.CLIENT, Subject.LOOK_UP) if one != "dns_transport")
"""What a configuration has beside its transport and its resolver."""


class FurtherLevels:
    """The factors in which any transport's loads differ."""

    def __init__(self, rows: Sequence[HasLevels]) -> None:
        self._varying = [factor for factor in _FACTORS if _varies(factor, rows)]

    def of(self, row: HasLevels) -> tuple[str, ...]:
        """Name a row's levels of them, leaving out what does not apply to it."""
        return tuple(_word(factor, row) for factor in self._varying if applies(factor, row))


def _varies(factor: str, rows: Sequence[HasLevels]) -> bool:
    """Whether loads of one transport differ in a factor."""
    levels: dict[str, set[object]] = {}
    for row in rows:
        levels.setdefault(str(row.dns_transport), set()).add(getattr(row, factor))
    return any(len(found) > 1 for found in levels.values())


def _word(factor: str, row: HasLevels) -> str:
    word = word_of(getattr(row, factor), factor)
    return f"preset {word}" if factor == "browser_preset" else level_label(factor, word)
