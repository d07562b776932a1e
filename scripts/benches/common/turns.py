"""The order of a comparison's arms in a round.

For: arms measured round by round on one machine. Each round reverses the order of the round before. Drift, and traces
left by an arm, therefore affect all arms alike. Over an even number of rounds, a steady drift cancels. Not for: the
number of rounds.
"""

from collections.abc import Iterable
from typing import TypeVar

ArmT = TypeVar("ArmT")


def order_arms(arms: Iterable[ArmT], number: int) -> list[ArmT]:
    """Put the arms in the order of a round, counted from 0."""
    return list(arms)[:: -1 if number % 2 else 1]
