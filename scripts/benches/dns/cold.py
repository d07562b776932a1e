"""Cold exchanges through the emulated path: their cost beyond round trips and the transmission of bytes on the link.

For: the part `cold`: c = T minus the closed form of `resolab.basics.protocols`, with idle processors kept awake and
without; the captured packets stand beside the form's. Not for: running the programs (`testbed`), the
critical path (`flights`).
"""

import asyncio
import collections
import contextlib
import math
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

import msgspec

from benches.common import turns
from benches.common.part import BenchPart, DnsBench, Spread, verdict
from benches.dns import flights, path_capture
from benches.dns.testbed import make_testbed
from resolab.basics.errors import ResolabError
from resolab.basics.protocols import (
    DNS_TRANSPORTS,
    ExchangeSizes,
    cold_exchange_flights,
    cold_exchange_round_trips,
    exchange_time_ms,
    has_handshake,
)
from resolab.basics.records import QueryRecord
from resolab.lab import engine
from resolab.plan import Corpus

PROFILES = ["fiber", "cable", "dsl", "4g", "4g-medium"]
"""The profiles of Sengupta et al. 2024."""
TRANSPORTS = [transport.value for transport in DNS_TRANSPORTS]
HANDSHAKES = ["full", "resumed", "zero_rtt"]
LIMITS_MS = {"doudp": 0.15, "dotcp": 0.3, "dot": 1.0, "doh": 1.0, "doq": 1.2, "doh3": 1.2}
THIS = "this"
"""The label of the judged build."""
PER_ROUND_COUNT = 20
CAPTURED_COUNT = 5
"""The number of exchanges under a capture, for the flights; these exchanges are not measured."""
LEFT_OUT_MOST = 0.05
"""The largest share of a cell's exchanges left out. Were all of these slower than the rest, the median of the rest
would be the 47.5 % quantile of all: well within the chance variation of the median of 200 (43 to 57 %)."""
SET_UP_S = 0.6
LEFT_BEHIND_BYTES, REST_MS = 2_500, 10.0
"""The bytes possibly left to send up after the answer, mainly QUIC's padded acknowledgement."""
PRIMING_SHARE = 0.7
"""The approximate share of fetching tickets in the round trips of full handshakes."""

Cell = tuple[str, str]
"""A transport with a handshake."""


@dataclass
class CriticalPathTable:
    """The critical path of a cell's exchanges: medians over the captured exchanges."""

    round_trips: int
    up_bytes: float
    down_bytes: float
    flights: list[dict[str, object]]
    """The flights of an exchange, first to last: direction, IP bytes of each packet, and the side's time before."""
    sizes: ExchangeSizes
    """The recorded sizes of the same exchanges."""


@dataclass
class ProfileMeasurement:
    """The measurements of a profile with a binary."""

    profile: str
    label: str
    tables: dict[Cell, CriticalPathTable] = field(default_factory=dict)
    times_ms: dict[tuple[Cell, bool], list[list[float]]] = field(default_factory=lambda: collections.defaultdict(list))
    """The times of each round, by cell and keep-awake."""
    not_as_asked: collections.Counter[tuple[Cell, bool]] = field(default_factory=collections.Counter)
    """The number of exchanges left out, by cell and keep-awake: their handshake was not the requested handshake."""

    def counts(self, cell: Cell, *, keep_awake: bool) -> tuple[int, int]:
        """Return the number of counted exchanges, and of all exchanges."""
        kept_count = sum(map(len, self.times_ms[cell, keep_awake]))
        return kept_count, kept_count + self.not_as_asked[cell, keep_awake]

    def is_whole(self, cell: Cell) -> bool:
        """Return True when few enough exchanges were left out, with processors kept awake and without."""
        counts = (self.counts(cell, keep_awake=keep_awake) for keep_awake in (True, False))
        return all(all_count - kept_count <= LEFT_OUT_MOST * all_count for kept_count, all_count in counts)


