"""The circumstances of a live dataset in words: place, time, method and sites.

For: the line above every answer, and the rows of the environment's table. Not for: judging the circumstances.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from resolab.report.findings.findings import Findings
from resolab.report.live.failures import LiveStatus
from resolab.report.live.findings import LiveFindings
from resolab.store.live.queries import TrialSettingsRow
from resolab.store.manifest import LiveRun, Manifest

_WAYS = {
    "root": "root, browser in a mount namespace",
    "user_capability": "ordinary user, stub on port 53 by a capability",
    "slirp4netns": "ordinary user, browser behind slirp4netns",
    "dns_only": "ordinary user, look-ups and the browsers' own DoH alone",
}


def live_lines(findings: Findings, live: LiveFindings | None) -> list[str]:
    """Return a line of circumstances for each vantage point; empty for an emulated network."""
    if live is None:
        return []
    return [_line(findings, live, place) for place in findings.plan.factors.profile]


def _line(findings: Findings, live: LiveFindings, place: str) -> str:
    if "live_trials" in findings.missing_tables:
        return f"Live, from vantage point {place}, {_of_manifest(findings.manifest)}; {_sites(findings, live, place)}."
    rows = [row for row in live.ground if row.profile == place]
    ways = (
        ", ".join(_list_kinds([(_WAYS.get(row.way, row.way), row.trials_count) for row in rows])) or "way not recorded"
    )
    operators = ", ".join(dict.fromkeys(row.operator_url for row in rows)) or "not recorded"
    where = f"Live, from vantage point {place}, {_when(rows)}"
    return f"{where}; {ways}; operator {operators}; {_sites(findings, live, place)}."


def _of_manifest(manifest: Manifest) -> str:
    """Return the circumstances of a published folder without the table of its trials' own."""
    began, ended = (_instant(one) if one else "not yet" for one in (manifest.created_unix_ns, manifest.ended_unix_ns))
    operator = "not recorded" if manifest.live is None else manifest.live.operator_url
    return f"{began} to {ended} UTC in all; way: this published folder has no table live_trials; operator {operator}"


def _when(rows: Sequence[TrialSettingsRow]) -> str:
    if not rows:
        return "no trial yet"
    first, last = min(row.first_unix_ns for row in rows), max(row.last_unix_ns for row in rows)
    return f"{_instant(first)} to {_instant(last)} UTC"


def _instant(time_unix_ns: int) -> str:
    return datetime.fromtimestamp(time_unix_ns / 1e9, UTC).strftime("%Y-%m-%d %H:%M")


def _list_kinds(found: Sequence[tuple[str, int]]) -> list[str]:
    """List the kinds; with several kinds, add each kind's number of trials."""
    counts: Counter[str] = Counter()
    for name, count in found:
        counts[name] += count
    return list(counts) if len(counts) == 1 else [f"{name} ({count} trials)" for name, count in counts.items()]


def _sites(findings: Findings, live: LiveFindings, place: str) -> str:
    run = findings.manifest.live
    drawn = run.sites if run is not None else ()
    tried = {load.page for load in findings.loads if load.profile == place}
    loaded = {load.page for load in findings.loads if load.profile == place and load.loaded and load.failure is None}
    refused = live.refused_sites[place]
    alone, opted_out = refused.get(LiveStatus.LEFT_ALONE, 0), refused.get(LiveStatus.OPTED_OUT, 0)
    return (
        f"{list_words(run)}: {len(drawn)} drawn, {len(tried)} tried, {len(loaded)} loaded at least once, {alone} left "
        f"alone by our manners, {opted_out} opted out"
    )


def list_words(run: LiveRun | None) -> str:
    """Return the name of the site list, its ranks, and a note for sampled sites."""
    if run is None or run.list_id is None:
        return "sites by their URLs"
    ranks = ", ".join(f"{low}-{high}" for low, high in run.list_ranks)
    return f"list {run.list_id}, ranks {ranks}{', sampled' if run.list_sample is not None else ''}"


def live_environment(findings: Findings, live: LiveFindings | None) -> list[tuple[str, str]]:
    """List the facts about the live network needed for a repetition; empty for an emulated network."""
    run = findings.manifest.live
    if live is None:
        return []
    rows: list[tuple[str, str]] = [("vantage points", ", ".join(findings.plan.factors.profile))]
    if "live_trials" in findings.missing_tables:
        told = "this published folder has no table live_trials"
        rows.append(("operator, user agents, system resolvers, IPv6, stop signs", told))
        return rows if run is None else [*rows, *_list_run_facts(run)]
    for name, values in (
        ("operator", [row.operator_url for row in live.ground]),
        ("user agents", [row.user_agent or "not known" for row in live.ground]),
        ("system resolvers", [row.system_resolver or "not known" for row in live.ground]),
        ("IPv6", ["routed" if row.ipv6 else "no route: A alone is asked for" for row in live.ground]),
        (
            "further authority",
            ["trusted (RESOLAB_AUTHORITY)" if row.further_authority else "none" for row in live.ground],
        ),
        ("stop signs", [row.stop_sign for row in live.ground if row.stop_sign is not None]),
    ):
        rows.append((name, ", ".join(dict.fromkeys(values)) or "none"))
    return rows if run is None else [*rows, *_list_run_facts(run)]


def _list_run_facts(run: LiveRun) -> list[tuple[str, str]]:
    return [
        *(
            (f"resolver {name}", ", ".join(f"{transport} {url}" for transport, url in endpoints.items()))
            for name, endpoints in run.resolvers.items()
        ),
        ("sites", list_words(run)),
        ("SHA-256 of the list", run.list_sha256 or "none"),
        ("opt-out list", run.opt_out or "none"),
        ("caps", ", ".join(f"{name} {count}" for name, count in run.caps.items()) or "unknown"),
    ]
