"""Which conditions of a dataset are those of Sengupta et al.: their pages and profiles, HTTP/3, a cold look-up.

For: one condition for each page, profile, transport and page handshake, whatever else the plan varies.
Not for: numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from resolab.plan import Condition, Plan
from resolab.plan.factor import Subject
from resolab.plan.factors import EVERY_FACTOR, OPTIONAL_FACTORS, factors_about, word_of
from resolab.plots import combination_label
from resolab.report.s24.printed import is_printed
from resolab.wording import counted

Combination = tuple[str, str]
"""DNS transport and the page's requested handshake."""

BASELINE: Combination = ("doudp", "full")
IN_PAPER: Sequence[Combination] = (("doq", "zero_rtt"), ("doq", "full"), ("doh", "full"))
"""The combinations of their Fig. 8, in its order."""
LEFT_OUT: Sequence[Combination] = (("doudp", "zero_rtt"), ("doh", "zero_rtt"))
"""What 0-RTT does without DoQ: 'not investigated in this paper' (section IV-C)."""

_VARIED = ("page", "profile", "dns_transport", "requested_handshake_mode")
"""The factors of the paper."""
_UNTOLD = (*factors_about(Subject.CLIENT), "h3_discovery")
"""How the instrument makes its loads: any will do, and of several the first is drawn."""
_AS_IN_PAPER: Mapping[str, str] = {"http_version": "h3"} | {
    factor: word_of(level, factor) for factor, level in OPTIONAL_FACTORS.items() if factor not in {*_VARIED, *_UNTOLD}
}
"""What else there is was as in a plan that does not name it: a resolver where the pages are, with the answers; a cold
look-up with a full handshake; and nothing of what came after the paper."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The conditions by page and profile, then by combination."""

    cells: Mapping[tuple[str, str], Mapping[Combination, Condition]]
    left_out_count: int
    """Conditions as in the paper that differ from one of `cells` in a factor the paper did not vary."""
    unlike_count: int = 0
    """Conditions on the paper's pages and profiles at other levels than its loads had."""
    unlike: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Those levels, by factor."""
    drawn: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The factors in which they differ, and the levels of them that `cells` have."""

    @property
    def pages(self) -> list[str]:
        """Pages, in the plan's order."""
        return list(dict.fromkeys(page for page, _ in self.cells))

    @property
    def profiles(self) -> list[str]:
        """Profiles, in the plan's order."""
        return list(dict.fromkeys(profile for _, profile in self.cells))

    def having(self, combinations: Sequence[Combination]) -> list[Combination]:
        """List those combinations that any page and profile has."""
        return [one for one in combinations if any(one in cell for cell in self.cells.values())]

    @property
    def note(self) -> str:
        """Say in a caption what is not drawn."""
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
        conditions = counted(self.unlike_count, "condition")
        return f" {conditions} at levels that the paper's loads did not have: left out, with {_levels(self.unlike)}."


def scope_of(plan: Plan) -> Scope:
    """Choose the first condition of the plan for every page, profile and combination of the paper's kind."""
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
    return Scope(
        cells,
        left_out_count=len(further),
        drawn=_words((factor, first) for first, one in drawn for factor in _differing(one, first)),
        unlike_count=len(unlike),
        unlike=_words((factor, one) for one in unlike for factor in _unlike(one)),
    )


def _words(found: Iterable[tuple[str, Condition]]) -> dict[str, list[str]]:
    """List the levels that conditions have of factors, each once."""
    words: dict[str, dict[str, None]] = {}
    for factor, condition in found:
        words.setdefault(factor, {})[word_of(getattr(condition, factor), factor)] = None
    return {factor: list(levels) for factor, levels in words.items()}


def _levels(of: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{factor} {', '.join(words)}" for factor, words in of.items())


def _differing(one: Condition, other: Condition) -> list[str]:
    return [factor for factor in EVERY_FACTOR if getattr(one, factor) != getattr(other, factor)]


def combination_name(combination: Combination) -> str:
    """Name a combination as figures do."""
    return combination_label(combination[0], "h3", combination[1])


def combination_in_paper(condition: Condition) -> Combination | None:
    """Return which combination of the paper a condition is; None: it has levels that the paper's loads had not."""
    return None if condition.replicate > 1 or _unlike(condition) else _combination(condition)


def is_resolver_in_paper(one: object) -> bool:
    """Whether what has a resolver's levels has those of the paper's: it stood where the pages did, with the answers."""
    return not _unlike(one, factors_about(Subject.RESOLVER))


def _combination(condition: Condition) -> Combination:
    return str(condition.dns_transport), str(condition.requested_handshake_mode)


def _unlike(one: object, factors: Iterable[str] = tuple(_AS_IN_PAPER)) -> list[str]:
    """Name the factors whose level is not that of the paper's loads."""
    return [factor for factor in factors if word_of(getattr(one, factor), factor) != _AS_IN_PAPER[factor]]
