"""The circumstances of two datasets side by side: programs, machine, plan and the instrument's own readings.

For: differences possibly explaining a change. Not for: the change (`changes`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum

import msgspec

from resolab.plan import Plan
from resolab.store import Dataset, Manifest

_LATENESS_TABLE = "path_summaries"
_NOT_PUBLISHED = f"not published: no table {_LATENESS_TABLE}"
_PLAN_WORDS = ("name", "question", "source_text", "seed", "blocks", "factors", "comparison_rules")


@dataclass(frozen=True, slots=True)
class FactDifference:
    """A fact in both datasets; readings differ between any two runs, settings only after a change."""

    what: str
    first: str
    second: str
    is_reading: bool = False


def list_fact_differences(datasets: tuple[Dataset, Dataset], plans: tuple[Plan, Plan]) -> list[FactDifference]:
    """List the different settings, then the readings of both."""
    sides = [dict(_settings(dataset.manifest, plan)) for dataset, plan in zip(datasets, plans, strict=True)]
    names = dict.fromkeys((*sides[0], *sides[1]))
    found = [FactDifference(name, sides[0].get(name, "none"), sides[1].get(name, "none")) for name in names]
    readings = [dict(_readings(dataset)) for dataset in datasets]
    both = dict.fromkeys((*readings[0], *readings[1]))
    absent = [_NOT_PUBLISHED if _LATENESS_TABLE in dataset.missing_tables else "none" for dataset in datasets]
    if absent == [_NOT_PUBLISHED, _NOT_PUBLISHED]:
        both["lateness p99"] = None
    return [one for one in found if one.first != one.second] + [
        FactDifference(name, readings[0].get(name, absent[0]), readings[1].get(name, absent[1]), is_reading=True)
        for name in both
    ]


def _settings(manifest: Manifest, plan: Plan) -> Iterator[tuple[str, str]]:
    versions, machine = manifest.versions, manifest.machine
    yield "resolab", f"{versions.resolab}, git {manifest.git_commit or 'unknown'}"
    yield "resolab-core", versions.resolab_core or "unknown"
    yield from (versions.browsers or {"browser": versions.browser or "none"}).items()
    yield "Python", versions.python
    yield "kernel", f"{machine.kernel} ({machine.architecture})"
    yield "processor", f"{machine.processor or 'unknown'}, {machine.cores_count} cores"
    yield "memory", "unknown" if machine.memory_bytes is None else f"{machine.memory_bytes / 2**30:.1f} GiB"
    yield "TCP congestion control", machine.tcp_congestion_control or "unknown"
    yield "record format", manifest.format_version
    yield "plan", manifest.plan
    yield "seed", str(manifest.seed)
    yield "blocks", str(manifest.blocks)
    for profile in manifest.profiles:
        yield from _facts(f"profile {profile.name}", {"up": profile.up, "down": profile.down})
    for factor in plan.factors.levels:
        yield factor, ", ".join(plan.words(factor))
    for one in fields(plan):
        if one.name not in _PLAN_WORDS:
            yield from _facts(f"plan's {one.name.replace('_', ' ')}", getattr(plan, one.name))


def _facts(what: str, value: object) -> Iterator[tuple[str, str]]:
    """Split a compound value recursively into single words and numbers."""
    if is_dataclass(value) and not isinstance(value, type):
        parts: Mapping[object, object] = {one.name: getattr(value, one.name) for one in fields(value)}
    elif isinstance(value, msgspec.Struct):
        parts = {name: getattr(value, name) for name in value.__struct_fields__}
    elif isinstance(value, Mapping):
        parts = value
    elif isinstance(value, Sequence) and not isinstance(value, str):
        plain = all(one is None or isinstance(one, (str, int, float)) for one in value)
        parts = {} if plain else dict(enumerate(value, 1))
        if plain:
            yield what, ", ".join(map(_word, value)) or "none"
    else:
        yield what, _word(value)
        return
    for name, part in parts.items():
        yield from _facts(f"{what}, {_word(name).replace('_', ' ')}", part)


def _word(value: object) -> str:
    return "none" if value is None else str(value.value) if isinstance(value, Enum) else str(value)


def _readings(dataset: Dataset) -> Iterator[tuple[str, str]]:
    manifest = dataset.manifest
    yield "trials", f"{manifest.trials_finished_count} of {manifest.trials_planned_count}, {manifest.status}"
    yield "load average", f"{_load(manifest.load_average_start)} to {_load(manifest.load_average_end)}"
    yield "instrument failures", str(manifest.instrument_failures_count)
    yield "flags", str(sum(one.count for one in dataset.flags()))
    for one in dataset.lateness():
        if one.lateness_p99_median_ns is not None:
            yield f"lateness p99, {one.profile}, {one.browser}", f"{one.lateness_p99_median_ns / 1e3:.0f} us"


def _load(load_average: float | None) -> str:
    return "unknown" if load_average is None else f"{load_average:.2f}"
