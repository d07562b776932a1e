"""Check a run against an agent: no path in the plan, and the run's code, pages and browsers.

For: the agent's own check before any work on a job. Not for: its operator's limits (`limits`).
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from resolab.basics.errors import ConfigurationError
from resolab.campaign.manifests import versions_now
from resolab.campaign.provenance import describe_provenance
from resolab.extras.fleet.job import FleetRun
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.pages.own_pages import is_path
from resolab.store.manifest import ProcessStart

NOWHERE = Path("/nonexistent")
"""The base of a plan's relative paths, should a path get this far."""
_SHOWN_DIGITS = 12


def read_plan(run: FleetRun) -> Plan:
    """Return a run's plan; raise when the plan names a file or a program of this machine."""
    source = f"the plan of run {run.id}"
    path = find_path(run.plan_text, source)
    if path is not None:
        raise ConfigurationError(f"{source} names {path}: what a fleet carries out names no file of a machine")
    return parse_plan(run.plan_text, source, Corpus.from_project(), base=NOWHERE)


def find_path(text: str, source: str) -> str | None:
    """Return a path or a program in a plan's text, before any file is opened; `None` without either."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{source}: {error}; it is no TOML") from error
    pages = _read_section(table, "factors").get("page", [])
    words = [one for one in (pages if isinstance(pages, list) else [pages]) if isinstance(one, str)]
    for word in words:
        if is_path(word):
            return f"the page {word}"
    for kind in ("browser", "software"):
        programs = _read_section(table, kind)
        if programs:
            return f"the {kind} {next(iter(programs))}"
    listed = _read_section(table, "sites").get("list")
    if listed is not None:
        return f"the list {listed}"
    opt_out = _read_section(table, "network").get("opt_out")
    if isinstance(opt_out, str) and urlsplit(opt_out).scheme not in {"https", "http"}:
        return f"the opt-out list {opt_out}"
    return None


def _read_section(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = table.get(name, {})
    return section if isinstance(section, dict) else {}


def find_own_provenance(plan: Plan) -> ProcessStart:
    """Return the current provenance of a plan's trials on this machine."""
    return describe_provenance(plan, Corpus.from_project(plan.own_pages), versions_now(plan))


def find_provenance_difference(run: FleetRun, own: ProcessStart) -> str | None:
    """Return the difference between this machine and a run's start in a line; `None` without a difference.

    The binary's digest is ignored: the same code built on another machine is another binary.
    """
    begun = run.ground
    for name, version in begun.versions.items():
        here = own.versions.get(name)
        if here != version:
            return f"run {run.id} is for {name} {version}, here is {here or 'none'}"
    if begun.git_commit != own.git_commit:
        return f"run {run.id} is for commit {_short(begun.git_commit)}, here is {_short(own.git_commit)}"
    for page, digest in begun.pages_sha256.items():
        here = own.pages_sha256.get(page)
        if here != digest:
            return f"page {page} of run {run.id} is another one here: {_short(here)} for {_short(digest)}"
    return None


def _short(digest: str | None) -> str:
    if digest is None:
        return "unknown"
    commit, plus, changes = digest.partition("+")
    return commit[:_SHOWN_DIGITS] + plus + changes
