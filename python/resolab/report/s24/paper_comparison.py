"""Our numbers beside the numbers of Sengupta et al.

For: the comparison section. Not for: the paper's numbers themselves (`paper_numbers`).
"""

from resolab.plots import estimate_text, interval_text, number_text, transport_label
from resolab.protocols import remainder_ms
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_level, level_of_loads, level_text
from resolab.report.labels import name_combination
from resolab.report.s24.paper_numbers import dns_exchange_median_ms, plt_change_percent
from resolab.report.s24.scope import BASELINE, combination_in_paper, is_resolver_in_paper
from resolab.report.tables import Table


def paper_exchange_table(findings: Findings) -> Table:
    """Compare cold DNS exchanges with the paper's."""
    level = level_text(find_level(findings.plan))
    columns = (
        "profile", "transport", "k x RTT ms", "theirs: median ms", "ours: median ms", f"ours: {level} interval",
        "theirs: c ms", "ours: c ms",
    )  # fmt: skip
    rows = []
    for one in findings.exchanges:
        theirs = dns_exchange_median_ms(one.profile, one.dns_transport, one.requested_handshake_mode)
        if theirs is not None and is_resolver_in_paper(one):
            row = (
                one.profile,
                transport_label(one.dns_transport),
                number_text(one.expected_round_trips * one.rtt_ms, 2),
                number_text(theirs, 2),
                estimate_text(one.median_ms, 2),
                interval_text(one.median_ms, 2),
                number_text(remainder_ms(theirs, one.rtt_ms, one.expected_round_trips), 2),
                estimate_text(one.remainder_ms, 2),
            )
            rows.append(row)
    return Table(columns, rows, frozenset(range(2)))


def paper_load_table(findings: Findings) -> Table:
    """Compare changes of page load time with the paper's."""
    level = level_text(level_of_loads(findings.plan))
    columns = (
        "page", "profile", "combination", "theirs", "ours", f"ours: {level} interval", "ours: difference ms",
        "closed form ms",
    )  # fmt: skip
    rows = []
    for one, comparison in findings.plt.compared:
        condition, base = one.condition, comparison.baseline
        # Their baseline is DoUDP with a full H3 handshake; against another one there is nothing to compare.
        if combination_in_paper(base) != BASELINE or combination_in_paper(condition) is None:
            continue
        mode = condition.requested_handshake_mode
        theirs = plt_change_percent(condition.profile, condition.page, condition.dns_transport, mode)
        expected = comparison.expected
        if theirs is None or expected is None:
            continue
        row = (
            condition.page,
            condition.profile,
            name_combination(findings, condition),
            f"{number_text(theirs, signed=True)} %",
            estimate_text(comparison.change, scale=100, signed=True) + (" %" if comparison.change.n else ""),
            interval_text(comparison.change, scale=100, signed=True),
            estimate_text(comparison.difference_ms, signed=True),
            number_text(expected.total_ms, signed=True),
        )
        rows.append(row)
    return Table(columns, rows, frozenset(range(3)))
