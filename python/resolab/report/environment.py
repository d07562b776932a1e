"""Where, with what and how a dataset was made, as pairs of words.

For: the report's environment section. Not for: judging it.
"""

import shlex
from datetime import UTC, datetime

from resolab.report.findings import Findings
from resolab.report.labels import held_factors
from resolab.store import MergedRun


def command_line(findings: Findings) -> str:
    """Return the exact command, ready to be pasted into a shell."""
    return shlex.join(findings.manifest.command_line)


def environment(findings: Findings) -> list[tuple[str, str]]:
    """List what a repetition needs to know."""
    manifest, machine, versions = findings.manifest, findings.manifest.machine, findings.manifest.versions
    browsers = [f"{one.browser} {one.browser_version} ({one.loads_count} loads)" for one in findings.browsers]
    memory = "unknown" if machine.memory_bytes is None else f"{machine.memory_bytes / 2**30:.1f} GiB"
    return [
        ("dataset", manifest.dataset_id),
        ("status", f"{manifest.status}; {findings.trials_count} of {manifest.trials_planned_count} trials"),
        *(("merged from", _run(one)) for one in manifest.merged_from),
        *(("warning", text) for text in manifest.warnings),
        ("resumed", f"{manifest.resume_count} times"),
        ("seed", str(manifest.seed)),
        ("blocks", str(manifest.blocks)),
        ("started", _wall_time(manifest.created_unix_ns)),
        ("ended", _wall_time(manifest.ended_unix_ns)),
        ("browsers", ", ".join(browsers) or ", ".join(versions.browsers.values()) or versions.browser or "none"),
        ("factors held", ", ".join(held_factors(findings)) or "none"),
        ("resolab", f"{versions.resolab}, git {manifest.git_commit or 'unknown'}"),
        ("resolab-core", versions.resolab_core or "unknown"),
        ("Python", versions.python),
        ("kernel", f"{machine.kernel} ({machine.architecture})"),
        ("processor", f"{machine.processor or 'unknown'}, {machine.cores_count} cores, {memory}"),
        ("load average at the start", _load(manifest.load_average_start)),
        ("load average at the end", _load(manifest.load_average_end)),
        ("record format", manifest.format_version),
    ]


def _run(one: MergedRun) -> str:
    blocks = f"blocks {one.first_block} to {one.first_block + one.blocks - 1}"
    return f"{one.dataset_id}: {one.trials_finished_count} trials, {blocks}, seed {one.seed}, {one.status}"


def profiles(findings: Findings) -> list[tuple[str, str]]:
    """Describe the access profiles as they were applied."""
    described = []
    for link in findings.manifest.profiles:
        rtt = link.up.one_way_delay_ms + link.down.one_way_delay_ms
        rates = f"{_rate(link.down.rate_bps)} down, {_rate(link.up.rate_bps)} up"
        loss = f"loss {link.down.loss_ratio:g} down, {link.up.loss_ratio:g} up"
        described.append((link.name, f"RTT {rtt:.3f} ms, {rates}, {loss}. {link.source}"))
    return described


def _rate(rate_bps: float | None) -> str:
    return "unlimited" if rate_bps is None else f"{rate_bps / 1e6:.3f} Mbit/s"


def _wall_time(unix_ns: int | None) -> str:
    return "not yet" if unix_ns is None else datetime.fromtimestamp(unix_ns / 1e9, UTC).isoformat(" ", "seconds")


def _load(load_average: float | None) -> str:
    return "unknown" if load_average is None else f"{load_average:.2f}"
