"""The medians of Hounsel et al. beside ours, by network, with the closed form's explanation of their signs.

For: the tables comparing signs and giving reasons. Not for: the distributions (`differences`).

Two effects decide the sign. A cold lookup over TLS takes more round trips than Do53's single round trip. The gain of
Do53 grows with the distance of the resolver. A lost packet costs Do53 the 5 s of the system's resolver
(resolv.conf(5)), and costs TCP a retransmission timeout: a gain of DoT and DoH. The loss effect moves the
median long before half of the loads wait. When Do53 waits in a share p of the pairs, the median of all pairs is the
(0.5 - p) / (1 - p) quantile of the pairs without a wait.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from resolab.report.findings.resolvers import Resolver
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, estimate_text, interval_text, number_text
from resolab.report.plots.save import Value
from resolab.stats import Estimate
from resolab.studies.h20.do53_differences import Do53Difference
from resolab.studies.h20.paper_numbers import MEDIAN_DIFFERENCE_MS, find_network
from resolab.studies.h20.study import H20Study

Row = Mapping[str, Value]


def network_tables(study: H20Study, rows: Sequence[Row]) -> tuple[Table, Table, Table]:
    """Return the tables of `network_rows`: each configuration against Do53, the effect of loss, and the reasons."""
    pairs = list(zip(study.differences, rows, strict=True))
    return _medians(study, pairs), _losses(rows), _reasons(study, pairs)


def _medians(study: H20Study, pairs: Sequence[tuple[Do53Difference, Row]]) -> Table:
    columns = (
        "resolver", "network", "configuration", "theirs ms", "ours: median ms", "pairs", "bounds", "same sign",
        "failed loads dropped ms", "closed form ms",
    )  # fmt: skip
    rows = [
        (
            *_place(study, one),
            _number(found["paper_median_ms"], signed=True),
            f"{estimate_text(middle, signed=True)} {interval_text(middle, signed=True)}".rstrip(),
            str(middle.n),
            str(middle.censored_count),
            str(found["same_sign"] or ""),
            estimate_text(one.curve.survivors_median_ms, signed=True),
            _number(one.expected_ms, signed=True),
        )
        for one, found in pairs
        for middle in [one.curve.median_ms]
    ]
    return Table(columns, rows, frozenset((0, 1, 2, 7)))


def _losses(rows: Sequence[Row]) -> Table:
    columns = (
        "network", "look-up loses a packet", "names a page", "loads that lose a Do53 look-up",
        "median is this quantile of the rest", "names for half of the loads",
    )  # fmt: skip
    found = [
        (
            _network(str(profile)),
            _percent(row["lookup_loss_ratio"]),
            _number(row["names_count"]),
            _percent(row["loads_with_loss_ratio"]),
            _quantile(row["loads_with_loss_ratio"]),
            _number(row["names_for_half_count"]) or "no loss",
        )
        for profile, row in {row["profile"]: row for row in rows}.items()
    ]
    return Table(columns, found, frozenset((0,)))


def _reasons(study: H20Study, pairs: Sequence[tuple[Do53Difference, Row]]) -> Table:
    rows = [(*_place(study, one), str(found["why"])) for one, found in pairs]
    return Table(("resolver", "network", "configuration", "why"), rows, frozenset(range(4)))


def _place(study: H20Study, one: Do53Difference) -> tuple[str, str, str]:
    resolver = one.configuration.resolver
    vantage = study.vantage_points.get(resolver.extra_rtt_ms, "another")
    where = f"{vantage} (+{resolver.extra_rtt_ms:g} ms, cache {resolver.cache})"
    return where, _network(one.profile), one.configuration.transport


def _network(profile: str) -> str:
    return f"{find_network(profile)} ({profile})"


def network_rows(study: H20Study) -> list[dict[str, Value]]:
    """List every configuration against Do53 as numbers."""
    return [_row(study, one) for one in study.differences]


def their_median_ms(study: H20Study, one: Do53Difference) -> float | None:
    """Return the paper's median of the same transport, network and vantage point."""
    vantage = study.vantage_points.get(one.configuration.resolver.extra_rtt_ms, "")
    return MEDIAN_DIFFERENCE_MS.get((vantage, find_network(one.profile) or ""), {}).get(one.configuration.dns_transport)


