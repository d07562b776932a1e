"""Levels of the lookup beyond the paper's transport and resolver, for loads of a transport with different levels.

For: separating and naming configurations not to be pooled. Not for: levels of the page, equal within every pair.
"""

from collections.abc import Sequence

from resolab.plan.factor import ConditionLevels, FactorSubject
from resolab.plan.factors import LOAD_FACTORS, applies, format_level, select_factors
from resolab.report.plots import level_label

_FACTORS = tuple(
    one
    for one in select_factors(FactorSubject.CLIENT, FactorSubject.LOOK_UP)
    if one in LOAD_FACTORS and one != "dns_transport"
)
"""The factors of a configuration besides transport and resolver."""


class FurtherLevels:
    """The factors with different levels among any transport's loads."""

    def __init__(self, rows: Sequence[ConditionLevels]) -> None:
        self._varying = [factor for factor in _FACTORS if _varies(factor, rows)]

    def read_levels(self, row: ConditionLevels) -> tuple[str, ...]:
        """Return a row's levels of these factors, without factors not applicable to the row."""
        return tuple(_word(factor, row) for factor in self._varying if applies(factor, row))


def _varies(factor: str, rows: Sequence[ConditionLevels]) -> bool:
    """Return True when loads of the same transport differ in a factor."""
    levels: dict[str, set[object]] = {}
    for row in rows:
        levels.setdefault(str(row.dns_transport), set()).add(getattr(row, factor))
    return any(len(found) > 1 for found in levels.values())


def _word(factor: str, row: ConditionLevels) -> str:
    word = format_level(getattr(row, factor), factor)
    return f"preset {word}" if factor == "browser_preset" else level_label(factor, word)
