"""Tables of the paper's profiles and connects: for people in the report, and as CSV for programs.

For: the layout, and Table II. Not for: the comparison (`changes`).
"""

from typing import TYPE_CHECKING

from resolab.basics.records import CalibrationCheck, DirectionProfile, LinkProfile
from resolab.plan.access_link import access_rtt_ms
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import level_text
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT, number_text
from resolab.studies.paper_profiles import find_paper_profile
from resolab.studies.s24.distributions import median_text
from resolab.studies.s24.exchanges import ALL, H3_FULL, H3_REQUEST, H3_ZERO_RTT, Timings
from resolab.studies.s24.paper_numbers import CONNECT_MEDIAN_ROUND_TRIPS, TABLE_2

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | float | None


def profile_table(findings: Findings) -> NamedTable | None:
    """Show Table II beside the profiles as applied, and as measured if the dataset has a calibration."""
    links = [link for link in findings.manifest.profiles if find_paper_profile(link.name) in TABLE_2]
    if not links:
        return None
    rows: list[tuple[str, ...]] = []
    cells: list[Mapping[str, Value]] = []
    for link in links:
        rtt, down, up = TABLE_2[find_paper_profile(link.name)]
        measured = _find_measured_rtt_ms(findings, link.name)
        cells.append(
            {
                "profile": link.name,
                "paper_rtt_ms": rtt,
                "rtt_ms": access_rtt_ms(link),
                "measured_rtt_ms": measured,
                "paper_down_bps": down * 1e6,
                "down_bps": link.down.rate_bps,
                "paper_up_bps": up * 1e6,
                "up_bps": link.up.rate_bps,
                "down_queue_bytes": link.down.queue_bytes,
                "up_queue_bytes": link.up.queue_bytes,
                "down_loss_ratio": link.down.loss_ratio,
                "up_loss_ratio": link.up.loss_ratio,
            }
        )
        rows.append(
            (
                link.name,
                number_text(rtt),
                number_text(access_rtt_ms(link), 3),
                number_text(measured, 3) if measured is not None else "no calibration",
                number_text(down),
                _megabits(link.down),
                number_text(up),
                _megabits(link.up),
                _loss(link),
            )
        )
    table = Table(_PROFILE_COLUMNS, rows, frozenset((0,)))
    return NamedTable("s24_table2", "Table II: the access profiles, asked and as applied", table, cells, _PROFILE_NOTE)


_PROFILE_COLUMNS = (
    "profile", "RTT ms: paper", "as applied", "as measured", "down Mbit/s: paper", "as applied", "up Mbit/s: paper",
    "as applied", "loss",
)  # fmt: skip
_PROFILE_NOTE = (
    "Paper: as printed, rounded. As applied: the unrounded numbers of the authors' set-up, from the dataset's "
    "manifest; the delay is split evenly, and no queue given means rate x round trip. As measured: the median of "
    "`resolab calibrate`'s delays, both directions together, where the dataset holds one."
)


def _find_measured_rtt_ms(findings: Findings, profile: str) -> float | None:
    newest = next((one for one in reversed(findings.calibrations) if one.profile.name == profile), None)
    checks: list[CalibrationCheck] = [] if newest is None else [one for one in newest.checks if one.quantity == "delay"]
    return sum(check.got for check in checks) if len(checks) == 2 else None


def _megabits(direction: DirectionProfile) -> str:
    return "unlimited" if direction.rate_bps is None else number_text(direction.rate_bps / 1e6, 3)


def _loss(link: LinkProfile) -> str:
    if not link.up.loss_ratio and not link.down.loss_ratio:
        return "0"
    return f"{link.down.loss_ratio:g} down, {link.up.loss_ratio:g} up"


def connect_table(timings: Timings) -> NamedTable | None:
    """Show the medians of Figs. 3 and 4 beside ours."""
    rows: list[tuple[str, ...]] = []
    cells: list[Mapping[str, Value]] = []
    for panel, theirs in CONNECT_MEDIAN_ROUND_TRIPS.items():
        profiles = [one for one in timings.profiles if panel in {ALL, find_paper_profile(one)}]
        ours = (
            timings.connect(H3_ZERO_RTT, profiles),
            timings.connect(H3_REQUEST, profiles),
            timings.connect(H3_FULL, profiles),
            timings.phase("doq", "quic_handshake", profiles),
        )
        if not any(one.n for one in ours):
            continue
        zero, full, doq = (ABSENT if one is None else number_text(one, 2) for one in theirs)
        texts = [median_text(one, timings.level) for one in ours]
        rows.append((panel, zero, texts[0], texts[1], full, texts[2], doq, texts[3]))
        names = ("h3_zero_rtt_connect", "h3_zero_rtt_until_request", "h3_full_connect", "doq_handshake")
        paper = (theirs[0], None, theirs[1], theirs[2])
        for name, one, number in zip(names, ours, paper, strict=True):
            low, high = one.median_interval(timings.level) if one.n else (None, None)
            cells.append(
                {
                    "panel": panel,
                    "what": name,
                    "paper_median_round_trips": number,
                    "median_round_trips": one.median if one.n else None,
                    "ci_low_round_trips": low,
                    "ci_high_round_trips": high,
                    "ci_level": timings.level,
                    "n_count": one.n,
                    "failed_count": one.failed_count,
                }
            )
    if not rows:
        return None
    table = Table(_CONNECT_COLUMNS, rows, frozenset((0,)))
    note = _connect_note(timings.level)
    return NamedTable("s24_connects", "Figs. 3 and 4: handshakes in round trips", table, cells, note)


_CONNECT_COLUMNS = (
    "profile", "H3 0-RTT connect: paper", "ours", "until the request: ours", "H3 full connect: paper", "ours",
    "DoQ handshake: paper", "ours",
)  # fmt: skip


def _connect_note(level: float) -> str:
    return (
        f"Medians with {level_text(level)} intervals by order statistics. The paper takes connectEnd for the instant "
        "at which a 0-RTT request leaves and finds that nearly no round trip is saved. With early data the request "
        "leaves before connectEnd: the column in the middle is requestStart - connectStart."
    )
