"""Figs. 3 to 7 of Sengupta et al.: connects of HTTP/3 and phases of cold DNS exchanges, in round trips.

For: a dataset's content for each of these figures. Not for: page load times (`loads`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.protocols import DNS_TRANSPORTS, OVER_TCP
from resolab.report.findings.findings import Findings
from resolab.report.findings.interval_level import find_level, level_text
from resolab.report.parts.failure_sentences import describe_left_out
from resolab.report.plots import CdfAxis, Curve, CurveStyle, Drawing, draw_cdfs, transport_label, transport_look
from resolab.store import Dataset
from resolab.store.outcomes import SAY_NOTHING
from resolab.studies.paper_profiles import find_paper_profile
from resolab.studies.s24.distributions import Distribution, make_distribution, median_text, pool
from resolab.studies.s24.paper_numbers import CITATION
from resolab.studies.s24.queries import ConnectRow, PhaseRow, connects, phase_distributions
from resolab.studies.s24.scope import PaperScope

ALL = "all profiles"
AXIS = "duration, round trips"
COLUMN = "duration_round_trips"


@dataclass(frozen=True, slots=True)
class Timings:
    """Durations in round trips: `connects` by profile and label, `phases` by profile, transport and phase."""

    profiles: Sequence[str]
    connects: Mapping[tuple[str, str], Distribution]
    phases: Mapping[tuple[str, str, str], Distribution]
    zero_rtt_asked_count: int
    zero_rtt_reached_count: int
    lost_count: int
    """Trials without a load informative about the network."""
    level: float
    """The level of the medians' intervals."""

    def connect(self, label: str, profiles: Iterable[str]) -> Distribution:
        """Pool the connects of some profiles."""
        return pool([self.connects[one, label] for one in profiles if (one, label) in self.connects])

    def phase(self, transport: str, phase: str, profiles: Iterable[str]) -> Distribution:
        """Pool a phase of some profiles."""
        return pool([self.phases[one, transport, phase] for one in profiles if (one, transport, phase) in self.phases])


H3_FULL, H3_ZERO_RTT, H3_REQUEST = "H3 full, connect", "H3 0-RTT, connect", "H3 0-RTT, until the request"
"""`connect` is connectStart to connectEnd, as in the paper; with early data the request leaves long before its end."""
_CONNECT_LOOKS = {
    H3_FULL: CurveStyle("#000000"),
    H3_ZERO_RTT: CurveStyle("#d55e00", (0, (4, 1.5))),
    H3_REQUEST: CurveStyle("#8c8c8c", "-", "o"),
}


def read_timings(dataset: Dataset, findings: Findings, scope: PaperScope) -> Timings:
    """Read the durations and express them in round trips of their profile."""
    rtt_ms = findings.rtt_ms
    of_condition = {one.id: one for cell in scope.cells.values() for one in cell.values()}
    rows = [row for row in connects(dataset) if row.condition in of_condition]
    usable = [row for row in rows if row.failure not in SAY_NOTHING]
    found: dict[tuple[str, str], list[float | None]] = {}
    asked = reached = 0
    for row in usable:
        condition = of_condition[row.condition]
        early = condition.requested_handshake_mode == "zero_rtt"
        asked, reached = asked + early, reached + (early and row.handshake_mode == "zero_rtt")
        for label, time_ms in _durations(row, early=early):
            trips = None if time_ms is None else time_ms / rtt_ms[condition.profile]
            found.setdefault((condition.profile, label), []).append(trips)
    profiles = [one for one in scope.profiles if rtt_ms.get(one)]
    return Timings(
        profiles=profiles,
        connects={key: make_distribution(values) for key, values in found.items() if key[0] in profiles},
        phases=_phases(phase_distributions(dataset), {one: rtt_ms[one] for one in profiles}),
        zero_rtt_asked_count=asked,
        zero_rtt_reached_count=reached,
        lost_count=sum(load.condition in of_condition for load in findings.loads) - len(usable),
        level=find_level(findings.plan),
    )


def _durations(row: ConnectRow, *, early: bool) -> list[tuple[str, float | None]]:
    if early:
        return [(H3_ZERO_RTT, row.connect_ms), (H3_REQUEST, row.connect_to_request_ms)]
    return [(H3_FULL, row.connect_ms)]


def _phases(rows: Sequence[PhaseRow], rtt_ms: Mapping[str, float]) -> dict[tuple[str, str, str], Distribution]:
    steps: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    totals: dict[tuple[str, str, str], int] = {}
    for row in rows:
        if row.profile not in rtt_ms:
            continue
        key = (row.profile, row.dns_transport, row.phase)
        totals[key] = row.total_count
        known = steps.setdefault(key, [])
        if row.time_us is not None:
            known.append((row.time_us / 1e3 / rtt_ms[row.profile], row.reached_count))
    return {key: Distribution(known, totals[key]) for key, known in steps.items()}


