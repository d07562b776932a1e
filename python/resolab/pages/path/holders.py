"""The blockers of a script: requests the script had to wait for before its run.

For: the only knowledge of the rule, for paths of loads and for estimates. Not for: discoverers (`model.parent`).

A parser-blocking script runs after the earlier scripts and style sheets of its document; a deferred script after the
document (HTML, sections 4.12.1.1 and 13.2.7). A request with an arrival after the script's first request in the
recording cannot have blocked the script, with any markup.
"""

from collections import defaultdict
from collections.abc import Sequence

from resolab.pages.model import Discovery, Kind, PageModel, Resource, ScriptMode

BY_RUNS = (Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE)


def list_blockers(model: PageModel) -> dict[int, tuple[int, ...]]:
    """List the blockers, by index, for each script with a request, by the script's index."""
    asked: dict[int, float] = {}
    for one in model.resources:
        if one.parent is not None and one.discovery is Discovery.SCRIPT:
            asked[one.parent] = min(asked.get(one.parent, one.start_ms), one.start_ms)
    holding: dict[int, list[int]] = defaultdict(list)
    found = {}
    for place, one in enumerate(model.resources):
        if place in asked and one.script_mode is not None:
            candidates = _candidates(one, holding[one.frame])
            there = [it for it in candidates if compute_recorded_end_ms(model.resources[it]) <= asked[place]]
            if there:
                found[place] = tuple(there)
        if _holds(one):
            holding[one.frame].append(place)
    return found


def _candidates(one: Resource, holding: Sequence[int]) -> Sequence[int]:
    if one.script_mode is ScriptMode.SYNC:
        return holding
    return (one.frame,) if one.script_mode in {ScriptMode.DEFER, ScriptMode.MODULE} else ()


def _holds(one: Resource) -> bool:
    is_markup = one.discovery is Discovery.DOCUMENT
    return is_markup and (one.kind is Kind.STYLESHEET or one.script_mode is ScriptMode.SYNC)


def compute_recorded_end_ms(one: Resource) -> float:
    """Return the arrival of a request's last byte in the recording, in ms."""
    return one.start_ms if one.first_byte_ms is None else one.first_byte_ms + one.receive_ms
