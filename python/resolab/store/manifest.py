"""The manifest: what a campaign was asked, on which machine and with which programs, and how far it came.

For: the dataset's own description, written whole each time. Not for: anything measured.
"""

import contextlib
import enum
import os
import platform
import re
import subprocess
from pathlib import Path

import msgspec

from resolab.errors import ConfigurationError
from resolab.plan import DecidedBy
from resolab.records import FORMAT_VERSION, LinkProfile, PathBackend
from resolab.store.environment import Environment
from resolab.store.files import write_whole
from resolab.store.folder import MANIFEST, PLAN, dataset_folder

_DATASET_ID = re.compile(r"[^./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*")
"""What cannot lead out of a folder: a merge names files by it."""
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class RunStatus(enum.StrEnum):
    """How far a campaign came."""

    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class StopReason(enum.StrEnum):
    """Why a campaign runs no more trials."""

    PRECISION = "precision"
    """Every comparison's interval is as narrow as the plan asked."""
    DECIDED = "decided"
    """Every comparison is decided by its confidence sequence."""
    CAP = "cap"
    """All blocks are done."""
    INTERRUPTED = "interrupted"
    """By a signal or an error; it can be resumed."""


class WidthReached(msgspec.Struct, kw_only=True, frozen=True):
    """How narrow one comparison's interval was when the campaign last looked."""

    name: str
    treatment: str
    """Identifier of the condition, as of `baseline`."""
    baseline: str
    ci_width_ms: float | None = None
    """Of the paired difference, if the plan asks for that; None also where there is no interval or it is unbounded."""
    ci_width_ratio: float | None = None
    """Of the relative change, likewise."""


class Decision(msgspec.Struct, kw_only=True, frozen=True):
    """What became of one comparison of a plan that stops by confidence sequences."""

    name: str
    treatment: str
    """Identifier of the condition, as of `baseline`."""
    baseline: str
    after_blocks: int | None
    """Blocks after which it was decided; None: it was not."""
    reasons: list[DecidedBy]
    """All that held then."""
    pairs_count: int
    """When it was decided or, undecided, at the last look; as the ends of its interval, None where unbounded."""
    ci_low_ms: float | None = None
    ci_high_ms: float | None = None


class Versions(msgspec.Struct, kw_only=True, frozen=True, omit_defaults=False):
    """Programs whose behaviour is in the numbers; None where a program took no part."""

    resolab: str
    resolab_core: str | None = None
    browser: str | None = None
    """The first browser used; alone in manifests before format 1.5."""
    browsers: dict[str, str] = {}
    """Version of every browser used, by its name."""
    python: str = platform.python_version()


class Machine(msgspec.Struct, kw_only=True, frozen=True):
    """Where a campaign ran."""

    kernel: str
    architecture: str
    cores_count: int
    processor: str | None = None
    memory_bytes: int | None = None
    tcp_congestion_control: str | None = None
    """Of the hosts' TCP: the kernel's own default, which both network namespaces have."""


class MergedRun(msgspec.Struct, kw_only=True, frozen=True):
    """A run that went into a merged dataset: its trials are those of `blocks` blocks from `first_block` on."""

    dataset_id: str
    first_block: int
    blocks: int
    seed: int
    trials_finished_count: int
    created_unix_ns: int
    status: RunStatus


class RunStart(msgspec.Struct, kw_only=True, frozen=True):
    """What trials stood on from one start of a process that runs them to the next."""

    unix_ns: int
    git_commit: str | None = None
    """Of the checkout; `+changes` behind it if files differed from it."""
    resolab_core_sha256: str | None = None
    """Of the binary; None where there was none."""
    pages_sha256: dict[str, str] = {}
    """Of every page of the plan: names and contents of all files in its folder."""
    versions: dict[str, str] = {}
    """Of resolab, resolab-core and every browser, by name."""


class LiveSiteLine(msgspec.Struct, kw_only=True, frozen=True):
    """One site of a live run."""

    page: str
    """Its name in conditions."""
    url: str
    rank: int | None = None
    """In the list; None: it was named."""


