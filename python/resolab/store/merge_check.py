"""The check for runs of one plan, and the differences between such runs.

For: refusing an invalid merge, and reporting other differences. Not for: merging.
"""

import itertools
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import FORMAT_VERSION
from resolab.store.folder import refuse_published
from resolab.store.manifest import Manifest, RunStatus
from resolab.store.trials import find_finished_trials

_MAY_DIFFER = ("seed", "blocks")
"""Keys of a plan with influence only on the number and order of trials."""

_MAY_DIFFER_IN_NETWORK = ("vantage_point", "operator_url", "opt_out", "caps")

Run = tuple[Path, Manifest]


def check_mergeable(runs: Sequence[Run]) -> None:
    """Refuse anything but several runs of one plan."""
    if len(runs) < 2:
        raise ConfigurationError("could not merge: give two datasets or more")
    seen: dict[str, Path] = {}
    for folder, manifest in runs:
        for name in [one.dataset_id for one in manifest.merged_from] or [manifest.dataset_id]:
            if name in seen:
                raise ConfigurationError(f"could not merge {folder}: {seen[name]} holds dataset {name} too")
            seen[name] = folder
        _check_version(folder, manifest)
        refuse_published(folder, "merge")
        if not find_finished_trials(folder):
            raise ConfigurationError(f"could not merge {folder}: it holds no finished trial; leave it out")
    first, *others = runs
    for other in others:
        _check_plan(first, other)
    _check_alike(runs, "profile", lambda one: {profile.name: profile for profile in one.profiles})
    # Where runs say what their pages were: from format 1.7 on.
    _check_alike(runs, "page", lambda one: one.starts[0].pages_sha256 if one.starts else {})
    _check_alike(runs, "software", _identify_software)


def _identify_software(manifest: Manifest) -> dict[str, object]:
    started = manifest.starts[0].software if manifest.starts else {}
    return {name: entry.identity for name, entry in started.items()}


def _check_version(folder: Path, manifest: Manifest) -> None:
    if manifest.format_version.partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
        problem = f"its format is {manifest.format_version}, this resolab writes {FORMAT_VERSION}"
        raise ConfigurationError(f"could not merge {folder}: {problem}")


def _check_plan(first: Run, other: Run) -> None:
    one, two = (_reduce_live_run(_plan(*run)) for run in (first, other))
    keys = [key for key in [*one, *two] if key not in _MAY_DIFFER and one.get(key) != two.get(key)]
    if keys:
        problem = f"its plan differs from that of {first[0]} in {keys[0]!r}"
        raise ConfigurationError(f"could not merge {other[0]}: {problem}; only runs of one plan can be merged")


def _reduce_live_run(plan: dict[str, Any]) -> dict[str, Any]:
    """Leave out a live run's vantage point and operator: every trial has both, and nothing is pooled over them."""
    network = plan.get("network")
    if not isinstance(network, dict):
        return plan
    return plan | {"network": {key: value for key, value in network.items() if key not in _MAY_DIFFER_IN_NETWORK}}


def _plan(folder: Path, manifest: Manifest) -> dict[str, Any]:
    try:
        return tomllib.loads(manifest.plan_text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"failed to read the plan of {folder}: {error}; restore its manifest") from error


def _check_alike(runs: Sequence[Run], kind: str, named_in: Callable[[Manifest], Mapping[str, object]]) -> None:
    """Refuse runs with different meanings of one name, for any two of the runs."""
    known: dict[str, tuple[object, Path]] = {}
    for folder, manifest in runs:
        for name, one in named_in(manifest).items():
            other, where = known.setdefault(name, (one, folder))
            if one != other:
                problem = f"{kind} {name!r} is not the same as in {where}"
                raise ConfigurationError(f"could not merge {folder}: {problem}; their conditions mean different things")


def differences(manifests: Sequence[Manifest]) -> list[str]:
    """List other differences of the runs, one line each; readers must know these, but a merge remains valid."""
    facts = [_facts(one) for one in manifests]
    found = []
    for name in dict.fromkeys(itertools.chain.from_iterable(facts)):
        values = list(dict.fromkeys(str(one.get(name)) for one in facts))
        if len(values) > 1:
            found.append(f"the runs differ in {name}: {', '.join(values)}")
    found += [f"run {one.dataset_id} did not finish" for one in manifests if one.status is not RunStatus.FINISHED]
    return found


def _facts(manifest: Manifest) -> dict[str, Any]:
    versions = msgspec.structs.asdict(manifest.versions)
    browsers = versions.pop("browsers") or {}
    versions.pop("browser")
    facts = {f"version of {name}": version for name, version in (versions | browsers).items()}
    return {
        **facts,
        **msgspec.structs.asdict(manifest.machine),
        "git commit": manifest.git_commit,
        "resolab-core (sha256)": manifest.starts[0].resolab_core_sha256 if manifest.starts else None,
        "paths at a time": manifest.paths,
        "record format": manifest.format_version,
    }
