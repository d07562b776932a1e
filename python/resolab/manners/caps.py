"""How much is asked of strangers at most: caps that a plan lowers, and no plan or option raises.

For: the numbers and the one way to change them. Not for: counting (`ledger`), which is done for each user and state
folder by itself.

One load at a time is no number and cannot be changed (`turn`). Why these numbers: docs/method/manners.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Self

from resolab.errors import ConfigurationError

QUERIES_PER_LOAD = 300
"""Queries that a load is taken to ask of its resolver until it has ended and they are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """Numbers of loads and queries, each within any hour, day or second."""

    loads_per_site_per_hour: int
    loads_per_site_per_day: int
    loads_per_hour: int
    """Of all sites together."""
    queries_per_resolver_per_second: int
    """Of our own client, which is paced; a browser that loads a page asks as a person's does."""
    queries_per_resolver_per_hour: int
    """The browsers' included."""

    @property
    def query_interval_ms(self) -> int:
        """Pause between two queries of our client to one resolver, in whole milliseconds."""
        return math.ceil(1000 / self.queries_per_resolver_per_second)

    def lowered(self, by: Mapping[str, object], *, where: str = "[network.caps]") -> Self:
        """Take a plan's numbers in; raises `ConfigurationError` for one that is unknown, no number or higher."""
        known = [one.name for one in fields(self)]
        for name, value in by.items():
            if name not in known:
                raise ConfigurationError(f"{where} {name!r} is no cap: give one of {', '.join(known)}")
            if not isinstance(value, int) or isinstance(value, bool) or value < _least(name):
                raise ConfigurationError(
                    f"{where} {name} = {value!r}: give a whole number from {_least(name)} to {getattr(self, name)}"
                )
            if value > getattr(self, name):
                raise ConfigurationError(
                    f"{where} {name} = {value} is above {getattr(self, name)}: a plan lowers caps and cannot raise them"
                )
        numbers = {name: value for name, value in by.items() if isinstance(value, int)}
        return replace(self, **numbers)


def _least(name: str) -> int:
    """Return the least a cap can be: below what one load may ask nothing could ever be loaded."""
    return QUERIES_PER_LOAD if name == "queries_per_resolver_per_hour" else 1


HARD_CAPS = Caps(
    loads_per_site_per_hour=60,
    loads_per_site_per_day=240,
    loads_per_hour=1_200,
    queries_per_resolver_per_second=50,
    queries_per_resolver_per_hour=20_000,
)
"""What no plan or option goes beyond, counted in one state folder."""
