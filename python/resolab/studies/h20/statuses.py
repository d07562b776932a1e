"""Table 1 of Hounsel et al.: the shares of successful and failed page loads by network and transport.

For: counts and shares with intervals, beside the paper's. Not for: the definition of a status
(`load_status`).

Every finished trial counts, including trials lost by the instrument: the paper has a class for them (Selenium Error).
"""

from collections import Counter
from collections.abc import Mapping

from resolab.basics.protocols import transport_position
from resolab.plan import Condition
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import level_text
from resolab.report.findings.resolvers import Resolver, several_caches
from resolab.report.live.configurations.further_levels import FurtherLevels
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, number_text, transport_label
from resolab.report.plots.save import Value
from resolab.stats import Estimate, proportion
from resolab.studies.h20.load_status import H20Status, h20_status
from resolab.studies.h20.paper_numbers import CITATION, find_network, status_percent
from resolab.studies.h20.study import H20Study

STATUSES_CITATION = f"{CITATION}, Table 1"
Key = tuple[Resolver, str, str, tuple[str, ...]]
"""Resolver, profile, transport, further levels of the lookup."""


def _counts(study: H20Study) -> dict[Key, Counter[H20Status]]:
    """Add up conditions with equal levels of the lookup; copies are left out."""
    counts: dict[Key, Counter[H20Status]] = {}
    found = status_counts(study.findings)
    own = [one for one in found if one.replicate == 1 and one.profile in study.profiles]
    further = FurtherLevels(own)
    for one in own:
        resolver = Resolver(one.resolver_extra_rtt_ms, str(one.resolver_cache), one.resolver, one.resolver_software)
        key = (resolver, one.profile, str(one.dns_transport), further.read_levels(one))
        counts.setdefault(key, Counter()).update(found[one])
    return counts


def table_1(study: H20Study) -> Table:
    """List every status of every network and transport."""
    columns = (
        "resolver", "network", "transport", "further levels", "status", "loads", "of", "%",
        f"{level_text(study.level)} interval (Wilson)", "theirs % (Frankfurt)", "theirs inside",
    )  # fmt: skip
    rows = [
        (
            _resolver(one, several=several_caches(study.resolvers)),
            str(one["profile"]),
            transport_label(str(one["dns_transport"])),
            str(one["further_levels"]),
            str(one["status"]),
            str(one["loads_count"]),
            str(one["total_count"]),
            _percent(one["share_ratio"]),
            f"[{_percent(one['ci_low_ratio'])}, {_percent(one['ci_high_ratio'])}]",
            "" if one["paper_ratio"] is None else _percent(one["paper_ratio"], 2),
            _inside(one),
        )
        for one in status_rows(study)
    ]
    return Table(columns, rows, frozenset((0, 1, 2, 3, 4, 10)))


def _resolver(row: Mapping[str, Value], *, several: bool) -> str:
    cache = f", cache {row['resolver_cache']}" if several else ""
    return f"+{row['resolver_extra_rtt_ms']:g} ms{cache}"


def status_rows(study: H20Study) -> list[dict[str, Value]]:
    """List the statuses as numbers."""
    counts = _counts(study)
    profiles = list(study.profiles)
    ordered = sorted(counts, key=lambda key: (key[0].place, profiles.index(key[1]), transport_position(key[2]), key[3]))
    return [
        _row(study, key, status, _share(study, counts[key], status), counts[key][status])
        for key in ordered
        for status in H20Status
    ]


def _share(study: H20Study, counts: Counter[H20Status], status: H20Status) -> Estimate:
    return proportion(counts[status], counts.total(), level=study.level)


def _row(study: H20Study, key: Key, status: H20Status, share: Estimate, count: int) -> dict[str, Value]:
    resolver, profile, dns_transport, further = key
    vantage = study.vantage_points.get(resolver.extra_rtt_ms, "")
    # Theirs is Frankfurt's; they say that failures from Seoul were alike, and print no number.
    theirs = status_percent(find_network(profile), dns_transport, status) if vantage == "Frankfurt" else None
    return {
        "vantage_point": vantage,
        "resolver_extra_rtt_ms": resolver.extra_rtt_ms,
        "resolver_cache": resolver.cache,
        "profile": profile,
        "dns_transport": dns_transport,
        "further_levels": ", ".join(further),
        "status": str(status),
        "loads_count": count,
        "total_count": share.n,
        "share_ratio": share.value,
        "ci_low_ratio": share.ci_low,
        "ci_high_ratio": share.ci_high,
        "ci_level": share.level,
        "ci_method": str(share.method),
        "paper_ratio": None if theirs is None else theirs / 100,
    }


def _percent(ratio: Value, digits: int = 1) -> str:
    return number_text(ratio * 100, digits) if isinstance(ratio, (int, float)) else ABSENT


def _inside(row: Mapping[str, Value]) -> str:
    theirs, low, high = row["paper_ratio"], row["ci_low_ratio"], row["ci_high_ratio"]
    if not isinstance(theirs, float) or not isinstance(low, float) or not isinstance(high, float):
        return ""
    return "yes" if low <= theirs <= high else "no"


def status_counts(findings: Findings) -> dict[Condition, Counter[H20Status]]:
    """Count the statuses of every condition with trials, including trials lost by the instrument."""
    failures: dict[str, Counter[H20Status]] = {}
    for one in findings.failures:
        if one.kind == "page load":
            failures.setdefault(one.condition, Counter())[h20_status(one.failure)] += one.count
    found = {}
    for result in findings.conditions:
        if result.trials_count:
            counts = failures.get(result.condition.id, Counter())
            found[result.condition] = counts + Counter({H20Status.SUCCESSFUL: result.trials_count - counts.total()})
    return found


def status_table(findings: Findings) -> Table:
    """List the share of every status by browser, profile and transport; no rows when every load succeeded."""
    if not any(one.kind == "page load" for one in findings.failures):
        return Table((), ())
    groups: dict[tuple[str, str, str], Counter[H20Status]] = {}
    for condition, counts in status_counts(findings).items():
        key = (str(condition.browser), condition.profile, str(condition.dns_transport))
        groups.setdefault(key, Counter()).update(counts)
    rows = []
    for (browser, profile, transport), counts in groups.items():
        shares = (f"{counts[status] / counts.total():.2%}" for status in H20Status)
        rows.append((browser, profile, transport_label(transport), str(counts.total()), *shares))
    return Table(("browser", "profile", "transport", "loads", *H20Status), rows, frozenset(range(3)))
