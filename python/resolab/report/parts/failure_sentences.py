"""Failures of the counted loads and drops by the link: failures, flags, queues, policers.

For: the same wording in the answer and under every figure of page loads. Not for: tables of failures (`tables`).
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence

from resolab.basics.wording import format_count
from resolab.plan.kind import KIND_RULES
from resolab.report.findings.dataset_plan import is_live
from resolab.report.findings.findings import Findings
from resolab.store.outcomes import NO_MEASURED_LOAD, SAY_NOTHING
from resolab.store.rows import LatenessRow

MEASURED_PARTS = ("page load", "exchange", "fetch")
"""The kinds of failures that make a trial's measured part fail."""


def trouble_sentence(findings: Findings) -> str:
    """Return the number and kinds of failed and of lost loads, the flagged trials, and the packets the path dropped."""
    failed, lost = _count_loads(findings)
    listed = f" ({_join_counts(failed)})" if failed else ""
    told = f"{failed.total()} of {findings.trials_count} {_nouns(findings)} failed{listed}"
    if lost:
        told += f"; {_lost(findings, lost)} ({_join_counts(lost)})"
    return f"{told}; {flags_and_drops(findings)}{_others(findings)}."


def _count_loads(findings: Findings) -> tuple[Counter[str], Counter[str]]:
    """Count failed page loads and page loads lost to the instrument, by class; the same loads as in the answer."""
    failed: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for one in findings.failures:
        if one.kind in MEASURED_PARTS:
            counts = lost if one.failure in SAY_NOTHING or one.failure == NO_MEASURED_LOAD else failed
            counts[one.failure] += one.count
    return failed, lost


def _nouns(findings: Findings) -> str:
    return KIND_RULES[findings.plan.kind].plural


def _lost(findings: Findings, lost: Counter[str]) -> str:
    alone = " or left alone" if is_live(findings.plan) else ""
    return f"{lost.total()} more {'was' if lost.total() == 1 else 'were'} lost to the instrument{alone}"


def _others(findings: Findings) -> str:
    """Return a note about other measurements on the machine, as observed at start and end of the run."""
    ends = (findings.manifest.environment_start, findings.manifest.environment_end)
    seen = max((one.other_paths_count or 0 for one in ends if one is not None), default=0)
    return f"; beside other runs on the machine ({format_count(seen, 'emulated path')})" if seen else ""


def failures_line(findings: Findings) -> str:
    """Return the heading of the failure list: failed page loads, lost page loads and other failures separately."""
    failed, lost = _count_loads(findings)
    beside = sum(one.count for one in findings.failures) - failed.total() - lost.total()
    flags = sum(one.count for one in findings.flags)
    if not (failed or lost or beside or flags):
        return "Failures and flags: none"
    told = f"{failed.total()} of {findings.trials_count} {_nouns(findings)} failed"
    if lost:
        told += f", {_lost(findings, lost)}"
    if beside:
        told += f", and {beside} look-ups, warm-up loads or connections beside them"
    return f"Failures and flags: {told}; {flags or 'no'} flag{'' if flags == 1 else 's'}"


def flags_and_drops(findings: Findings, profiles: Collection[str] | None = None) -> str:
    """Return the flags of trials kept in the numbers, and the packets dropped by queues and policers.

    The drops are limited to the given profiles, or cover all. Policers are named only after drops. On the live network
    these drops are unknown.
    """
    flags: dict[str, int] = {}
    for one in findings.flags:
        flags[one.flag] = flags.get(one.flag, 0) + one.count
    told = f"flags, kept: {_join_counts(flags) or 'none'}"
    return told if is_live(findings.plan) else f"{told}; {_drops(findings, profiles)}"


def describe_left_out(lost_count: int, copies_count: int = 0) -> str:
    """Return the loads left out of a figure's numbers; an empty string when no load is left out."""
    lost = f"{format_count(lost_count, 'load')} that the instrument lost or that told nothing" if lost_count else ""
    copies = f"{format_count(copies_count, 'load')} of copies" if copies_count else ""
    words = " and ".join(part for part in (lost, copies) if part)
    return f" Left out: {words}." if words else ""


def _drops(findings: Findings, profiles: Collection[str] | None) -> str:
    if "path_summaries" in findings.missing_tables:
        return "packets dropped by the link: not known, as there is no table path_summaries"
    rows = [one for one in findings.lateness if profiles is None or one.profile in profiles]
    queues = _shares(rows, lambda one: one.dropped_queue_count + one.dropped_codel_count)
    policers = _shares(rows, lambda one: one.dropped_policer_count)
    told = f"packets dropped by the link's queues: {queues or 'none'}"
    return f"{told}; by its policers: {policers}" if policers else told


def _shares(rows: Sequence[LatenessRow], dropped: Callable[[LatenessRow], int]) -> str:
    """Return dropped packets as a share of delivered packets, per profile; empty without drops."""
    packets: dict[str, int] = {}
    drops: dict[str, int] = {}
    for one in rows:
        packets[one.profile] = packets.get(one.profile, 0) + one.packets_count
        drops[one.profile] = drops.get(one.profile, 0) + dropped(one)
    return ", ".join(f"{_share(drops[name], packets[name])} on {name}" for name in drops if drops[name])


def _share(drops_count: int, packets_count: int) -> str:
    return f"{drops_count / packets_count:.2%}" if packets_count else "all packets"


def _join_counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