def _row(study: H20Study, one: Do53Difference) -> dict[str, Value]:
    resolver = one.configuration.resolver
    theirs = their_median_ms(study, one)
    loss = study.loss_ratio(one.profile)
    names = names_a_page(study, one.profile)
    with_loss = None if names is None else 1 - (1 - loss) ** names
    middle = one.curve.median_ms
    return {
        "vantage_point": study.vantage_points.get(resolver.extra_rtt_ms, ""),
        "resolver_extra_rtt_ms": resolver.extra_rtt_ms,
        "resolver_cache": resolver.cache,
        "network": find_network(one.profile),
        "profile": one.profile,
        "dns_transport": one.configuration.dns_transport,
        "further_levels": ", ".join(one.configuration.further),
        "paper_median_ms": theirs,
        "median_ms": middle.value,
        "median_low_ms": middle.low,
        "median_high_ms": middle.high,
        "ci_low_ms": middle.ci_low,
        "ci_high_ms": middle.ci_high,
        "ci_level": middle.level,
        "ci_method": str(middle.method),
        "ci_unit": one.curve.unit,
        "pages_count": one.curve.pages_count,
        "pairs_count": middle.n,
        "censored_count": middle.censored_count,
        "survivor_median_ms": one.curve.survivors_median_ms.value,
        "same_sign": None if theirs is None else same_sign(theirs, middle),
        "closed_form_ms": one.expected_ms,
        "lookup_loss_ratio": loss,
        "names_count": names,
        "loads_with_loss_ratio": with_loss,
        "median_quantile_ratio": None if with_loss is None else median_quantile(with_loss),
        "names_for_half_count": names_for_half(loss),
        "why": _why(study, one, names, with_loss),
    }


def same_sign(theirs_ms: float, ours_ms: Estimate) -> str:
    """Compare signs; an interval containing zero has no sign."""
    if ours_ms.ci_low is None or ours_ms.ci_high is None or ours_ms.ci_contains_zero:
        return "not clear"
    return "yes" if (theirs_ms > 0) == (ours_ms.ci_low > 0) else "no"


def median_quantile(waiting_ratio: float) -> float | None:
    """Return the quantile of pairs without a Do53 wait equal to the median of all; `None` if the median is a wait."""
    return (0.5 - waiting_ratio) / (1 - waiting_ratio) if waiting_ratio < 0.5 else None


def names_for_half(loss_ratio: float) -> int | None:
    """Return the number of lookups per page with a loss in half of the loads; `None` without loss."""
    return None if loss_ratio == 0 else math.ceil(math.log(0.5) / math.log(1 - loss_ratio))


def names_a_page(study: H20Study, profile: str) -> float | None:
    """Return the median number of names over completed loads on a network."""
    counts = [row.names_count for row in study.rows if row.profile == profile and row.names_count and not row.failure]
    return float(np.median(counts)) if counts else None


def _why(study: H20Study, one: Do53Difference, names: float | None, with_loss: float | None) -> str:
    loss = study.loss_ratio(one.profile)
    rtt = study.rtt_ms(one.profile) + one.configuration.resolver.extra_rtt_ms
    trips = one.expected_ms / rtt if rtt else 0.0
    parts = [f"set-up: {trips:.0f} more round trips of {rtt:.1f} ms before the first answer"]
    if not loss:
        parts.append("no loss, so no 5 s of Do53 to be saved")
    elif names is not None and with_loss is not None:
        at = median_quantile(with_loss)
        turns = (
            "which makes the median a wait"
            if at is None
            else f"which makes the median the {at:.2f} quantile of the rest"
        )
        waits = f"Do53 waits 5 s in {with_loss:.0%} of loads with {names:g} names ({loss:.1%} a look-up)"
        parts.append(f"{waits}, {turns}")
    means = _mean_costs(study, one)
    if means is not None:
        do53, other, retried = means
        query = "a cold query" if one.connection == "cold" else "a query on an open connection"
        parts.append(
            f"measured apart, {query} takes {other - do53:+.0f} ms on average against Do53, of whose queries "
            f"{retried:.1%} were sent again"
        )
    return "; ".join(parts)


def _mean_costs(study: H20Study, one: Do53Difference) -> tuple[float, float, float] | None:
    """Return the mean response times of Do53 and of the transport, and the share of repeated Do53 queries.

    The transport's queries have the same connection state as the configuration's lookups. For cold lookups requesting a
    handshake other than a full one, there are no such queries.
    """
    if one.connection == "cold" and one.handshake_mode != "full":
        return None
    rows = [
        row
        for row in study.costs
        if (row.profile, Resolver(row.resolver_extra_rtt_ms, row.resolver_cache, row.resolver, row.resolver_software))
        == (one.profile, one.configuration.resolver)
    ]
    do53 = [row for row in rows if row.dns_transport == "doudp"]
    own = (one.configuration.dns_transport, one.connection)
    other = [row for row in rows if (row.dns_transport, row.connection) == own]
    n_do53, n_other = (sum(row.n for row in found) for found in (do53, other))
    if not n_do53 or not n_other:
        return None
    return (
        sum(row.sum_ms for row in do53) / n_do53,
        sum(row.sum_ms for row in other) / n_other,
        sum(row.retried_count for row in do53) / n_do53,
    )


def _number(value: Value, *, signed: bool = False) -> str:
    return number_text(value, 0, signed=signed) if isinstance(value, (int, float)) else ""


def _quantile(share: Value) -> str:
    """Format the quantile, among pairs without a wait, equal to the median."""
    if not isinstance(share, float):
        return ABSENT
    at = median_quantile(share)
    return "a wait" if at is None else f"{at:.2f}"


def _percent(value: Value) -> str:
    return f"{value:.1%}" if isinstance(value, (int, float)) else ABSENT
