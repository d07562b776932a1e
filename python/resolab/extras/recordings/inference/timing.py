"""The earliest run of scripts, the delay of their requests since then, and the document position of markup's requests.

For: turning instants of one load into causes repeatable by a clone. Unrecorded computing becomes part of `due_ms`, as
waiting instead of computing. Not for: discoverers (`discoverers`).
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.extras.recordings.inference.discoverers import DiscoveryResult
from resolab.extras.recordings.recording import RecordedExchange
from resolab.pages.model import Discovery, Kind, ScriptMode

_BY_RUNS = (Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE)
_LOW_PRIORITIES = {"low", "verylow", "lowest"}
"""Priorities of non-blocking scripts (Chromium, resource fetch priorities)."""


@dataclass(frozen=True, slots=True)
class DueTime:
    """The time of a request in a form repeatable by a clone."""

    due_ms: float | None = None
    place: float | None = None
    script_mode: ScriptMode | None = None


def dues(
    exchanges: Sequence[RecordedExchange], found: Sequence[DiscoveryResult], complete_ms: float | None
) -> list[DueTime]:
    """Compute the due time of every exchange."""
    children = _children(found)
    modes = _modes(exchanges, found, children, complete_ms)
    runs = _runs(exchanges, found, children, modes)
    made = []
    for place, (exchange, one) in enumerate(zip(exchanges, found, strict=True)):
        due = None
        if one.parent is not None and one.discovery in _BY_RUNS:
            due = max(0.0, exchange.start_ms - runs[one.parent])
        where = _place(exchange, exchanges[one.parent]) if _is_markup(one) and one.parent is not None else None
        made.append(DueTime(due, where, modes.get(place)))
    return made


def _is_markup(one: DiscoveryResult) -> bool:
    return one.discovery is Discovery.DOCUMENT


def _children(found: Sequence[DiscoveryResult]) -> Mapping[int, list[int]]:
    children: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(found):
        if one.parent is not None:
            children[one.parent].append(place)
    return children


def _modes(
    exchanges: Sequence[RecordedExchange],
    found: Sequence[DiscoveryResult],
    children: Mapping[int, list[int]],
    complete_ms: float | None,
) -> dict[int, ScriptMode]:
    """Return the scripts' modes by Chromium's priority; a script without a priority blocks its parser."""
    modes = {}
    for place, (exchange, one) in enumerate(zip(exchanges, found, strict=True)):
        if exchange.kind is not Kind.SCRIPT or not _is_markup(one):
            continue
        if exchange.is_preload:
            modes[place] = ScriptMode.DEFER
        elif (exchange.priority or "").lower() not in _LOW_PRIORITIES:
            modes[place] = ScriptMode.SYNC
        else:
            asked = [exchanges[child].start_ms for child in children.get(place, ()) if _is_found_by_run(found[child])]
            waited = complete_ms is not None and bool(asked) and min(asked) >= complete_ms
            modes[place] = ScriptMode.DEFER if waited else ScriptMode.ASYNC
    return modes


def _is_found_by_run(one: DiscoveryResult) -> bool:
    return one.discovery in _BY_RUNS


def _runs(
    exchanges: Sequence[RecordedExchange],
    found: Sequence[DiscoveryResult],
    children: Mapping[int, list[int]],
    modes: Mapping[int, ScriptMode],
) -> list[float]:
    """Return each exchange's earliest instant for discovering others, never after its first discovery."""
    runs = [exchange.end_ms for exchange in exchanges]
    held: dict[int, float] = defaultdict(float)
    for place, (exchange, one) in enumerate(zip(exchanges, found, strict=True)):
        if exchange.kind is Kind.DOCUMENT:
            runs[place] = exchange.first_byte_ms
        elif exchange.kind is Kind.STYLESHEET and _is_markup(one):
            held[one.frame] = max(held[one.frame], exchange.end_ms)
        elif modes.get(place) is ScriptMode.SYNC:
            # HTML section 4.12.1.1: after the scripts and style sheets before it.
            runs[place] = held[one.frame] = max(held[one.frame], exchange.end_ms)
        elif modes.get(place) in {ScriptMode.DEFER, ScriptMode.MODULE}:
            runs[place] = max(exchange.end_ms, exchanges[one.frame].end_ms)
        asked = [exchanges[child].start_ms for child in children.get(place, ()) if _is_found_by_run(found[child])]
        runs[place] = min([runs[place], *asked])
    return runs


def _place(exchange: RecordedExchange, document: RecordedExchange) -> float:
    receive = document.timings.receive or 0.0
    since = exchange.start_ms - document.first_byte_ms
    if receive <= 0:
        return 0.0 if since <= 0 else 1.0
    return min(1.0, max(0.0, since / receive))
