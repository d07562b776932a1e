"""The folder of one trial's evidence: its files, their sources, and the missing files.

For: laying out the files. Not for: their contents (`pcapng`, `netlog`, `timeline`, `resolab.store.har`,
`resolab.report`).
"""

import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import (
    MEASURED_LABEL,
    BrowserKind,
    PageLoadRecord,
    PathSummaryRecord,
    Record,
    TrialEndRecord,
    TrialRecord,
)
from resolab.extras.evidence import netlog, pcapng, timeline
from resolab.report import draw_load, waterfalls
from resolab.report.plots import save_file
from resolab.store import (
    dataset_folder,
    find_finished_trials,
    machine_errors,
    read_trial,
    refuse_published,
    write_private,
)
from resolab.store.har import write_archive

EVIDENCE = "evidence"
PACKETS, KEYS, NETLOG, SCREENSHOT = "packets.pcapng", "keys.log", "netlog.json", "screenshot.png"
DECODE_AS = "-d udp.port==853,quic"
"""By default, Wireshark decodes DoQ's port as DTLS (RFC 8094 uses the same port)."""


@dataclass(frozen=True, slots=True)
class EvidenceFile:
    """A file of the folder with its description."""

    name: str
    what: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """The files laid out, the missing files, and the command line for viewing the packets."""

    folder: Path
    pieces: Sequence[EvidenceFile]
    lacks: Sequence[str]
    wireshark: str | None


@dataclass(frozen=True, slots=True)
class _Trial:
    dataset: Path
    file: Path
    records: Sequence[Record]
    head: TrialRecord
    end: TrialEndRecord

    @property
    def measured_from_ns(self) -> int:
        """When the measured load's window began: all of the warm-up's connections were closed."""
        windows = (one for one in self.records if isinstance(one, PathSummaryRecord) and one.label == MEASURED_LABEL)
        return next((one.window_start_ns for one in windows), self.head.monotonic_ns)

    def find_artifact(self, name: str | None) -> Path | None:
        """Find a file kept by the run beside the trial; the file may have been removed since, to save space."""
        file = None if name is None else self.dataset / name
        return file if file is not None and file.is_file() else None


def lay_out(dataset: Path, trial: str, folder: Path | None = None) -> Evidence:
    """Write all there is of a trial into a folder, by default the dataset's `evidence/TRIAL`; made anew each time."""
    found = _read(dataset, trial)
    target = folder or dataset / EVIDENCE / trial
    with machine_errors(f"write the evidence {target}"):
        target.mkdir(parents=True, exist_ok=True)
        pieces = [*_always(found, target), *_where_kept(found, target)]
        has_packets = any(one.name == PACKETS for one in pieces)
        line = _wireshark(found, target) if has_packets else None
        lacks = _lacks({one.name for one in pieces}, found)
        evidence = Evidence(target, pieces, lacks, line)
        (target / "README.md").write_text(_readme(found, evidence), "utf-8")
    return evidence


def _read(dataset: Path, trial: str) -> _Trial:
    refuse_published(dataset, "lay out a trial of")
    trials = find_finished_trials(dataset_folder(dataset))
    if trial not in trials:
        has = f"it has {next(iter(trials))}, for example" if trials else "it has none"
        raise ConfigurationError(f"failed to lay out trial {trial!r} of {dataset}: no such finished trial; {has}")
    records = list(read_trial(trials[trial]))
    head, end = records[0], records[-1]
    if not isinstance(head, TrialRecord) or not isinstance(end, TrialEndRecord):
        raise ConfigurationError(
            f"failed to read {trials[trial]}: it lacks its first or last line; remove it and resume"
        )
    return _Trial(dataset, trials[trial], records, head, end)


