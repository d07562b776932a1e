"""The manifest: a campaign's plan, machine, programs and progress.

For: the dataset's own description, written whole each time. Not for: any measured value.
"""

import contextlib
import enum
import os
import platform
import re
import subprocess
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import FORMAT_VERSION, BrowserKind, LinkProfile, PathBackend
from resolab.plan import DecisionCriterion
from resolab.store.environment import Environment
from resolab.store.files import write_whole
from resolab.store.folder import MANIFEST, PLAN, dataset_folder

_DATASET_ID = re.compile(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*")
"""The pattern for safe dataset ids, unable to leave a folder: a merge uses the id in file names."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class RunStatus(enum.StrEnum):
    """The progress of a campaign."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class StopReason(enum.StrEnum):
    """The reason for a campaign's end."""

    PRECISION = "precision"
    """Every comparison's interval is as narrow as the plan asked."""
    DECIDED = "decided"
    """Every comparison is decided by its confidence sequence."""
    CAP = "cap"
    """All blocks are done."""
    INTERRUPTED = "interrupted"
    """Interrupted by a signal or an error; the campaign can be resumed."""


class IntervalWidth(msgspec.Struct, kw_only=True, frozen=True):
    """The width of one comparison's interval at the campaign's last interim analysis."""

    name: str
    treatment: str
    """Identifier of the condition, as of `baseline`."""
    baseline: str
    ci_width_ms: float | None = None
    """The width for the paired difference, if requested by the plan; `None` also without an interval or for an
    unbounded interval."""
    ci_width_ratio: float | None = None
    """The width for the relative change, under the same rules."""


class Decision(msgspec.Struct, kw_only=True, frozen=True):
    """The decision about one comparison, in a plan with confidence sequences."""

    name: str
    treatment: str
    """Identifier of the condition, as of `baseline`."""
    baseline: str
    after_blocks: int | None
    """Number of blocks before the decision; `None`: undecided."""
    reasons: list[DecisionCriterion]
    """All criteria met at the decision."""
    pairs_count: int
    """Number of pairs at the decision or, if undecided, at the last interim analysis. The same holds for the ends of
    the interval, `None` if unbounded."""
    ci_low_ms: float | None = None
    ci_high_ms: float | None = None


class Versions(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=False):
    """Programs with influence on the numbers; `None` for a program without a part."""

    resolab: str
    resolab_core: str | None = None
    browser: str | None = None
    """The first browser used; alone in manifests before format 1.5."""
    browsers: dict[str, str] = {}
    """Version of every browser used, by the browser's name."""
    python: str = platform.python_version()


class BrowserProgram(msgspec.Struct, kw_only=True, frozen=True):
    """The program of a browser in a plan with own builds."""

    kind: BrowserKind
    path: str
    version: str
    """The program's own version text."""
    hashed_file: str
    """The file with the browser's code: the program, or Firefox's `libxul.so` beside the program."""
    sha256: str
    """The digest of `hashed_file`, in hex."""


class Machine(msgspec.Struct, kw_only=True, frozen=True):
    """The machine of a campaign."""

    kernel: str
    architecture: str
    cores_count: int
    processor: str | None = None
    memory_bytes: int | None = None
    tcp_congestion_control: str | None = None
    """The congestion control of the hosts' TCP: the kernel's own default, valid in both network namespaces."""


class MergedRun(msgspec.Struct, kw_only=True, frozen=True):
    """A run in a merged dataset, with the trials of `blocks` blocks from `first_block` on."""

    dataset_id: str
    first_block: int
    blocks: int
    seed: int
    trials_finished_count: int
    created_unix_ns: int
    status: RunStatus


class SoftwareEntry(msgspec.Struct, kw_only=True, frozen=True):
    """One software of the plan (`[software.NAME]`), from format 1.25 on."""

    program: str
    """The path of the program."""
    program_sha256: str
    version: str | None = None
    """The first line of the program's words about its version; `None`: it was not asked, or did not tell."""
    template: str | None = None
    cache: str
    """The cache at the begin of a trial: `warm` or `cold`."""
    transports: list[str]
    command: list[str] = []
    """The command with placeholders."""
    configuration: str
    """The configuration with placeholders."""

    @property
    def identity(self) -> tuple[str, tuple[str, ...], str, str]:
        """Return the facts that make two programs the same software: code, arguments, configuration and cache.

        The same program may have another path.
        """
        return self.program_sha256, tuple(self.command[1:]), self.configuration, self.cache


class ProcessStart(msgspec.Struct, kw_only=True, frozen=True):
    """The programs and pages of trials, from one start of a run's process to the next."""

    unix_ns: int
    git_commit: str | None = None
    """Commit of the checkout; `+changes` is appended if files differed from the commit."""
    resolab_core_sha256: str | None = None
    """Hash of the binary; `None` without a binary."""
    pages_sha256: dict[str, str] = {}
    """Hash of every page of the plan: names and contents of all files in the page's folder."""
    versions: dict[str, str] = {}
    """Versions of resolab, resolab-core and every browser, by name."""
    software: dict[str, SoftwareEntry] = {}
    """The plan's own software, by name."""


class LiveSiteEntry(msgspec.Struct, kw_only=True, frozen=True):
    """One site of a live run."""

    page: str
    """The site's name in conditions."""
    url: str
    rank: int | None = None
    """The site's rank in the list; `None`: the plan named the site."""


class LiveRun(msgspec.Struct, kw_only=True, frozen=True):
    """The additional settings of a live run, from format 1.12 on."""

    vantage_point: str
    operator_url: str
    opt_out: str | None = None
    """The source of the opt-out list (domains never to be contacted), fetched before each block."""
    sites: list[LiveSiteEntry]
    list_id: str | None = None
    """Id of the list for drawing sites; `None`: the plan named the sites, as with the other three fields."""
    list_sha256: str | None = None
    list_ranks: list[tuple[int, int]] = []
    list_sample: int | None = None
    """Number of drawn sites; `None`: all of these ranks."""
    resolvers: dict[str, dict[str, str]]
    """Addresses by name and transport, as in the plan."""
    caps: dict[str, int]
    """The limits in force."""


class Manifest(msgspec.Struct, kw_only=True, frozen=True):
    """The content of `manifest.json`."""

    format_version: str
    dataset_id: str
    plan: str
    """The name of the plan."""
    plan_text: str
    plan_folder: str | None = None
    """The folder for relative paths of the plan's own pages and software; `None` without both."""
    seed: int
    blocks: int
    profiles: list[LinkProfile]
    """The applied access profiles, so the dataset alone gives the round trips."""
    created_unix_ns: int
    command_line: list[str]
    versions: Versions
    machine: Machine
    browser_programs: dict[str, BrowserProgram] = {}
    """Program of every browser by name, for a plan with own builds (`[browser.NAME]`)."""
    git_commit: str | None = None
    load_average_start: float | None = None
    load_average_end: float | None = None
    ended_unix_ns: int | None = None
    paths: int = 1
    """Number of emulated paths for simultaneous trials: the plan's number or, after links were late too often, 1."""
    backend: PathBackend = PathBackend.TUN
    """The backend between the hosts and the link model."""
    live: LiveRun | None = None
    """`None`: a run in the lab."""
    vantage_point: str | None = None
    """The vantage point of the trials; `None` before format 1.13 and for several vantage points."""
    fleet_run: str | None = None
    """The fleet's run of this dataset; `None` without a fleet."""
    resume_count: int = 0
    status: RunStatus = RunStatus.RUNNING
    trials_planned_count: int = 0
    trials_finished_count: int = 0
    instrument_failures_count: int = 0
    """Number of failures of the instrument itself; each time a trial was discarded and repeated on a new testbed."""
    stop_reason: StopReason | None = None
    """`None` while running, for merged runs, and in manifests before format 1.6."""
    blocks_finished_count: int | None = None
    """Number of blocks with every trial finished."""
    widths_reached: list[IntervalWidth] = []
    """The widths at the last interim analysis, for a plan with a stopping rule."""
    decisions: list[Decision] = []
    """The decisions of a plan with confidence sequences, at the last interim analysis; from format 1.8 on."""
    environment_start: Environment | None = None
    """The environment at the campaign's beginning."""
    environment_end: Environment | None = None
    """The environment at the last end of the process running trials; shares of time are this process's."""
    starts: list[ProcessStart] = []
    """One entry for the beginning and one for each resume; for merged runs one, with their pages; empty before format
    1.7."""
    merged_from: list[MergedRun] = []
    """The merged runs, in the order of their blocks; empty for a single run."""
    warnings: list[str] = []
    """Warnings for the reader, such as different versions in merged runs."""

    def pages(self) -> list[str] | None:
        """Return the pages at the run's beginning; `None` for an older run without this information."""
        return list(self.starts[0].pages_sha256) if self.starts and self.starts[0].pages_sha256 else None


def dataset_id(plan_name: str, suffix: str) -> str:
    """Return a dataset's id from its plan's name, without characters invalid in a file's name."""
    return f"{_NOT_IN_NAMES.sub('-', plan_name).strip('.-') or 'plan'}-{suffix}"


def save_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, the plan beside it; a reader finds the old manifest or the new."""
    plan = folder / PLAN
    if not plan.exists():
        write_whole(plan, manifest.plan_text.encode(), of_run=True)
    text = msgspec.json.format(msgspec.json.encode(manifest), indent=2)
    write_whole(folder / MANIFEST, text + b"\n", of_run=True)


def load_manifest(folder: Path) -> Manifest:
    """Read the manifest of a dataset."""
    file = dataset_folder(folder) / MANIFEST
    try:
        manifest = msgspec.json.decode(file.read_bytes(), type=Manifest)
    except (OSError, UnicodeDecodeError, msgspec.MsgspecError) as error:
        hint = "restore it from a copy of the dataset"
        raise ConfigurationError(f"failed to read {file}: {error}; {hint}") from error
    if not _DATASET_ID.fullmatch(manifest.dataset_id):
        problem = f"its dataset_id {manifest.dataset_id!r} is no name of a file"
        raise ConfigurationError(f"failed to read {file}: {problem}; give it one without slashes and leading dots")
    if manifest.format_version.partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
        hint = f"this resolab reads {FORMAT_VERSION}; use the version that wrote it"
        raise ConfigurationError(f"failed to read {file}: its format is {manifest.format_version}; {hint}")
    return manifest


def describe_machine() -> Machine:
    """Describe the machine this runs on."""
    system = platform.uname()
    return Machine(
        kernel=f"{system.system} {system.release}",
        architecture=system.machine,
        cores_count=len(os.sched_getaffinity(0)),
        processor=_processor(),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        tcp_congestion_control=_congestion_control(),
    )


def _congestion_control() -> str | None:
    """Return the kernel's default congestion control, inherited by a new network namespace."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text("utf-8").strip()
    return None


def _processor() -> str | None:
    """Return the model name of the first processor, or `None` when the kernel has no name."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def git_commit(root: Path) -> str | None:
    """Return the checkout's commit, with `+changes` if files differ from it; `None` outside a checkout."""
    try:
        head = subprocess.run(
            ["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=True, timeout=5
        )
        status = subprocess.run(
            ["git", "-C", root, "status", "--porcelain"], capture_output=True, text=True, check=True, timeout=5
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return head.stdout.strip() + ("+changes" if status.stdout.strip() else "")
