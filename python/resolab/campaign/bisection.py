"""Search for the first bad version in an ordered list of versions, by verdicts.

For: `resolab bisect`. Not for: running a version (`cli.bisect`), or verdicts (`report.verdicts`).

The first version must be met and the last not met. Each step then judges the middle of the open versions. An undecided
step ends the search: nobody knows on which side the first bad version lies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from resolab.campaign.checks.decision import Verdict


@dataclass(frozen=True, slots=True)
class Bisection:
    """The end of a search: the place of the last good and the first bad version known, from 0."""

    good: int | None
    """`None` when already the first version is not met, or is undecided."""
    bad: int | None
    """`None` when the last version is met, or is undecided."""
    undecided: int | None = None
    """The place of the undecided version that ended the search."""

    @property
    def is_found(self) -> bool:
        """True when the first bad version follows the last good version."""
        return self.good is not None and self.bad == self.good + 1


def find_first_bad(count: int, judge: Callable[[int], Verdict]) -> Bisection:
    """Search among `count` versions; `judge` runs a version by its place and returns the verdict on it."""
    if count < 2:
        raise ValueError("a search needs at least two versions")
    found = _judge_ends(count, judge)
    while found.good is not None and found.bad is not None and found.undecided is None and not found.is_found:
        middle = (found.good + found.bad) // 2
        found = _narrow(found, middle, judge(middle))
    return found


def _judge_ends(count: int, judge: Callable[[int], Verdict]) -> Bisection:
    """Judge the last version, then the first: without a bad version, one run is enough."""
    last = judge(count - 1)
    if last is not Verdict.NOT_MET:
        return Bisection(None, None, count - 1 if last is Verdict.UNDECIDED else None)
    first = judge(0)
    if first is not Verdict.MET:
        return Bisection(None, 0 if first is Verdict.NOT_MET else count - 1, 0 if first is Verdict.UNDECIDED else None)
    return Bisection(0, count - 1)


def _narrow(found: Bisection, middle: int, verdict: Verdict) -> Bisection:
    if verdict is Verdict.UNDECIDED:
        return Bisection(found.good, found.bad, middle)
    return Bisection(middle, found.bad) if verdict is Verdict.MET else Bisection(found.good, middle)


def join_verdicts(verdicts: Sequence[Verdict]) -> Verdict:
    """Return the verdict on a version: not met with any not met, met only with all met."""
    if Verdict.NOT_MET in verdicts:
        return Verdict.NOT_MET
    return Verdict.UNDECIDED if Verdict.UNDECIDED in verdicts else Verdict.MET
