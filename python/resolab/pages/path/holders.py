"""What a script had to wait for beside itself before it could run.

For: the one place that knows it, for paths of loads and for estimates. Not for: who asked for what (`model.parent`).

A script that holds its parser up runs after the scripts and style sheets before it in its document; a deferred one
after the document (HTML, sections 4.12.1.1 and 13.2.7). What came after the script had asked for something in the
recording cannot have held it up, whatever its markup said.
"""

from collections import defaultdict
from collections.abc import Sequence

from resolab.pages.model import Discovery, Kind, PageModel, Resource, ScriptMode

BY_RUNS = (Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE)


def holders_of(model: PageModel) -> dict[int, tuple[int, ...]]:
    """List, by place of a script that asked for something, what it waited for beside itself, by place."""
    asked: dict[int, float] = {}
    for one in model.resources:
        if one.parent is not None and one.discovery is Discovery.SCRIPT:
            asked[one.parent] = min(asked.get(one.parent, one.start_ms), one.start_ms)
    holding: dict[int, list[int]] = defaultdict(list)
    found = {}
    for place, one in enumerate(model.resources):
        if place in asked and one.script_mode is not None:
            candidates = _candidates(one, holding[one.frame])
            there = [it for it in candidates if recorded_end_ms(model.resources[it]) <= asked[place]]
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


def recorded_end_ms(one: Resource) -> float:
    """Return when its last byte came in the recording."""
    return one.start_ms if one.first_byte_ms is None else one.first_byte_ms + one.receive_ms