def cells(transports: Sequence[str], handshakes: Sequence[str] = HANDSHAKES) -> dict[str, list[str]]:
    """Return the transports of each handshake."""
    encrypted = [transport for transport in transports if has_handshake(transport)]
    found = {"full": list(transports), "resumed": encrypted, "zero_rtt": encrypted}
    return {handshake: found[handshake] for handshake in HANDSHAKES if handshake in handshakes and found[handshake]}


def rates(profile: str) -> flights.Rates:
    """Return the link of a profile."""
    link = Corpus.from_project().profile(profile)
    one_way = (link.up.one_way_delay_ms, link.down.one_way_delay_ms)
    return flights.Rates(*one_way, link.up.rate_bps, link.down.rate_bps)


def pause_ms(profile: str) -> int:
    """Return the pause of the link between exchanges."""
    return math.ceil(REST_MS + rates(profile).serialization_ms(LEFT_BEHIND_BYTES, 0))


def estimate_s(bench: DnsBench) -> float:
    """Estimate the duration of the part."""
    binaries = 1 + (bench.against is not None)
    rounds = _rounds(bench)
    return binaries * sum(
        sum(_round_s(bench, profile, count) * (1 + idle) for count, idle in rounds)
        + _round_s(bench, profile, CAPTURED_COUNT)
        for profile in bench.profiles
    )


def _round_s(bench: DnsBench, profile: str, count: int) -> float:
    trips, exchanges = 0.0, 0
    for handshake, transports in cells(bench.transports, bench.handshakes).items():
        trips += sum(cold_exchange_round_trips(transport, handshake) for transport in transports)
        exchanges += len(transports)
        if handshake != "full":
            trips += PRIMING_SHARE * sum(cold_exchange_round_trips(transport) for transport in transports)
    each_ms = trips * rates(profile).rtt_ms + exchanges * pause_ms(profile)
    return SET_UP_S + count * each_ms / 1e3


def _rounds(bench: DnsBench) -> list[tuple[int, bool]]:
    """Return each round's exchanges, and True for rounds also run without keep-awake: these are spread evenly."""
    whole, rest = divmod(bench.exchanges_count, PER_ROUND_COUNT)
    counts = [PER_ROUND_COUNT] * whole + ([rest] if rest else [])
    share = min(bench.idle_exchanges_count / bench.exchanges_count, 1.0)
    return [(count, math.ceil((n + 1) * share) > math.ceil(n * share)) for n, count in enumerate(counts)]


def measure(bench: DnsBench) -> list[BenchPart]:
    """Measure every profile; rounds with and without keep-awake take turns, and the binaries take turns, too."""
    return [asyncio.run(_measure(bench))]


async def _measure(bench: DnsBench) -> BenchPart:
    cores = {THIS: str(engine.find_core())} | ({"against": bench.against} if bench.against else {})
    part = _part(bench)
    for profile in bench.profiles:
        measured = {label: ProfileMeasurement(profile, label) for label in cores}
        for label, core in cores.items():
            bench.progress.step(f"cold, {profile}, capture", _round_s(bench, profile, CAPTURED_COUNT))
            await _capture(bench, measured[label], core)
        for number, (count, with_idle) in enumerate(_rounds(bench)):
            arms = [(label, keep_awake) for label in cores for keep_awake in ((True, False) if with_idle else (True,))]
            for label, keep_awake in turns.order_arms(arms, number):
                bench.progress.step(f"cold, {profile}", _round_s(bench, profile, count))
                await _round(bench, measured[label], cores[label], count, keep_awake=keep_awake)
        for one in measured.values():
            _add(part, one, bench)
    return part


async def _round(bench: DnsBench, measured: ProfileMeasurement, core: str, count: int, *, keep_awake: bool) -> None:
    pause = pause_ms(measured.profile)
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        async with make_testbed(core, measured.profile, Path(folder), pause_ms=pause, keep_awake=keep_awake) as bed:
            for handshake, transports in cells(bench.transports, bench.handshakes).items():
                times: dict[Cell, list[float]] = collections.defaultdict(list)
                for record in await bed.ask(handshake, transports, count):
                    cell = (record.dns_transport.value, handshake)
                    if not _is_as_asked(record, handshake):
                        measured.not_as_asked[cell, keep_awake] += 1
                    elif record.query_response_time_ns is not None:
                        times[cell].append(record.query_response_time_ns / 1e6)
                for cell, values in times.items():
                    measured.times_ms[cell, keep_awake].append(values)


