"""Page models changed in one thing, and which thing: a host's server times, a script's computing.

For: the experiment of `causality`; what a change does to a load is asked of the graph (`resolab.pages.path`). Pure.
Not for: measuring.

A clone asks `due_ms` after its script began, computing included, as recordings have it: so a script that computes
longer also asks for what it asks for later by as much.
"""

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from resolab.pages.clone.roles import has_body, roles_of
from resolab.pages.model import Discovery, Kind, Outcome, PageModel, Resource
from resolab.pages.path import in_lab, lab_load_ms
from resolab.records import LinkProfile

_STEP_MS = 0.01
"""Small enough that no other chain becomes the longest."""
_NAME_MOST = 32
"""Names of a clone's hosts hold 40 letters of the page's; what tells the changed ones apart must be among them."""


class Change(enum.StrEnum):
    """What is changed; its word ends the changed model's name, all of one length so that names weigh the same."""

    SAME = "same"
    """Nothing: the model that the others are held against."""
    SERVER_ON = "path"
    """Server times of a host on the longest path."""
    SERVER_OFF = "side"
    """Server times of a host that is not on it."""
    SCRIPT = "runs"
    """Computing of a script on the longest path."""


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed model with what the graph says of it."""

    change: Change
    what: str
    model: PageModel
    predicted_ms: float
    """Load time beside the unchanged model's."""


def changed_models(model: PageModel, profile: LinkProfile, *, server_ms: float, run_ms: float) -> list[Changed]:
    """Change a model in each way that it has a host or script for; the first is unchanged but for its name.

    A change by 0 ms is none.
    """
    at_home = in_lab(model, profile)
    base_ms = lab_load_ms(at_home, profile)
    found = [Changed(Change.SAME, "nothing", _named(model, Change.SAME), 0.0)]
    for change, number in _numbers(model, at_home, profile, server_ms, run_ms).items():
        is_script = change is Change.SCRIPT
        changer, by_ms = (busier_script, run_ms) if is_script else (slower_host, server_ms)
        what = f"{'script ' if is_script else 'h'}{number} +{by_ms:g} ms"
        predicted_ms = lab_load_ms(changer(at_home, number, by_ms), profile) - base_ms
        found.append(Changed(change, what, _named(changer(model, number, by_ms), change), predicted_ms))
    return found


def _numbers(
    model: PageModel, at_home: PageModel, profile: LinkProfile, server_ms: float, run_ms: float
) -> dict[Change, int]:
    """Choose the host or the script's place of each change."""
    hosts = [
        _Candidate(host, *_effect(at_home, profile, host, server_ms, slower_host))
        for host in (_hosts(at_home) if server_ms else ())
    ]
    scripts = [
        _Candidate(place, *_effect(at_home, profile, place, run_ms, busier_script))
        for place in (_scripts(model) if run_ms else ())
    ]
    found = {
        Change.SERVER_ON: _on_path(hosts, model.resources[0].host),
        Change.SERVER_OFF: _off_path(hosts, at_home),
        Change.SCRIPT: _on_path(scripts, None),
    }
    return {change: one.number for change, one in found.items() if one is not None}


def slower_host(model: PageModel, host: int, by_ms: float) -> PageModel:
    """Let every answer of a host take longer at its server."""
    return replace(
        model,
        resources=tuple(
            replace(one, server_time_ms=one.server_time_ms + by_ms) if _is_answered_by(one, host) else one
            for one in model.resources
        ),
    )


def busier_script(model: PageModel, place: int, by_ms: float) -> PageModel:
    """Let a script compute longer, before it asks for anything."""
    changed = list(model.resources)
    changed[place] = replace(changed[place], run_ms=changed[place].run_ms + by_ms)
    for child in _asked_by(model, place):
        changed[child] = replace(changed[child], due_ms=(changed[child].due_ms or 0.0) + by_ms)
    return replace(model, resources=tuple(changed))


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int
    """Of a host, or a script's place."""
    is_on_path: bool
    predicted_ms: float


def _effect(
    at_home: PageModel,
    profile: LinkProfile,
    number: int,
    by_ms: float,
    changer: Callable[[PageModel, int, float], PageModel],
) -> tuple[bool, float]:
    """Say whether the longest path grows with a change at once, and by how much with all of it."""
    predicted_ms = lab_load_ms(changer(at_home, number, by_ms), profile) - lab_load_ms(at_home, profile)
    return _slope(lambda ms: lab_load_ms(changer(at_home, number, ms), profile)) > 0.5, predicted_ms


def _slope(load_after: Callable[[float], float]) -> float:
    """Tell how often a change counts in the longest path: once for each of its requests that has it."""
    return (load_after(_STEP_MS) - load_after(0.0)) / _STEP_MS


def _on_path(candidates: Sequence[_Candidate], last: int | None) -> _Candidate | None:
    """Choose what counts most of what is on the path; `last`, the page's own host, only if there is no other."""
    found = [one for one in candidates if one.is_on_path]
    return max(found, key=lambda one: (one.number != last, one.predicted_ms, -one.number), default=None)


def _off_path(hosts: Sequence[_Candidate], model: PageModel) -> _Candidate | None:
    """Choose a host off the path that slack covers best, and of these the one with most to do."""
    found = [one for one in hosts if not one.is_on_path]
    asked = Counter(one.host for one in model.resources if not one.after_load)
    return min(found, key=lambda one: (round(one.predicted_ms), -asked[one.number], one.number), default=None)


def _hosts(model: PageModel) -> Sequence[int]:
    """List hosts that answer something the load event may wait for; `model` is in the lab."""
    return sorted({one.host for one in model.resources if not one.after_load and _is_answered_by(one, one.host)})


def _is_answered_by(one: Resource, host: int) -> bool:
    return one.host == host and one.outcome is Outcome.ANSWERED


def _scripts(model: PageModel) -> Iterator[int]:
    """List scripts that run before the load event and in the clone, too, ask for what the model says."""
    roles = roles_of(model)
    for place, one in enumerate(model.resources):
        runs = one.kind is Kind.SCRIPT and has_body(one) and not one.after_load
        if runs and set(roles[place].runs) == set(_asked_by(model, place)):
            yield place


def _asked_by(model: PageModel, place: int) -> Sequence[int]:
    return [
        child for child, one in enumerate(model.resources) if one.parent == place and one.discovery is Discovery.SCRIPT
    ]


def _named(model: PageModel, change: Change) -> PageModel:
    return replace(model, name=f"{model.name[:_NAME_MOST]}-{change.value}")
