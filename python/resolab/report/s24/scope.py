"""Which conditions of a dataset are those of Sengupta et al.: their pages and profiles, HTTP/3, a cold look-up.

For: one condition for each page, profile, transport and page handshake, whatever else the plan varies.
Not for: numbers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from resolab.plan import Condition, Plan
from resolab.plan.factors import EVERY_FACTOR, word_of
from resolab.plots import combination_label
from resolab.report.s24.printed import is_printed

Combination = tuple[str, str]
"""DNS transport and the page's requested handshake."""

BASELINE: Combination = ("doudp", "full")
IN_PAPER: Sequence[Combination] = (("doq", "zero_rtt"), ("doq", "full"), ("doh", "full"))
"""The combinations of their Fig. 8, in its order."""
LEFT_OUT: Sequence[Combination] = (("doudp", "zero_rtt"), ("doh", "zero_rtt"))
"""What 0-RTT does without DoQ: 'not investigated in this paper' (section IV-C)."""

_AS_IN_PAPER: Mapping[str, str] = {
    "http_version": "h3",
    "dns_connection_state": "cold",
    "requested_dns_handshake_mode": "full",
    "resolver_extra_rtt_ms": "0",
    "resolver_cache": "hit",
    "resolver_miss_ratio": "0",
    "replicate": "1",
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The conditions by page and profile, then by combination."""

    cells: Mapping[tuple[str, str], Mapping[Combination, Condition]]
    left_out_count: int
    """Conditions as in the paper that differ from one of `cells` in a factor the paper did not vary."""
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
        if not self.left_out_count:
            return ""
        levels = "; ".join(f"{factor} {', '.join(words)}" for factor, words in self.drawn.items())
        return (
            f" {self.left_out_count} further conditions differ in a factor the paper did not vary and are left out: "
            f"of each combination the first of the plan is drawn, with {levels}."
        )


def scope_of(plan: Plan) -> Scope:
    """Choose the first condition of the plan for every page, profile and combination of the paper's kind."""
    cells: dict[tuple[str, str], dict[Combination, Condition]] = {}
    left_out = 0
    drawn: dict[str, list[str]] = {}
    for condition in plan.conditions():
        if not _as_in_paper(condition):
            continue
        cell = cells.setdefault((condition.page, condition.profile), {})
        combination = (str(condition.dns_transport), str(condition.requested_handshake_mode))
        if combination in cell:
            left_out += 1
            for factor in _differing(condition, cell[combination]):
                word = word_of(getattr(cell[combination], factor), factor)
                drawn[factor] = list(dict.fromkeys([*drawn.get(factor, []), word]))
        else:
            cell[combination] = condition
    return Scope(cells, left_out, drawn)


def _differing(one: Condition, other: Condition) -> list[str]:
    return [factor for factor in EVERY_FACTOR if getattr(one, factor) != getattr(other, factor)]


def combination_name(combination: Combination) -> str:
    """Name a combination as figures do."""
    return combination_label(combination[0], "h3", combination[1])


def _as_in_paper(condition: Condition) -> bool:
    # A dataset's plan may be older than a factor: what it does not have is as it was in the paper.
    return is_printed(condition.page, condition.profile) and all(
        f"{getattr(condition, factor, level)}" in {level, f"{level}.0"} for factor, level in _AS_IN_PAPER.items()
    )
