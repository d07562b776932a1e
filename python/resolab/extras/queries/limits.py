"""Limits of a monitor on resolvers: `failed>1%`, `p90>50ms`. Not for: the reaction to an exceeded limit."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolab.basics.errors import UsageError

if TYPE_CHECKING:
    from resolab.extras.queries.summary import ArmSummary, ResponseTimeSummary

_SHAPE = re.compile(r"\s*([a-z0-9]+)\s*([<>])\s*([0-9.]+)\s*(%|us|ms|s)?\s*")
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_TIMES: Mapping[str, Callable[["ResponseTimeSummary"], float]] = {
    "median": lambda one: one.median,
    "p10": lambda one: one.p10,
    "p90": lambda one: one.p90,
    "min": lambda one: one.least,
    "max": lambda one: one.most,
}
KNOWN = ("failed", *_TIMES)


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit: the text as typed, and the parsed values."""

    text: str
    name: str
    above: bool
    value: float
    """Milliseconds; of `failed` a share, or a count."""
    is_share: bool

    def holds(self, one: "ArmSummary") -> bool:
        """Return True when a resolver's queries exceed the limit; without any measured time, every time is too long."""
        found = self._find_value(one)
        return found > self.value if self.above else found < self.value

    def _find_value(self, one: "ArmSummary") -> float:
        if self.name == "failed":
            failed = one.failures.total()
            return failed / one.count if self.is_share else failed
        return float("inf") if one.times is None else _TIMES[self.name](one.times)


def limit(text: str) -> Limit:
    """Parse a limit from the command line."""
    read = _SHAPE.fullmatch(text)
    if read is None or read[1] not in KNOWN:
        raise UsageError(f"--fail {text!r}: give one of {', '.join(KNOWN)}, < or >, and a value: p90>50ms, failed>1%")
    name, sign, number, unit = read.groups()
    is_time = name in _TIMES
    if (unit in _MS) is not is_time:
        wanted = "a time in us, ms or s" if is_time else "a number of queries, or their share in %"
        raise UsageError(f"--fail {text!r}: {name} is {wanted}")
    try:
        value = float(number)
    except ValueError:
        raise UsageError(f"--fail {text!r}: {number} is no number") from None
    scale = _MS[unit] if is_time else 0.01 if unit == "%" else 1
    return Limit(text.strip(), name, sign == ">", value * scale, unit == "%")


def list_exceeded(limits: Sequence[Limit], summaries: Sequence["ArmSummary"]) -> list[str]:
    """Return the exceeded limits with their resolvers, one line each."""
    return [
        f"{one.arm.resolver}{' (opening)' if one.arm.opening else ''}: {limit.text}"
        for one in summaries
        for limit in limits
        if limit.holds(one)
    ]
