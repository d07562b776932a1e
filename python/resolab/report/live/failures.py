"""Table 1 of Hounsel et al. for a live dataset: the results of the page loads by configuration.

For: resolab's failure classes in the paper's words, with additional words for 429, 403 and a refusing resolver. Not
for: the failure of a load.

Every finished trial counts, including trials lost by the instrument or not contacted because of the manners rules. Only
copies are left out, and their number is given beside.
"""

import enum
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.protocols import transport_position
from resolab.basics.records import DnsFailure
from resolab.basics.wording import format_count
from resolab.report.findings.interval_level import level_text
from resolab.report.live.configurations.further_levels import FurtherLevels
from resolab.report.live.study import LiveStudy
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import number_text, transport_label
from resolab.report.plots.save import Value
from resolab.stats import Estimate, proportion
from resolab.store.live.queries import StatusRow, statuses


class LiveStatus(enum.StrEnum):
    """The status of a page load; the first five follow the paper's Table 1, with Selenium as the browser's driver."""

    SUCCESSFUL = "Successful"
    PAGE_LOAD_TIMEOUT = "Page-load timeout"
    DNS_ERROR = "DNS error"
    BROWSER_ERROR = "Browser error"
    OTHER_ERROR = "Other error"
    REFUSED = "Refused by resolver"
    TOO_MANY_REQUESTS = "429"
    FORBIDDEN = "403"
    HTTP_STATUS = "Other HTTP status"
    INCOMPLETE = "Incomplete"
    LEFT_ALONE = "Left alone"
    """Not contacted under the manners rules, because the site or the resolver had refused."""
    OPTED_OUT = "Opted out"
    """Not contacted, because the domain is on the opt-out list."""


NOT_KNOWN = "not known"
_OF_THE_PAPER = tuple(LiveStatus)[:5]
STATUSES: Mapping[str, LiveStatus] = {
    "page_timeout": LiveStatus.PAGE_LOAD_TIMEOUT,
    "dns": LiveStatus.DNS_ERROR,
    "connect": LiveStatus.OTHER_ERROR,
    "tls": LiveStatus.OTHER_ERROR,
    "incomplete": LiveStatus.INCOMPLETE,
    "browser_crash": LiveStatus.BROWSER_ERROR,
    "browser_hang": LiveStatus.BROWSER_ERROR,
    "driver": LiveStatus.BROWSER_ERROR,
    "lab_ended": LiveStatus.OTHER_ERROR,
    "left_alone": LiveStatus.LEFT_ALONE,
    "other": LiveStatus.OTHER_ERROR,
}
_OPT_OUT = "opt-out list"
"""Part of the failure detail of loads refused because of the list (`manners.refusals`)."""
_HTTP = {"status 429": LiveStatus.TOO_MANY_REQUESTS, "status 403": LiveStatus.FORBIDDEN}


def live_status(row: StatusRow) -> LiveStatus:
    """Return the status of a load; a load not begun counts as the browser's error, as in the paper's code."""
    if not row.loaded:
        return LiveStatus.BROWSER_ERROR
    if row.failure is None:
        return LiveStatus.SUCCESSFUL
    if row.failure == "http_status":
        return _HTTP.get(row.failure_detail or "", LiveStatus.HTTP_STATUS)
    if row.failure == "left_alone" and _OPT_OUT in (row.failure_detail or ""):
        return LiveStatus.OPTED_OUT
    if row.failure == "dns" and (row.dns_failure == "refused" or (row.dns_failure is None and row.refused)):
        return LiveStatus.REFUSED
    return STATUSES.get(row.failure, LiveStatus.OTHER_ERROR)


@dataclass(frozen=True, slots=True)
class ConfigurationStatuses:
    """The results of the loads of a configuration from a vantage point."""

    profile: str
    resolver: str
    dns_transport: str
    further: tuple[str, ...]
    """Levels of the varying factors of lookup or browser."""
    counts: Counter[LiveStatus]
    dns_failures: Counter[str]
    """The results of the lookups, for loads with a DNS error."""

    @property
    def words(self) -> tuple[str, ...]:
        """The first columns of a table row."""
        return self.profile, self.resolver, ", ".join((transport_label(self.dns_transport), *self.further))

    def share(self, status: LiveStatus, level: float) -> Estimate:
        """Estimate the share of a status."""
        return proportion(self.counts[status], self.counts.total(), level=level)


