"""Page models with a single change: a host's server times, or a script's computing.

For: the experiment of `causality`; the graph (`resolab.pages.path`) gives the effect of a change. Pure. Not for:
measuring.

A clone sends a request `due_ms` after its script began, computing included, as in recordings. A script with longer
computing therefore sends its requests later by the same time.
"""

import enum
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from resolab.basics.records import LinkProfile
from resolab.pages.clone.roles import assign_roles, has_body
from resolab.pages.model import Discovery, Kind, Outcome, PageModel, Resource
from resolab.pages.path import lab_load_ms, move_to_lab

_STEP_MS = 0.01
"""A step small enough to keep the longest chain the same."""
_NAME_MOST = 32
"""Names of a clone's hosts hold 40 letters of the page's name; these must include the word of the change."""


class ModelChange(enum.StrEnum):
    """The changed part.

    The word ends the changed model's name; all words have the same length, for names of equal size.
    """

    SAME = "same"
    """No change: the baseline model."""
    SERVER_ON = "path"
    """Server times of a host on the longest path."""
    SERVER_OFF = "side"
    """Server times of a host off the longest path."""
    SCRIPT = "runs"
    """Computing of a script on the longest path."""


@dataclass(frozen=True, slots=True)
class ChangedModel:
    """A changed model with the graph's prediction."""

    change: ModelChange
    what: str
    model: PageModel
    predicted_ms: float
    """The predicted load time less the unchanged model's."""


def change_models(model: PageModel, profile: LinkProfile, *, server_ms: float, run_ms: float) -> list[ChangedModel]:
    """Change a model by every possible kind of change; the first model is unchanged except for its name.

    A change by 0 ms is skipped.
    """
    at_home = move_to_lab(model, profile)
    base_ms = lab_load_ms(at_home, profile)
    found = [ChangedModel(ModelChange.SAME, "nothing", _name_change(model, ModelChange.SAME), 0.0)]
    for change, number in _numbers(model, at_home, profile, server_ms, run_ms).items():
        is_script = change is ModelChange.SCRIPT
        changer, by_ms = (busier_script, run_ms) if is_script else (slower_host, server_ms)
        what = f"{'script ' if is_script else 'h'}{number} +{by_ms:g} ms"
        predicted_ms = lab_load_ms(changer(at_home, number, by_ms), profile) - base_ms
        found.append(ChangedModel(change, what, _name_change(changer(model, number, by_ms), change), predicted_ms))
    return found


def _numbers(
    model: PageModel, at_home: PageModel, profile: LinkProfile, server_ms: float, run_ms: float
) -> dict[ModelChange, int]:
    """Choose the host or the script's index for each change."""
    hosts = [
        _Candidate(host, *_effect(at_home, profile, host, server_ms, slower_host))
        for host in (_hosts(at_home) if server_ms else ())
    ]
    scripts = [
        _Candidate(place, *_effect(at_home, profile, place, run_ms, busier_script))
        for place in (_scripts(model) if run_ms else ())
    ]
    found = {
        ModelChange.SERVER_ON: _choose_on_path(hosts, model.resources[0].host),
        ModelChange.SERVER_OFF: _off_path(hosts, at_home),
        ModelChange.SCRIPT: _choose_on_path(scripts, None),
    }
    return {change: one.number for change, one in found.items() if one is not None}


def slower_host(model: PageModel, host: int, by_ms: float) -> PageModel:
    """Increase the server time of every answer of a host."""
    return replace(
        model,
        resources=tuple(
            replace(one, server_time_ms=one.server_time_ms + by_ms) if _is_answered_by(one, host) else one
            for one in model.resources
        ),
    )


def busier_script(model: PageModel, place: int, by_ms: float) -> PageModel:
    """Increase the computing of a script before its first request."""
    changed = list(model.resources)
    changed[place] = replace(changed[place], run_ms=changed[place].run_ms + by_ms)
    for child in _list_children(model, place):
        changed[child] = replace(changed[child], due_ms=(changed[child].due_ms or 0.0) + by_ms)
    return replace(model, resources=tuple(changed))


@dataclass(frozen=True, slots=True)
class _Candidate:
    number: int
    """The number of a host, or a script's index."""
    is_on_path: bool
    predicted_ms: float


def _effect(
    at_home: PageModel,
    profile: LinkProfile,
    number: int,
    by_ms: float,
    changer: Callable[[PageModel, int, float], PageModel],
) -> tuple[bool, float]:
    """Return True when the longest path grows with a small change, and the growth with the whole change."""
    predicted_ms = lab_load_ms(changer(at_home, number, by_ms), profile) - lab_load_ms(at_home, profile)
    return _slope(lambda ms: lab_load_ms(changer(at_home, number, ms), profile)) > 0.5, predicted_ms


def _slope(load_after: Callable[[float], float]) -> float:
    """Return the number of a change's occurrences in the longest path: one for each changed request on the path."""
    return (load_after(_STEP_MS) - load_after(0.0)) / _STEP_MS


def _choose_on_path(candidates: Sequence[_Candidate], last: int | None) -> _Candidate | None:
    """Choose the candidate with the largest effect on the path; `last`, the page's own host, as the last resort."""
    found = [one for one in candidates if one.is_on_path]
    return max(found, key=lambda one: (one.number != last, one.predicted_ms, -one.number), default=None)


def _off_path(hosts: Sequence[_Candidate], model: PageModel) -> _Candidate | None:
    """Choose a host off the path with the best cover by slack, and among equals the host with most requests."""
    found = [one for one in hosts if not one.is_on_path]
    asked = Counter(one.host for one in model.resources if not one.after_load)
    return min(found, key=lambda one: (round(one.predicted_ms), -asked[one.number], one.number), default=None)


def _hosts(model: PageModel) -> Sequence[int]:
    """List hosts with answers before the load event; `model` is in the lab."""
    return sorted({one.host for one in model.resources if not one.after_load and _is_answered_by(one, one.host)})


def _is_answered_by(one: Resource, host: int) -> bool:
    return one.host == host and one.outcome is Outcome.ANSWERED


def _scripts(model: PageModel) -> Iterator[int]:
    """List scripts running before the load event, with the model's requests also in the clone."""
    roles = assign_roles(model)
    for place, one in enumerate(model.resources):
        runs = one.kind is Kind.SCRIPT and has_body(one) and not one.after_load
        if runs and set(roles[place].runs) == set(_list_children(model, place)):
            yield place


def _list_children(model: PageModel, place: int) -> Sequence[int]:
    return [
        child for child, one in enumerate(model.resources) if one.parent == place and one.discovery is Discovery.SCRIPT
    ]


def _name_change(model: PageModel, change: ModelChange) -> PageModel:
    return replace(model, name=f"{model.name[:_NAME_MOST]}-{change.value}")