def _always(trial: _Trial, target: Path) -> Iterator[EvidenceFile]:
    """Write the files available for every trial."""
    shutil.copyfile(trial.file, target / "trial.jsonl")
    yield EvidenceFile("trial.jsonl", "every record of the trial (docs/formats/dataset.md)")
    write_archive(trial.dataset, trial.head.trial_id, target / "load.har")
    yield EvidenceFile("load.har", "the measured load as an HTTP Archive, for the network panel of any browser")
    if any(isinstance(one, PageLoadRecord) and one.measured for one in trial.records):
        (load,) = waterfalls(trial.dataset, trial.head.trial_id)
        save_file(draw_load(load), target / "waterfall.svg")
        yield EvidenceFile("waterfall.svg", "the measured load, request by request (docs/guides/waterfall.md)")
    capture = trial.find_artifact(trial.end.capture_file)
    stamps = [] if capture is None else list(pcapng.stamps(capture.read_bytes()))
    tracks = timeline.list_tracks(trial.records, stamps)
    clocks = {"monotonic_ns": trial.head.monotonic_ns, "wall_time_unix_ns": trial.head.wall_time_unix_ns}
    (target / "trace.pftrace").write_bytes(timeline.trace_bytes(tracks, **clocks))
    yield EvidenceFile("trace.pftrace", "browser, client, stub, link and edge on one clock, for ui.perfetto.dev")


def _where_kept(trial: _Trial, target: Path) -> Iterator[EvidenceFile]:
    """Write the files kept on the plan's request."""
    capture, keys = trial.find_artifact(trial.end.capture_file), trial.find_artifact(trial.end.key_log_file)
    secrets = b"" if keys is None else keys.read_bytes()
    if capture is not None:
        write_private(
            target / PACKETS, pcapng.insert_secrets(pcapng.keep_client_packets(capture.read_bytes()), secrets)
        )
        inside = "with the keys of its connections inside" if secrets else "without keys"
        yield EvidenceFile(PACKETS, f"every packet at the client's end of the link, {inside}")
    if keys is not None:
        write_private(target / KEYS, secrets)
        yield EvidenceFile(KEYS, "the secrets of the trial's TLS and QUIC connections (NSS key log)")
    log = trial.find_artifact(trial.end.netlog_file)
    if log is not None:
        with (
            log.open(encoding="utf-8", errors="replace") as lines,
            (target / NETLOG).open("w", encoding="utf-8") as cut,
        ):
            cut.writelines(netlog.cut(lines, trial.head.monotonic_ns, trial.end.monotonic_ns))
        yield EvidenceFile(
            NETLOG, "Chromium's own log of its network stack during the trial, for netlog-viewer.appspot.com"
        )
    loads = [one for one in trial.records if isinstance(one, PageLoadRecord) and one.measured]
    screenshot = trial.find_artifact(loads[0].screenshot_file) if loads else None
    if screenshot is not None:
        shutil.copyfile(screenshot, target / SCREENSHOT)
        yield EvidenceFile(SCREENSHOT, "the page when the load had failed")


def _lacks(names: set[str], trial: _Trial) -> list[str]:
    """List the missing files: not requested by the plan (with the plan's key), or removed since."""
    wanted = [(PACKETS, "pcap", trial.end.capture_file), (KEYS, "key_log", trial.end.key_log_file)]
    if (trial.head.browser_kind or trial.head.browser) != BrowserKind.FIREFOX:
        wanted.append((NETLOG, "netlog", trial.end.netlog_file))
    return [
        f"{name}: needs instrument.{key} = true in the plan"
        if file is None
        else f"{name}: the trial names {file}, which is not in the dataset"
        for name, key, file in wanted
        if name not in names
    ]


def _wireshark(trial: _Trial, target: Path) -> str:
    """Return the command line for showing the measured load; the file holds the whole trial."""
    offset_ns = trial.head.wall_time_unix_ns - trial.head.monotonic_ns
    since_s = (trial.measured_from_ns + offset_ns) / 1e9
    return f"wireshark {shlex.quote(str(target / PACKETS))} {DECODE_AS} -Y 'frame.time_epoch >= {since_s:.6f}'"


def _readme(trial: _Trial, evidence: Evidence) -> str:
    lines = [f"# Trial {trial.head.trial_id}", "", f"Condition `{trial.head.condition}` of {trial.dataset.name}."]
    flags = ", ".join(trial.end.flags)
    lines += [f"Flags: {flags}." if flags else "No flags.", "", "| file | what |", "|---|---|"]
    lines += [f"| `{one.name}` | {one.what} |" for one in evidence.pieces]
    if evidence.wireshark is not None:
        lines += ["", "The measured load's packets (tshark takes the same arguments, with `-r` before the file):", ""]
        lines += ["```sh", evidence.wireshark, "```"]
    lines += [line for lack in evidence.lacks for line in ("", f"Not there: {lack}.")]
    return "\n".join(lines) + "\n"