class LiveRun(msgspec.Struct, kw_only=True, frozen=True):
    """What a live run had of its own: from format 1.12 on."""

    vantage_point: str
    operator_url: str
    opt_out: str | None = None
    """Where the list of domains never to be contacted was fetched, before each block."""
    sites: list[LiveSiteLine]
    list_id: str | None = None
    """Of the list sites were drawn from; None: they were named, as with the other three."""
    list_sha256: str | None = None
    list_ranks: list[tuple[int, int]] = []
    list_sample: int | None = None
    """How many were drawn; None: all of these ranks."""
    resolvers: dict[str, dict[str, str]]
    """By name and transport, as the plan has them."""
    caps: dict[str, int]
    """That were in force."""


class Manifest(msgspec.Struct, kw_only=True, frozen=True):
    """`manifest.json`."""

    format_version: str
    dataset_id: str
    plan: str
    """The plan's name."""
    plan_text: str
    plan_folder: str | None = None
    """Where relative paths of the plan's own pages begin; None where it has none."""
    seed: int
    blocks: int
    profiles: list[LinkProfile]
    """The access profiles as they were applied, so that round trips can be told from the dataset alone."""
    created_unix_ns: int
    command_line: list[str]
    versions: Versions
    machine: Machine
    git_commit: str | None = None
    load_average_start: float | None = None
    load_average_end: float | None = None
    ended_unix_ns: int | None = None
    paths: int = 1
    """Emulated paths that trials run on at a time: as many as the plan asks or, once links were late too often, 1."""
    backend: PathBackend = PathBackend.TUN
    """What joined the hosts to the link model."""
    live: LiveRun | None = None
    """None: a run in the lab."""
    vantage_point: str | None = None
    """Where its trials were run; None before format 1.13 and where they were run at several."""
    fleet_run: str | None = None
    """The run of a fleet it is of; None where no fleet took part."""
    resume_count: int = 0
    status: RunStatus = RunStatus.RUNNING
    trials_planned_count: int = 0
    trials_finished_count: int = 0
    instrument_failures_count: int = 0
    """Times the instrument itself broke, so that a trial was thrown away and repeated on a new testbed."""
    stop_reason: StopReason | None = None
    """None while it runs, of merged runs, and in manifests before format 1.6."""
    blocks_finished_count: int | None = None
    """Blocks of which every trial is finished."""
    widths_reached: list[WidthReached] = []
    """Of a plan with a stopping rule, at the last look."""
    decisions: list[Decision] = []
    """Of a plan that stops by confidence sequences, at the last look; from format 1.8 on."""
    environment_start: Environment | None = None
    """When the campaign was begun."""
    environment_end: Environment | None = None
    """When the process that ran trials last ended; shares of time are that process's."""
    starts: list[RunStart] = []
    """One for the beginning and one for each resume; of merged runs one, with their pages; empty before format 1.7."""
    merged_from: list[MergedRun] = []
    """The runs it was merged from, in the order of their blocks; empty for a run."""
    warnings: list[str] = []
    """What a reader must know, such as versions that differ between merged runs."""

    def pages(self) -> list[str] | None:
        """Name the pages that the run began with; None where an older one does not say."""
        return list(self.starts[0].pages_sha256) if self.starts and self.starts[0].pages_sha256 else None


def dataset_id(plan_name: str, suffix: str) -> str:
    """Name a dataset after its plan; what cannot stand in a file's name is left out."""
    return f"{_NOT_IN_NAMES.sub('-', plan_name).strip('.-') or 'plan'}-{suffix}"


def save_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, the plan beside it; a reader finds the old one or the new one."""
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
    """Name the kernel's default, which a new network namespace takes over."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text("utf-8").strip()
    return None


def _processor() -> str | None:
    """Model name of the first processor, where the kernel tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), None)


def git_commit(root: Path) -> str | None:
    """Commit the checkout stands on, `+changes` behind it if files differ from it; None outside a checkout."""
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
