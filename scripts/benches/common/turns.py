"""Whose turn it is: the arms of a comparison in the order of a round.

For: arms that are measured round by round on one machine. Each round goes the other way than the one before it, so that
what drifts, or what one arm leaves behind, falls on all alike; of an even number of rounds a steady drift falls out
whole. Not for: how many rounds there are.
"""

from collections.abc import Iterable
from typing import TypeVar

ArmT = TypeVar("ArmT")


def of_round(arms: Iterable[ArmT], number: int) -> list[ArmT]:
    """Put the arms in the order of a round, counted from 0."""
    return list(arms)[:: -1 if number % 2 else 1]
