"""The caps on loads of and queries to strangers; a plan lowers caps, and no plan or option raises them.

For: the numbers and the only way to change the numbers. Not for: counting (`ledger`), done for each user and state
folder separately.

One load at a time is a fixed rule without a number (`turn`). Reasons for the numbers: docs/method/manners.md.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Self

from resolab.basics.errors import ConfigurationError

QUERIES_PER_LOAD = 300
"""The number of queries reserved for a load at its resolver, until the load has ended and the queries are counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """The caps on loads and queries, each within any hour, day or second."""

    loads_per_site_per_hour: int
    loads_per_site_per_day: int
    loads_per_hour: int
    """The cap on loads of all sites together."""
    queries_per_resolver_per_second: int
    """The cap on our own client's queries, sent with pauses. A browser loading a page asks like a person's browser."""
    queries_per_resolver_per_hour: int
    """The cap on queries to a resolver, including the browsers' queries."""

    @property
    def query_interval_ms(self) -> int:
        """Return the pause between two queries of our client to the same resolver, in whole milliseconds."""
        return math.ceil(1000 / self.queries_per_resolver_per_second)

    def lower(self, by: Mapping[str, object], *, where: str = "[network.caps]") -> Self:
        """Apply a plan's lower caps; raises `ConfigurationError` for an unknown, non-numeric or higher cap."""
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
    """Return the least value of a cap: with less than the queries of a single load, no load could ever run."""
    return QUERIES_PER_LOAD if name == "queries_per_resolver_per_hour" else 1


HARD_CAPS = Caps(
    loads_per_site_per_hour=60,
    loads_per_site_per_day=240,
    loads_per_hour=1_200,
    queries_per_resolver_per_second=50,
    queries_per_resolver_per_hour=20_000,
)
"""The upper limits for every plan and option, counted in each state folder."""
