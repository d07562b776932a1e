"""The number of bytes and packets for querying twenty names, and the purpose of each byte.

For: the part `bytes` of `scripts/bench partial`. Not for: running (`testbed`), reading packets (`layers`), or the
expectation (`expected_bytes`).
"""

import asyncio
import statistics
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.common.part import BenchPart
from benches.common.progress import Progress
from benches.dns.cold import cells, pause_ms, rates
from benches.partial import expected_bytes, testbed
from benches.partial.layers import Layers
from benches.partial.testbed import TURN_COUNT, NamesExchange
from resolab.basics.protocols import cold_exchange_round_trips
from resolab.basics.records import DnsTransport

ARMS = ("one message", "one by one")
HANDSHAKES = ("full", "zero_rtt")
DISSECTION_S = 3.0
"""The approximate time for dissecting a turn's packets."""
UDP_HEADERS_BYTES = 20 + 8


@dataclass(frozen=True)
class PartialResponseBench:
    """The settings of a measurement."""

    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    profile: str
    transports: Sequence[str]
    names_count: int
    delay_ms: float


@dataclass(frozen=True)
class TransportCell:
    """A transport with a handshake."""

    transport: str
    handshake: str
    in_message: Sequence[NamesExchange]
    one_by_one: Sequence[NamesExchange]


def estimate_s(bench: PartialResponseBench) -> float:
    """Estimate the duration, in s."""
    return sum(_cell_s(bench, *cell) for cell in _list_cells(bench))


def _list_cells(bench: PartialResponseBench) -> list[tuple[str, str]]:
    """List each transport with each handshake."""
    return [(one, handshake) for handshake, some in cells(bench.transports, HANDSHAKES).items() for one in some]


def _cell_s(bench: PartialResponseBench, transport: str, handshake: str) -> float:
    count = TURN_COUNT
    round_ms = cold_exchange_round_trips(transport, handshake) * rates(bench.profile).rtt_ms + pause_ms(bench.profile)
    return 2 * (count * round_ms / 1e3 + testbed.estimate_closing_s(bench.profile, count) + DISSECTION_S)


def measure(bench: PartialResponseBench) -> list[BenchPart]:
    """Measure every cell over a common path."""
    return [_part(bench, asyncio.run(_measure(bench)))]


async def _measure(bench: PartialResponseBench) -> list[TransportCell]:
    """Query in every cell over a common path, one name of each message late."""
    found = []
    delays_ms = [*[0.0] * (bench.names_count - 1), bench.delay_ms]
    async with testbed.run_bed(bench.profile, delays_ms, bench.scratch) as bed:
        for handshake, transports in cells(bench.transports, HANDSHAKES).items():
            async with bed.edge(handshake):
                for transport in transports:
                    bench.progress.step(f"{transport}, {handshake}", _cell_s(bench, transport, handshake))
                    arms = await bed.ask(transport, handshake, TURN_COUNT)
                    found.append(TransportCell(transport, handshake, *arms))
    return found


def _part(bench: PartialResponseBench, found: Sequence[TransportCell]) -> BenchPart:
    title = f"Bytes of {bench.names_count} names over {bench.profile}, by what they are for"
    columns = ["transport", "handshake", "asked", "way", "n", "packets", "IP bytes", "headers", "protection"]
    columns += ["control", "padding", "handshake", "closed form", "messages", "closed form", "verdict"]
    part = BenchPart("bytes", title, columns)
    part.remarks = [
        "medians of whole exchanges, connection and closing included, by the path's capture, taken apart by tshark",
        "headers: of IP, UDP, TCP; protection: of TLS's records, QUIC's packets; control: QUIC's other frames",
        "handshake: TLS's messages; messages: DNS with lengths or HTTP; closed form: docs/method/partial-responses.md",
        "must, of each exchange: each byte read, as many as crossed the path, both closed forms to the byte",
    ]
    for cell in found:
        for arm, exchanges in zip(ARMS, (cell.in_message, cell.one_by_one), strict=True):
            for up in (True, False):
                _add(part, cell, arm, exchanges, up=up)
    return part


def _add(part: BenchPart, cell: TransportCell, arm: str, exchanges: Sequence[NamesExchange], *, up: bool) -> None:
    read = [(one, one.layers[up], expected_bytes.expect(one, cell.handshake)) for one in exchanges if one.layers]
    way = "up" if up else "down"
    verdict = "met" if all(is_as_expected(one, cell.handshake, up=up) for one in exchanges) else "MISSED"
    names = ("packet_count", "total", "packet_headers", "protection", "control", "padding", "handshake", "application")
    shown = [f"{statistics.median(getattr(one, name) for _, one, _ in read):.0f}" if read else "-" for name in names]
    handshakes = {expected.handshake[up] for _, _, expected in read}
    applications = {expected.application[up] for _, _, expected in read}
    closed = [_range(some) for some in (handshakes, applications)]
    cells_shown = [cell.transport, cell.handshake, arm, way, str(len(read)), *shown[:-1], closed[0]]
    part.add(
        [*cells_shown, shown[-1], closed[1], verdict],
        {
            "cell": [cell.transport, cell.handshake, arm, way],
            "layers": [asdict(one) for _, one, _ in read],
            "expected": [[one.handshake[up], one.application[up]] for _, _, one in read],
        },
    )


def _range(values: Collection[int | None]) -> str:
    """Write the range of values: over QUIC, hellos differ in length."""
    known = sorted(one for one in values if one is not None)
    if not known:
        return "-"
    return str(known[0]) if known[0] == known[-1] else f"{known[0]} to {known[-1]}"


def is_as_expected(exchange: NamesExchange, handshake: str, *, up: bool) -> bool:
    """Return True when every byte of a direction was read, and all closed forms match."""
    if exchange.layers is None:
        return False
    read, expected = exchange.layers[up], expected_bytes.expect(exchange, handshake)
    more = 0 if up else expected.more_application
    is_whole = (read.total, read.packet_count) == (exchange.ip_bytes(up=up), exchange.packet_count(up=up))
    return (
        is_whole
        and read.application in {expected.application[up], expected.application[up] + more}
        and _handshake_is(read, expected.handshake[up], 0 if up else expected.shorter_handshake)
        and _packets_are(exchange, read, up=up)
    )


def _handshake_is(read: Layers, expected: int | None, shorter: int) -> bool:
    return expected is None or expected - shorter <= read.handshake <= expected


def _packets_are(exchange: NamesExchange, read: Layers, *, up: bool) -> bool:
    """Return True when packets match messages over DoUDP; with acknowledgements, the number of packets varies."""
    if exchange.records[0].dns_transport is not DnsTransport.DOUDP:
        return True
    count = len(expected_bytes.messages(exchange.records)[up])
    return read.packet_count == count and read.packet_headers == count * UDP_HEADERS_BYTES