def _is_as_asked(record: QueryRecord, handshake: str) -> bool:
    return record.handshake_mode is None or record.handshake_mode.value == handshake


async def _capture(bench: DnsBench, measured: ProfileMeasurement, core: str) -> None:
    pause = pause_ms(measured.profile)
    with tempfile.TemporaryDirectory(dir=bench.scratch) as folder:
        file = Path(folder) / "path.pcapng"
        async with make_testbed(core, measured.profile, Path(folder), pause_ms=pause, keep_awake=True) as bed:
            await bed.capture(file)
            asked = {
                handshake: await bed.ask(handshake, transports, CAPTURED_COUNT)
                for handshake, transports in cells(bench.transports, bench.handshakes).items()
            }
            await bed.end_capture()
        crossings = path_capture.read(file)
    link = rates(measured.profile)
    paths: dict[Cell, list[list[flights.Flight]]] = collections.defaultdict(list)
    readable: dict[Cell, list[QueryRecord]] = collections.defaultdict(list)
    for handshake, records in asked.items():
        for record in records:
            # One whose packets cannot be told apart says nothing; a cell without any is missing in the result.
            with contextlib.suppress(flights.UnclearError):
                if _is_as_asked(record, handshake):
                    cell = (record.dns_transport.value, handshake)
                    paths[cell].append(_critical_path(crossings, record, link))
                    readable[cell].append(record)
    measured.tables.update({cell: table(found, read_sizes(readable[cell])) for cell, found in paths.items()})


def _critical_path(
    crossings: Sequence[path_capture.Crossing], record: QueryRecord, link: flights.Rates
) -> list[flights.Flight]:
    if record.query_response_time_ns is None or record.response_bytes is None:
        raise ResolabError("a query without a response has no critical path")
    wanted_ns = record.time_origin_ns
    answered_ns = wanted_ns + record.query_response_time_ns
    flow = flights.flow_of(crossings, wanted_ns, answered_ns)
    return flights.critical_path(flow, wanted_ns, answered_ns, record.query_bytes, record.response_bytes, link)


def read_sizes(records: Sequence[QueryRecord]) -> ExchangeSizes:
    """Return the median sizes of exchanges of a cell; `None` for sizes without a record."""
    known = {one.name: [getattr(record, one.name) for record in records] for one in fields(ExchangeSizes)}
    medians = {name: None if None in values else statistics.median_low(values) for name, values in known.items()}
    return msgspec.convert(medians, ExchangeSizes)


