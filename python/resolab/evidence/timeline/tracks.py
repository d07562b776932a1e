"""What a timeline consists of: tracks of slices, instants and counts, `CLOCK_MONOTONIC` in ns.

For: shapes, and laying slices that overlap side by side. Not for: what they show (`parts`) or a file format
(`perfetto`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Fact = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Slice:
    """Something that took time, with what it consisted of inside."""

    name: str
    start_ns: int
    end_ns: int
    facts: Mapping[str, Fact] = field(default_factory=dict)
    inside: Sequence["Slice"] = ()
    flow: int | None = None
    """The same number on slices that are one thing seen from two places."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that took no time."""

    name: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Count:
    """How many of something there were from an instant on."""

    at_ns: int
    value: int


@dataclass(frozen=True, slots=True)
class Track:
    """A line of the timeline; its slices do not overlap, except one inside another."""

    name: str
    slices: Sequence[Slice] = ()
    moments: Sequence[Moment] = ()
    counts: Sequence[Count] = ()
    tracks: Sequence["Track"] = ()


def lanes(name: str, slices: Iterable[Slice]) -> list[Track]:
    """Lay slices on as few tracks as keep them apart: each goes on the first that is free when it begins."""
    laid: list[list[Slice]] = []
    for one in sorted(slices, key=lambda one: (one.start_ns, one.end_ns)):
        free = next((lane for lane in laid if lane[-1].end_ns <= one.start_ns), None)
        if free is None:
            laid.append([one])
        else:
            free.append(one)
    return [Track(f"{name} {number}" if len(laid) > 1 else name, lane) for number, lane in enumerate(laid, 1)]
