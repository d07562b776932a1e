"""Round trips to the resolvers of a live dataset, as measured by its pings.

For: the distance behind a handshake's round trips, with the method. Not for: query times (`lookups`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from resolab.report.findings.interval_level import level_text
from resolab.report.live.lookups import estimate_columns
from resolab.report.live.study import LiveStudy
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import ABSENT, number_text
from resolab.report.plots.save import Value
from resolab.stats import Estimate, Sample, median
from resolab.store.live.queries import PingRow, pings


@dataclass(frozen=True, slots=True)
class PingSummary:
    """All pings of a resolver by a method from a vantage point; the estimate is over sites."""

    profile: str
    resolver: str
    method: str | None
    rows: Sequence[PingRow]
    median_ms: Estimate

    @property
    def sent_count(self) -> int:
        """The number of pings sent."""
        return sum(row.sent_count for row in self.rows)

    @property
    def answered_count(self) -> int:
        """The number of pings answered."""
        return sum(row.answered_count for row in self.rows)

    @property
    def least_ms(self) -> float | None:
        """The shortest round trip, in ms."""
        return min((row.least_ms for row in self.rows if row.least_ms is not None), default=None)

    @property
    def addresses(self) -> list[str]:
        """The pinged addresses, with the port for methods with ports."""
        return list(dict.fromkeys(row.address + (f" port {row.port}" if row.port else "") for row in self.rows))


def ping_results(study: LiveStudy) -> list[PingSummary]:
    """Summarise the pings of every resolver and method, in the study's order."""
    groups: dict[tuple[str, str, str | None], list[PingRow]] = {}
    for row in pings(study.dataset):
        groups.setdefault((row.profile, row.resolver, row.method), []).append(row)
    places = list(study.profiles)
    ordered = sorted(groups, key=lambda key: (places.index(key[0]), study.resolver_order[key[1]], key[2] or "~"))
    return [_result(study, key, groups[key]) for key in ordered]


def _result(study: LiveStudy, key: tuple[str, str, str | None], rows: Sequence[PingRow]) -> PingSummary:
    known = [row.median_ms for row in rows if row.median_ms is not None]
    return PingSummary(*key, rows, median(Sample.exact(known), level=study.level))


def ping_table(study: LiveStudy, found: Sequence[PingSummary]) -> NamedTable:
    """List each resolver and method in a row."""
    columns = ("vantage point", "resolver", "method", "address", "sent", "answered", "median RTT ms", "least RTT ms")
    rows = [
        (
            one.profile,
            one.resolver,
            one.method or "none answered",
            ", ".join(one.addresses),
            str(one.sent_count),
            str(one.answered_count),
            both_text(one.median_ms, 2) if one.median_ms.n else ABSENT,
            number_text(one.least_ms, 2),
        )
        for one in found
    ]
    note = (
        f"Beside every load; of each site the median, of those the median with {level_text(study.level)} interval. "
        "Methods in this order, the first that was answered: icmp, an echo; tcp, SYN to SYN-ACK; quic, a packet of no "
        "known version to its answer. Not answered is no time."
    )
    return NamedTable(
        "live_pings", "Round trips to the resolvers", Table(columns, rows, frozenset(range(4))),
        [_row(one) for one in found], note,
    )  # fmt: skip


def _row(one: PingSummary) -> dict[str, Value]:
    return {
        "vantage_point": one.profile,
        "resolver": one.resolver,
        "method": one.method,
        "addresses": " ".join(one.addresses),
        "sites_count": one.median_ms.n,
        "sent_count": one.sent_count,
        "answered_count": one.answered_count,
        **estimate_columns("median_rtt", one.median_ms),
        "least_rtt_ms": one.least_ms,
    }