def status_results(study: LiveStudy) -> list[ConfigurationStatuses]:
    """Count the statuses of every configuration's loads, in the study's order."""
    further = FurtherLevels(study.rows)
    levels = {row.trial_id: further.read_levels(row) for row in study.rows}
    groups: dict[tuple[str, str, str, tuple[str, ...]], list[StatusRow]] = {}
    for row in statuses(study.dataset):
        groups.setdefault((row.profile, row.resolver, row.dns_transport, levels[row.trial_id]), []).append(row)
    places = list(study.profiles)
    ordered = sorted(
        groups, key=lambda key: (places.index(key[0]), study.resolver_order[key[1]], transport_position(key[2]), key[3])
    )
    return [ConfigurationStatuses(*key, *_count_statuses(groups[key])) for key in ordered]


def count_refused_sites(study: LiveStudy) -> dict[str, Counter[LiveStatus]]:
    """Count the sites refused at least once under the manners rules, by vantage point: left alone, or opted out."""
    found = {(row.profile, live_status(row), row.page) for row in statuses(study.dataset)}
    counts: dict[str, Counter[LiveStatus]] = {place: Counter() for place in study.profiles}
    for place, status, _ in found:
        counts[place][status] += status in {LiveStatus.LEFT_ALONE, LiveStatus.OPTED_OUT}
    return counts


def _count_statuses(rows: Sequence[StatusRow]) -> tuple[Counter[LiveStatus], Counter[str]]:
    dns = Counter(row.dns_failure or NOT_KNOWN for row in rows if row.failure == "dns")
    return Counter(live_status(row) for row in rows), dns


def status_table(study: LiveStudy, found: Sequence[ConfigurationStatuses]) -> NamedTable:
    """List each configuration in a row: the paper's five statuses, and the additional statuses present in the data."""
    shown = [one for one in LiveStatus if one in _OF_THE_PAPER or any(each.counts[one] for each in found)]
    columns = ("vantage point", "resolver", "transport", "loads", *(f"{one} %" for one in shown))
    rows = [
        (
            *one.words,
            str(one.counts.total()),
            *(_cell(one, status, study.level, interval=status is LiveStatus.SUCCESSFUL) for status in shown),
        )
        for one in found
    ]
    return NamedTable(
        "live_table1", "Table 1: what became of the page loads", Table(columns, rows, frozenset(range(3))),
        [_row(study, one, status) for one in found for status in LiveStatus], _note(study), _further(found),
    )  # fmt: skip


def _further(found: Sequence[ConfigurationStatuses]) -> list[tuple[str, Table]]:
    """Return a table of the lookups' results, if there are DNS errors."""
    classes = [*DnsFailure, NOT_KNOWN]
    rows = [
        (*one.words, *(str(one.dns_failures[name]) for name in classes)) for one in found if one.dns_failures.total()
    ]
    columns = ("vantage point", "resolver", "transport", *classes)
    title = "What the look-ups of loads with a DNS error came to"
    return [(title, Table(columns, rows, frozenset(range(3))))] if rows else []


def _cell(one: ConfigurationStatuses, status: LiveStatus, level: float, *, interval: bool) -> str:
    share = one.share(status, level)
    if not one.counts[status] and not interval:
        return "0"
    text = f"{_percent(share.value)} ({one.counts[status]})"
    return f"{text} [{_percent(share.ci_low)}, {_percent(share.ci_high)}]" if interval else text


def _percent(ratio: float | None) -> str:
    return number_text(None if ratio is None else 100 * ratio)


def _note(study: LiveStudy) -> str:
    return (
        f"Share and count of all finished trials; successful ones with {level_text(study.level)} interval (Wilson). "
        f"{_describe_dropped(study)} Selenium Error is Browser error here. The paper counts a document with any HTTP "
        "status as successful; here all but 2xx is a failure with a word of its own. Left alone, opted out: our "
        "manners contacted nothing, as site or resolver had said no or its domain is on the opt-out list. The "
        "file holds every status with its interval."
    )


def _describe_dropped(study: LiveStudy) -> str:
    """Return a sentence about the copies left out of the table, if any."""
    copies = {one.id for one in study.findings.plan.conditions() if one.replicate > 1}
    count = sum(load.condition in copies for load in study.findings.loads)
    if not count:
        return "None is dropped."
    return f"{format_count(count, 'trial')} of copies left out, which are for A/A comparisons; no other is dropped."


def _row(study: LiveStudy, one: ConfigurationStatuses, status: LiveStatus) -> dict[str, Value]:
    share = one.share(status, study.level)
    return {
        "vantage_point": one.profile,
        "resolver": one.resolver,
        "dns_transport": one.dns_transport,
        "further_levels": ", ".join(one.further),
        "status": str(status),
        "loads_count": one.counts[status],
        "total_count": share.n,
        "share_ratio": share.value,
        "ci_low_ratio": share.ci_low,
        "ci_high_ratio": share.ci_high,
        "ci_level": share.level,
        "ci_method": str(share.method),
    }
