"""Our loads by the statuses of Hounsel et al., as their Table 1 has theirs.

For: counting. Not for: what is which status (`report.statuses`).
"""

from collections import Counter
from collections.abc import Sequence

from resolab.plots import transport_label
from resolab.report.findings.findings import ConditionResult, Findings
from resolab.report.statuses import HounselStatus, hounsel_status
from resolab.report.tables import Table
from resolab.store.rows import FailureRow


def status_table(findings: Findings) -> Table:
    """Share of every status by browser, profile and transport; no rows when every load succeeded."""
    if not any(one.kind == "page load" for one in findings.failures):
        return Table((), ())
    rows = []
    for key, conditions in _groups(findings.conditions).items():
        counts = _counts(conditions, findings.failures)
        total = sum(counts.values())
        if total:
            shares = (f"{counts[status] / total:.2%}" for status in HounselStatus)
            rows.append((*key[:2], transport_label(key[2]), str(total), *shares))
    return Table(("browser", "profile", "transport", "loads", *HounselStatus), rows, frozenset(range(3)))


def _groups(conditions: Sequence[ConditionResult]) -> dict[tuple[str, str, str], list[ConditionResult]]:
    groups: dict[tuple[str, str, str], list[ConditionResult]] = {}
    for one in conditions:
        key = (str(one.condition.browser), one.condition.profile, str(one.condition.dns_transport))
        groups.setdefault(key, []).append(one)
    return groups


def _counts(conditions: Sequence[ConditionResult], failures: Sequence[FailureRow]) -> Counter[HounselStatus]:
    names = {one.condition.id for one in conditions}
    counts: Counter[HounselStatus] = Counter()
    for one in failures:
        if one.kind == "page load" and one.condition in names:
            counts[hounsel_status(one.failure)] += one.count
    counts[HounselStatus.SUCCESSFUL] += sum(one.trials_count for one in conditions) - sum(counts.values())
    return counts
