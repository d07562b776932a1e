"""The elements of a timeline: tracks of slices, instants and counts, in ns of `CLOCK_MONOTONIC`.

For: types, and laying overlapping slices side by side. Not for: their content (`parts`) or a file format (`perfetto`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

Fact = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Slice:
    """An interval of time, with its sub-intervals inside."""

    name: str
    start_ns: int
    end_ns: int
    facts: Mapping[str, Fact] = field(default_factory=dict)
    inside: Sequence["Slice"] = ()
    flow: int | None = None
    """A number shared by slices of the same event, seen at two positions."""


@dataclass(frozen=True, slots=True)
class InstantEvent:
    """An event without a duration."""

    name: str
    at_ns: int


@dataclass(frozen=True, slots=True)
class Count:
    """How many of something there were from an instant on."""

    at_ns: int
    value: int


@dataclass(frozen=True, slots=True)
class Track:
    """A line of the timeline; slices in a track do not overlap, except nested slices."""

    name: str
    slices: Sequence[Slice] = ()
    moments: Sequence[InstantEvent] = ()
    counts: Sequence[Count] = ()
    tracks: Sequence["Track"] = ()


def lanes(name: str, slices: Iterable[Slice]) -> list[Track]:
    """Lay slices on as few tracks as keep them apart: each slice goes on the first track free at its start."""
    laid: list[list[Slice]] = []
    for one in sorted(slices, key=lambda one: (one.start_ns, one.end_ns)):
        free = next((lane for lane in laid if lane[-1].end_ns <= one.start_ns), None)
        if free is None:
            laid.append([one])
        else:
            free.append(one)
    return [Track(f"{name} {number}" if len(laid) > 1 else name, lane) for number, lane in enumerate(laid, 1)]
