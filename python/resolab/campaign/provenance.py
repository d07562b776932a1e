"""The provenance of a process's trials: code, resolab-core, browsers, pages and profiles at the process's start.

For: describing the provenance at every start, listing differences from the previous start, and rejecting a resume with
changed conditions. Not for: the rest of the manifest (`manifests`).
"""

import hashlib
import time
from pathlib import Path

import resolab
from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.installation import checkout, find_core, read_packaged_commit
from resolab.lab.software.identity import describe_software
from resolab.plan import Corpus, Plan
from resolab.store import Manifest, git_commit
from resolab.store.manifest import ProcessStart

SHOWN_DIGITS = 12
"""The number of hex digits of a sha256 shown to people."""


def describe_provenance(plan: Plan, corpus: Corpus, versions: dict[str, str]) -> ProcessStart:
    """Describe the provenance of trials beginning now; `versions` are the versions of resolab-core and the browsers."""
    return ProcessStart(
        unix_ns=time.time_ns(),
        git_commit=_commit(),
        resolab_core_sha256=_core_sha256(),
        pages_sha256=_pages_sha256(plan, corpus),
        versions={"resolab": resolab.__version__, **versions},
        software=describe_software(plan.software),
    )


def _pages_sha256(plan: Plan, corpus: Corpus) -> dict[str, str]:
    """Return the digest of every page; for a site, only the digest of its URL."""
    if plan.live is not None:
        sites = plan.live.sites
        return {page: hashlib.sha256(sites[page].url.encode()).hexdigest() for page in plan.factors.page}
    return {page: _folder_sha256(corpus.page_folder(page)) for page in plan.factors.page}


def check_same_provenance(manifest: Manifest, plan: Plan, corpus: Corpus, now: ProcessStart) -> None:
    """Raise `ConfigurationError` when profiles, pages or software differ from the dataset's start."""
    for begun in manifest.profiles if plan.live is None else ():
        if begun.name in plan.factors.profile and corpus.profile(begun.name) != begun:
            raise _build_change_error("profile", begun.name)
    for page, begun_sha256 in manifest.starts[0].pages_sha256.items() if manifest.starts else ():
        if now.pages_sha256.get(page, begun_sha256) != begun_sha256:
            raise _build_change_error("page", page)
    for name, entry in manifest.starts[0].software.items() if manifest.starts else ():
        if name in now.software and now.software[name].identity != entry.identity:
            raise _build_change_error("software", name)


def list_differences(manifest: Manifest, now: ProcessStart) -> list[str]:
    """List the differences from the previous start, one line each: later trials were made with other parts."""
    if not manifest.starts:
        return []
    before, after = _facts(manifest.starts[-1]), _facts(now)
    number = len(manifest.starts)
    return [
        f"from resume {number} on, {name} is {after.get(name, 'unknown')}; before it was {before.get(name, 'unknown')}"
        for name in dict.fromkeys([*before, *after])
        if before.get(name) != after.get(name)
    ]


def _facts(start: ProcessStart) -> dict[str, str]:
    facts = {f"the version of {name}": version for name, version in start.versions.items()}
    facts["the code's git commit"] = start.git_commit or "unknown"
    facts["the binary resolab-core (sha256)"] = (start.resolab_core_sha256 or "unknown")[:SHOWN_DIGITS]
    return facts


def _build_change_error(kind: str, name: str) -> ConfigurationError:
    problem = f"{kind} {name!r} has changed since the run began; put it back, or start anew"
    return ConfigurationError(f"could not resume: {problem}")


def _commit() -> str | None:
    root = checkout()
    return git_commit(root) if root else read_packaged_commit()


def _core_sha256() -> str | None:
    try:
        with find_core().open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except (OSError, MachineError):
        return None


def _folder_sha256(folder: Path) -> str:
    """Return a digest of the names and contents of all files below a folder."""
    whole = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        content = hashlib.sha256(file.read_bytes()).hexdigest()
        whole.update(f"{file.relative_to(folder).as_posix()}\0{content}\n".encode())
    return whole.hexdigest()