def exchange_drawings(timings: Timings, findings: Findings, scope: PaperScope) -> Iterator[Drawing]:
    """Draw Figs. 3 to 7, each if the dataset has its data."""
    everywhere, two = {ALL: timings.profiles}, _those(timings, ("fiber", "4g"))
    if any(one.n for one in timings.connects.values()):
        yield _draw("s24_fig3", "Fig. 3", _CONNECTS, _handshakes(timings, everywhere), timings, findings, scope)
        if two:
            yield _draw("s24_fig4", "Fig. 4", _CONNECTS, _handshakes(timings, two), timings, findings, scope)
    if timings.phases:
        yield _draw("s24_fig5", "Fig. 5", _EXCHANGES, _lookups(timings, everywhere), timings, findings, scope)
        if two:
            yield _draw("s24_fig6", "Fig. 6", _EXCHANGES, _lookups(timings, two), timings, findings, scope)
        panels = everywhere | _those(timings, ("cable",))
        single_trips = _single_trips(timings, panels)
        if single_trips:  # A plan may have none of the transports of this figure.
            yield _draw("s24_fig7", "Fig. 7", _SINGLE_TRIPS, single_trips, timings, findings, scope)


def _those(timings: Timings, profiles: Sequence[str]) -> dict[str, Sequence[str]]:
    return {one: [one] for one in timings.profiles if find_paper_profile(one) in profiles}


_CONNECTS = (
    "Connects of the page over HTTP/3 (connectEnd - connectStart) and handshakes of DoQ, in round trips of the "
    "profile. With early data the browser's connectEnd is still the end of the handshake: the grey curve is when the "
    "request left."
)
_EXCHANGES = (
    "Cold DNS exchanges with a full handshake (query wanted to response), in round trips of the profile. "
    "Dotted: the round trips of the closed form."
)
_SINGLE_TRIPS = (
    "What should take one round trip each (DoQ's handshake with the keys' computing): TCP's connect of the queries "
    "over TCP, a DoUDP look-up, a DoQ query on its open connection, and DoQ's handshake, in round trips of the "
    "profile."
)


def _handshakes(timings: Timings, panels: Mapping[str, Sequence[str]]) -> list[Curve]:
    curves = []
    for panel, profiles in panels.items():
        for label, look in _CONNECT_LOOKS.items():
            curves.append(_curve(timings, panel, label, look, timings.connect(label, profiles)))
        doq = timings.phase("doq", "quic_handshake", profiles)
        curves.append(_curve(timings, panel, "DoQ, handshake", transport_look("doq"), doq))
    return [curve for curve in curves if curve.n]


def _lookups(timings: Timings, panels: Mapping[str, Sequence[str]]) -> list[Curve]:
    curves = [
        _curve(
            timings,
            panel,
            transport_label(transport),
            transport_look(transport),
            timings.phase(transport, "query_response_time", profiles),
        )
        for panel, profiles in panels.items()
        for transport in DNS_TRANSPORTS
    ]
    return [curve for curve in curves if curve.n]


def _single_trips(timings: Timings, panels: Mapping[str, Sequence[str]]) -> list[Curve]:
    curves = []
    for panel, profiles in panels.items():
        tcp = pool([timings.phase(one, "tcp_connect", profiles) for one in OVER_TCP])
        parts = (
            ("TCP RTT", transport_look("doh"), tcp),
            ("DoUDP look-up", transport_look("doudp"), timings.phase("doudp", "query_response_time", profiles)),
            ("DoQ query", transport_look("doq"), timings.phase("doq", "query_exchange", profiles)),
            ("DoQ handshake", CurveStyle("#8c8c8c", "-", "o"), timings.phase("doq", "quic_handshake", profiles)),
        )
        curves += [_curve(timings, panel, label, look, one) for label, look, one in parts]
    return [curve for curve in curves if curve.n]


def _curve(timings: Timings, panel: str, label: str, look: CurveStyle, one: Distribution) -> Curve:
    failed = f", {one.failed_count} failed" if one.failed_count else ""
    return Curve(
        row="",
        column=panel,
        label=f"{label}: {median_text(one, timings.level)}, n = {one.n}{failed}",
        look=look,
        points=one.points,
        n=one.n,
        failed_count=one.failed_count,
        key={"panel": panel, "curve": label},
    )


def _draw(
    name: str,
    number: str,
    what: str,
    curves: Sequence[Curve],
    timings: Timings,
    findings: Findings,
    scope: PaperScope,
) -> Drawing:
    counts = [curve.n for curve in curves]
    reached = ""
    if what is _CONNECTS:
        reached = (
            f" The edge saw the document's request in early data in {timings.zero_rtt_reached_count} of "
            f"{timings.zero_rtt_asked_count} loads that asked for 0-RTT; all stay in their curve."
            f"{describe_left_out(timings.lost_count)}"
        )
    caption = (
        f"{number} of {CITATION}, here: {what}{reached} {ALL.capitalize()}: {', '.join(timings.profiles)}. n = "
        f"{min(counts)} to {max(counts)}, failed: {sum(curve.failed_count for curve in curves)}; what failed keeps its "
        f"curve below 1. Medians with {level_text(timings.level)} intervals by order statistics. The axis may end "
        f"before the slowest twentieth; the CSV holds all.{scope.note} Dataset {findings.manifest.dataset_id}."
    )
    guides = (1, 2, 3) if what is _EXCHANGES else (0, 1) if what is _CONNECTS else (1,)
    return draw_cdfs(name, curves, CdfAxis(AXIS, COLUMN, guides), caption)