def table(paths: Sequence[Sequence[flights.Flight]], sizes: ExchangeSizes) -> CriticalPathTable:
    """Summarise the critical paths of exchanges of a cell."""
    ups, downs = ([sum(one.ip_bytes for one in path if one.up == up) for path in paths] for up in (True, False))
    trips = statistics.median_low([len(path) // 2 for path in paths])
    example = next(path for path in paths if len(path) // 2 == trips)
    shown: list[dict[str, object]] = [
        {
            "up": one.up,
            "packets_bytes": list(one.packets),
            "left_bytes": round(one.left_bytes),
            "host_us": round(one.waited_ns / 1e3),
        }
        for one in example
    ]
    return CriticalPathTable(trips, statistics.median(ups), statistics.median(downs), shown, sizes)


def _part(bench: DnsBench) -> BenchPart:
    title = f"Cold exchanges through the emulated path, ms; {bench.exchanges_count} of each cell, one at a time"
    columns = [
        "profile",
        "transport",
        "handshake",
        "k (seen)",
        "bytes up/down",
        "by capture",
        "closed form",
        "n",
        "T p50",
    ]
    columns += ["c p50 [rounds]", "c p90", "idle: n", "c p50 [rounds]", "c p90", "must", "verdict"]
    part = BenchPart("cold", title, (["build"] if bench.against else []) + columns)
    part.remarks = [
        "c = T - closed form; T from wanting the answer, before any socket exists, to the response",
        "closed form: k x RTT, and the packets of each flight by the recorded sizes over both rates; no computing time",
        "k: round trips by the protocols; seen: flights of captured exchanges, halved",
        "bytes: IP bytes on the critical path, medians of captured exchanges; the flights themselves are in the JSON",
        "by capture: k x RTT + these bytes x 8 / rate; more than the closed form where packets waited for a host",
        "idle: processors not kept awake, rounds in turn with those that were; must: of c p50, kept awake",
        f"n: less those whose handshake was not the one asked for; more than {LEFT_OUT_MOST:.0%} of these: MISSED",
    ]
    return part


def _add(part: BenchPart, measured: ProfileMeasurement, bench: DnsBench) -> None:
    link = rates(measured.profile)
    for handshake, transports in cells(bench.transports, bench.handshakes).items():
        for transport in transports:
            cell = (transport, handshake)
            if cell not in measured.tables or not all(measured.times_ms[cell, awake] for awake in (True, False)):
                part.remarks.append(
                    f"{measured.profile} {transport}: no exchange was {handshake}, or none could be told apart"
                )
                part.missed_count += 1
                continue
            _add_row(part, measured, cell, link, named=bench.against is not None)


def _add_row(part: BenchPart, measured: ProfileMeasurement, cell: Cell, link: flights.Rates, *, named: bool) -> None:
    seen, trips = measured.tables[cell], cold_exchange_round_trips(*cell)
    captured_ms = link.closed_form_ms(trips, seen.up_bytes, seen.down_bytes)
    closed_ms = compute_closed_form_ms(measured.profile, cell, seen.sizes)
    beyond = {
        keep_awake: Spread.from_rounds(
            [[time - closed_ms for time in times] for times in measured.times_ms[cell, keep_awake]]
        )
        for keep_awake in (True, False)
    }
    awake, idle, must = beyond[True], beyond[False], LIMITS_MS[cell[0]]
    judged = verdict(awake.median, must) if seen.round_trips == trips and measured.is_whole(cell) else "MISSED"
    if measured.label != THIS:
        judged = ""
    part.add(
        [
            *([measured.label] if named else []),
            measured.profile,
            *cell,
            f"{trips} ({seen.round_trips})",
            f"{seen.up_bytes:.0f}/{seen.down_bytes:.0f}",
            f"{captured_ms:.3f}",
            f"{closed_ms:.3f}",
            _count_text(measured, cell, keep_awake=True),
            f"{awake.median + closed_ms:.3f}",
            awake.text(3),
            f"{awake.p90:.3f}",
            _count_text(measured, cell, keep_awake=False),
            idle.text(3),
            f"{idle.p90:.3f}",
            f"{must:g}",
            judged,
        ],
        {
            "build": measured.label,
            "profile": measured.profile,
            "transport": cell[0],
            "handshake": cell[1],
            "round_trips": trips,
            "table": asdict(seen),
            "closed_form_ms": closed_ms,
            "captured_closed_form_ms": captured_ms,
            "c_kept_awake_ms": asdict(awake),
            "c_not_kept_awake_ms": asdict(idle),
            "not_as_asked_count": sum(measured.not_as_asked[cell, keep_awake] for keep_awake in (True, False)),
            "verdict": judged,
        },
    )


def compute_closed_form_ms(profile: str, cell: Cell, sizes: ExchangeSizes) -> float:
    """Return the time of an exchange of these sizes between hosts without computing time."""
    found = cold_exchange_flights(*cell, sizes)
    if found is None:
        raise ResolabError(f"the records of {cell[0]} have no sizes of hellos, and so no closed form")
    return exchange_time_ms(found, Corpus.from_project().profile(profile))


def _count_text(measured: ProfileMeasurement, cell: Cell, *, keep_awake: bool) -> str:
    kept_count, all_count = measured.counts(cell, keep_awake=keep_awake)
    return str(kept_count) if kept_count == all_count else f"{kept_count} of {all_count}"
