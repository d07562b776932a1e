"""The conditions of a dataset matching Sengupta et al.: the paper's pages and profiles, HTTP/3, a cold lookup.

For: a single condition for each page, profile, transport and page handshake, whichever other factors vary in the plan.
Not for: numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from resolab.basics.wording import format_count
from resolab.plan import Condition, Plan
from resolab.plan.factor import FactorSubject
from resolab.plan.factors import OPTIONAL_FACTORS, format_level, list_differing_factors, select_factors
from resolab.report.plots import combination_label
from resolab.studies.s24.paper_numbers import is_printed

Combination = tuple[str, str]
"""DNS transport and the page's requested handshake."""

BASELINE: Combination = ("doudp", "full")
IN_PAPER: Sequence[Combination] = (("doq", "zero_rtt"), ("doq", "full"), ("doh", "full"))
"""The combinations of Fig. 8, in its order."""
LEFT_OUT: Sequence[Combination] = (("doudp", "zero_rtt"), ("doh", "zero_rtt"))
"""0-RTT without DoQ: 'not investigated in this paper' (section IV-C)."""

_VARIED = ("page", "profile", "dns_transport", "requested_handshake_mode")
"""The factors varied by the paper."""
_UNTOLD = (*select_factors(FactorSubject.CLIENT), "h3_discovery")
"""Factors of the instrument; any level is accepted, and the first of several is drawn."""
_AS_IN_PAPER: Mapping[str, str] = {"http_version": "h3"} | {
    factor: format_level(level, factor)
    for factor, level in OPTIONAL_FACTORS.items()
    if factor not in {*_VARIED, *_UNTOLD}
}
"""The paper's levels of all other factors, equal to the default levels of a plan. The resolver is beside the pages,
with cached answers. Lookups are cold, with a full handshake. No feature is newer than the paper."""


@dataclass(frozen=True, slots=True)
class PaperScope:
    """The conditions by page and profile, then by combination."""

    cells: Mapping[tuple[str, str], Mapping[Combination, Condition]]
    left_out_count: int
    """Conditions differing from a condition of `cells` in a factor not varied by the paper."""
    unlike_count: int = 0
    """Conditions on the paper's pages and profiles with other levels than the paper's loads."""
    unlike: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The levels of these conditions, by factor."""
    drawn: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The factors with different levels, and the levels of `cells`."""

    @property
    def pages(self) -> list[str]:
        """Pages, in the plan's order."""
        return list(dict.fromkeys(page for page, _ in self.cells))

    @property
    def profiles(self) -> list[str]:
        """Profiles, in the plan's order."""
        return list(dict.fromkeys(profile for _, profile in self.cells))

    def list_combinations(self, combinations: Sequence[Combination]) -> list[Combination]:
        """List the combinations present for any page and profile."""
        return [one for one in combinations if any(one in cell for cell in self.cells.values())]

    @property
    def note(self) -> str:
        """A sentence for captions about the conditions not drawn."""
        return self._note_of_further() + self._note_of_unlike()

    def _note_of_further(self) -> str:
        if not self.left_out_count:
            return ""
        return (
            f" {self.left_out_count} further conditions differ in a factor the paper did not vary and are left out: "
            f"of each combination the first of the plan is drawn, with {_levels(self.drawn)}."
        )

    def _note_of_unlike(self) -> str:
        if not self.unlike_count:
            return ""
        conditions = format_count(self.unlike_count, "condition")
        return f" {conditions} at levels that the paper's loads did not have: left out, with {_levels(self.unlike)}."


def choose_scope(plan: Plan) -> PaperScope:
    """Choose the plan's first matching condition for every page, profile and combination of the paper."""
    cells: dict[tuple[str, str], dict[Combination, Condition]] = {}
    further: list[Condition] = []
    unlike: list[Condition] = []
    for condition in plan.conditions():
        if not is_printed(condition.page, condition.profile) or condition.replicate > 1:
            continue
        combination = combination_in_paper(condition)
        if combination is None:
            unlike.append(condition)
            continue
        cell = cells.setdefault((condition.page, condition.profile), {})
        if cell.setdefault(combination, condition) is not condition:
            further.append(condition)
    drawn = [(cells[one.page, one.profile][_combination(one)], one) for one in further]
    return PaperScope(
        cells,
        left_out_count=len(further),
        drawn=_words((factor, first) for first, one in drawn for factor in list_differing_factors((one, first))),
        unlike_count=len(unlike),
        unlike=_words((factor, one) for one in unlike for factor in _unlike(one)),
    )


def _words(found: Iterable[tuple[str, Condition]]) -> dict[str, list[str]]:
    """List the conditions' levels of each factor, without duplicates."""
    words: dict[str, dict[str, None]] = {}
    for factor, condition in found:
        words.setdefault(factor, {})[format_level(getattr(condition, factor), factor)] = None
    return {factor: list(levels) for factor, levels in words.items()}


def _levels(of: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{factor} {', '.join(words)}" for factor, words in of.items())


def combination_name(combination: Combination) -> str:
    """Return the name of a combination, as in figures."""
    return combination_label(combination[0], "h3", combination[1])


def combination_in_paper(condition: Condition) -> Combination | None:
    """Return a condition's combination in the paper; `None` for a condition with levels not in the paper."""
    return None if condition.replicate > 1 or _unlike(condition) else _combination(condition)


def is_resolver_in_paper(one: object) -> bool:
    """Return True for the paper's resolver levels: at the distance of the pages, with cached answers."""
    return not _unlike(one, select_factors(FactorSubject.RESOLVER))


def _combination(condition: Condition) -> Combination:
    return str(condition.dns_transport), str(condition.requested_handshake_mode)


def _unlike(one: object, factors: Iterable[str] = tuple(_AS_IN_PAPER)) -> list[str]:
    """List the factors with a level different from the paper's loads."""
    return [factor for factor in factors if format_level(getattr(one, factor), factor) != _AS_IN_PAPER[factor]]
