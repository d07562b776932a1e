"""The section of our numbers beside the numbers of Sengupta et al.

For: the two tables of medians and changes. Not for: the paper's numbers themselves (`paper_numbers`).
"""

from resolab.basics.protocols import remainder_ms
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_level, level_of_loads, level_text
from resolab.report.parts.labels import name_combination
from resolab.report.parts.tables import Table
from resolab.report.plots import estimate_text, interval_text, number_text, transport_label
from resolab.report.sections.blocks import fit_table
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Block, Heading, Paragraph, Section, SectionContent, Tone
from resolab.studies.s24.paper_numbers import CITATION, dns_exchange_median_ms, plt_change_percent
from resolab.studies.s24.scope import BASELINE, combination_in_paper, is_resolver_in_paper

_EXCHANGE_NOTE = (
    "Theirs: medians read from Figs. 5 and 6. What is left after k round trips is bytes on the wire and the client's "
    "own cost; the round trips are the protocols' and must agree."
)
_LOAD_NOTE = (
    "Theirs: Fig. 8. Read percentages with care: they added a separately measured look-up, always with a full "
    "handshake, to a page load that had none, in an older browser; here the look-up is part of the load. The same "
    "milliseconds are another percentage of another page load time. Milliseconds are what the protocols explain: the "
    "closed form is (k - k of the baseline) x RTT, less one RTT where the page's handshake carries early data, and, "
    "where known, their bytes over the rate. Expect their 0-RTT rows to lie above ours: over a full handshake those "
    "gain about as many milliseconds at 92 ms RTT as at 15 ms, while a saved round trip grows with the RTT; here 0-RTT "
    "is counted only when the server took the request as early data."
)


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


def _build(reading: Reading) -> SectionContent:
    parts = (
        ("Cold DNS exchange, full handshake", paper_exchange_table(reading.findings), _EXCHANGE_NOTE),
        ("Change of the median page load time over DoUDP + H3 full", paper_load_table(reading.findings), _LOAD_NOTE),
    )
    blocks: list[Block] = []
    for title, table, note in parts:
        if table.rows:
            blocks += [Heading(title), fit_table(reading, table), Paragraph(note, Tone.NOTE)]
    return SectionContent(blocks)


def _applies(reading: Reading) -> bool:
    return reading.has_page_loads


SECTION = Section(
    id="paper",
    title=f"Against {CITATION}",
    link="Against the paper",
    follows="plt-sum",
    applies=_applies,
    build=_build,
)
