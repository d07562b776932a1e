"""The section of a dataset's circumstances: machine, programs, settings, access profiles.

For: the facts needed for a repetition. Not for: judging the environment.
"""

from datetime import UTC, datetime

from resolab.basics.records import DirectionProfile
from resolab.plan.access_link import access_rtt_ms
from resolab.report.findings.findings import Findings
from resolab.report.live.circumstances import live_environment
from resolab.report.parts.labels import list_constant_factors
from resolab.report.sections.blocks import list_notes
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Facts, Heading, Section, SectionContent
from resolab.store import Environment, Manifest, MergedRun


def environment(findings: Findings) -> list[tuple[str, str]]:
    """List the facts needed for a repetition."""
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
        ("paths", f"{manifest.paths} at a time"),
        ("stopped by", _stop(manifest)),
        ("started", _wall_time(manifest.created_unix_ns)),
        ("ended", _wall_time(manifest.ended_unix_ns)),
        ("browsers", ", ".join(browsers) or ", ".join(versions.browsers.values()) or versions.browser or "none"),
        ("factors held", ", ".join(list_constant_factors(findings)) or "none"),
        ("resolab", f"{versions.resolab}, git {manifest.git_commit or 'unknown'}"),
        ("resolab-core", versions.resolab_core or "unknown"),
        ("Python", versions.python),
        ("kernel", f"{machine.kernel} ({machine.architecture})"),
        ("processor", f"{machine.processor or 'unknown'}, {machine.cores_count} cores, {memory}"),
        ("TCP congestion control", machine.tcp_congestion_control or "unknown"),
        *_both_ends(manifest),
        ("record format", manifest.format_version),
    ]


def _run(one: MergedRun) -> str:
    blocks = f"blocks {one.first_block} to {one.first_block + one.blocks - 1}"
    return f"{one.dataset_id}: {one.trials_finished_count} trials, {blocks}, seed {one.seed}, {one.status}"


def profiles(findings: Findings) -> list[tuple[str, str]]:
    """Describe the access profiles as applied."""
    described = []
    for link in findings.manifest.profiles:
        rtt = access_rtt_ms(link)
        rates = f"{_rate(link.down)} down, {_rate(link.up)} up"
        loss = f"loss {link.down.loss_ratio:g} down, {link.up.loss_ratio:g} up"
        described.append((link.name, f"RTT {rtt:.3f} ms, {rates}, {loss}. {link.source}"))
    return described


def _rate(way: DirectionProfile) -> str:
    rate = "unlimited" if way.rate_bps is None else f"{way.rate_bps / 1e6:.3f} Mbit/s"
    if way.policer is None:
        return rate
    return f"{rate}, policed at {way.policer.rate_bps / 1e6:.3f} Mbit/s beyond {way.policer.burst_bytes} bytes"


def _wall_time(unix_ns: int | None) -> str:
    return "not yet" if unix_ns is None else datetime.fromtimestamp(unix_ns / 1e9, UTC).isoformat(" ", "seconds")


def _stop(manifest: Manifest) -> str:
    if manifest.stop_reason is None:
        return "unknown"
    done = "" if manifest.blocks_finished_count is None else f" after {manifest.blocks_finished_count} whole blocks"
    widths_ms = [one.ci_width_ms for one in manifest.widths_reached if one.ci_width_ms is not None]
    ratios = [one.ci_width_ratio for one in manifest.widths_reached if one.ci_width_ratio is not None]
    if manifest.decisions:
        decided = sum(one.after_blocks is not None for one in manifest.decisions)
        return f"{manifest.stop_reason}{done}; {decided} of {len(manifest.decisions)} comparisons decided"
    widest = f"{max(widths_ms):.3g} ms" if widths_ms else f"{max(ratios) * 100:.3g} %" if ratios else ""
    return f"{manifest.stop_reason}{done}" + (f"; widest bounded interval {widest}" if widest else "")


def _both_ends(manifest: Manifest) -> list[tuple[str, str]]:
    """Show the machine's states before and after the run side by side."""
    ends = [manifest.environment_start, manifest.environment_end]
    averages = [manifest.load_average_start, manifest.load_average_end]
    for place, one in enumerate(ends):
        averages[place] = averages[place] if one is None else one.load_average_1min
    pairs = [("load average", [_number(one) for one in averages])]
    if any(ends):
        pairs += [
            ("runnable tasks", [_number(one.runnable_tasks_count if one else None, 0) for one in ends]),
            ("other runs' emulated paths", [_number(one.other_paths_count if one else None, 0) for one in ends]),
            ("memory available", [_number(_gibibytes(one), 1, " GiB") for one in ends]),
            ("processor frequency", [_number(one.cpu_frequency_mhz if one else None, 0, " MHz") for one in ends]),
            ("frequency governors", [", ".join(one.cpu_governors) if one else "" for one in ends]),
            ("versions", [", ".join(f"{n} {v}" for n, v in one.versions.items()) if one else "" for one in ends]),
        ]
    rows = [(f"{name}, start and end", " | ".join(one or "unknown" for one in values)) for name, values in pairs]
    end = manifest.environment_end
    if end is not None and end.steal_ratio is not None and end.busy_ratio is not None:
        rows.append(("processor time", f"{end.steal_ratio:.2%} stolen by the host, {end.busy_ratio:.0%} busy"))
    return rows


def _gibibytes(one: Environment | None) -> float | None:
    return None if one is None or one.memory_available_bytes is None else one.memory_available_bytes / 2**30


def _number(value: float | None, digits: int = 2, unit: str = "") -> str:
    return "unknown" if value is None else f"{value:.{digits}f}{unit}"


_NO_PROFILE = (
    "No access profile, closed form or path of ours: the network is the live one, and nobody set its delays, rates and "
    "losses."
)


def _build(reading: Reading) -> SectionContent:
    findings = reading.findings
    facts = Facts([*environment(findings), *live_environment(findings, reading.live)])
    links = [] if reading.is_live else profiles(findings)
    below = [Heading("Access profiles"), Facts(links)] if links else list_notes([_NO_PROFILE])
    return SectionContent([facts, *below])


SECTION = Section(id="environment", title="Environment", link="Environment", build=_build)
