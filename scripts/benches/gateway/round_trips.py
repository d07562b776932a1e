"""Round trips to the document's first byte through the gateway, in browsers, by the path's own capture.

For: `scripts/bench gateway`, its part `round-trips`. Not for: the critical path (`benches.dns.flights`), or our own
client's round trips (`bench coalescing`).

Round trips are counted on the critical path of the captured packets. The span begins with the browser's first query for
the page's name and ends with the first byte of the document at the gateway. Times stand beside the counts and in a
separate table (`in_ms`).
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.common.part import BenchPart
from benches.dns import flights, path_capture
from benches.gateway import in_ms
from benches.gateway.bench import GatewayBench, plan
from resolab.basics.records import (
    ConnectionSharing,
    GatewayConnectionRecord,
    GatewayRequestRecord,
    HandshakeMode,
    PageLoadRecord,
    PageSpeculation,
    QueryPurpose,
    QueryRecord,
    Record,
)
from resolab.lab.artifacts import KeptFolders
from resolab.plan import Condition, Corpus, access_rtt_ms
from resolab.trials.page_load.runner import PageLoadRunner

PAGE, PROFILE = "example", "4g"
LEAST_REQUEST_BYTES, LEAST_DOCUMENT_BYTES = 60, 300
"""The least size of a QUIC packet with a request, and with the first of a document; an acknowledgement alone is
smaller."""
_ARM = ("browser", "sharing", "speculation", "handshakes")
LOAD_S, START_S = 4.0, 10.0
MUST = {
    (ConnectionSharing.SEPARATE, PageSpeculation.OFF, HandshakeMode.FULL): 4,
    (ConnectionSharing.RESOLVER_CONNECTION, PageSpeculation.OFF, HandshakeMode.FULL): 3,
    (ConnectionSharing.RESOLVER_CONNECTION, PageSpeculation.DOCUMENT, HandshakeMode.FULL): 2,
    (ConnectionSharing.SEPARATE, PageSpeculation.OFF, HandshakeMode.ZERO_RTT): 2,
    (ConnectionSharing.RESOLVER_CONNECTION, PageSpeculation.OFF, HandshakeMode.ZERO_RTT): 2,
    (ConnectionSharing.RESOLVER_CONNECTION, PageSpeculation.DOCUMENT, HandshakeMode.ZERO_RTT): 1,
}
"""The required round trips by sharing, speculation and handshakes."""


@dataclass(frozen=True)
class GatewayLoad:
    """A load through the gateway."""

    round_trips: int | None
    """The round trips; None when the load's packets could not be told apart."""
    first_byte_ms: float
    """The time from the query to the document's first byte, at the gateway."""


def estimate_s(bench: GatewayBench) -> float:
    """Estimate the duration, in s."""
    return len(bench.browsers) * (START_S + len(MUST) * bench.loads_count * LOAD_S)


def measure(bench: GatewayBench) -> list[BenchPart]:
    """Count the round trips in every browser and arm."""
    part = BenchPart(
        "round-trips",
        f"To the first byte of {PAGE} over {PROFILE}, from its first query, {bench.loads_count} loads each",
        [*_ARM, "n", "first byte ms", "round trips by the tap", "must", "verdict"],
    )
    part.remarks = ["loads whose packets cannot be told apart, or whose handshake was another one, are not among n"]
    times_ms = {browser: asyncio.run(_measure(bench, part, browser)) for browser in bench.browsers}
    rtt_ms = access_rtt_ms(Corpus.from_project().profile(PROFILE))
    trips = {_arm_text(*arm): count for arm, count in MUST.items()}
    held_against = {_arm_text(*arm): _arm_text(ConnectionSharing.SEPARATE, PageSpeculation.OFF, arm[2]) for arm in MUST}
    return [part, in_ms.part(times_ms, trips, held_against, rtt_ms)]


async def _measure(bench: GatewayBench, part: BenchPart, browser: str) -> dict[str, list[float]]:
    """Count in one browser; return the times of each arm."""
    wanted = plan(PAGE, PROFILE, browser)
    folder = bench.scratch / f"captures-{browser}"
    arms = [one for one in wanted.conditions() if one.resolver_path == "gateway"]
    times_ms: dict[str, list[float]] = {}
    async with PageLoadRunner(
        wanted, Corpus.from_project(), wanted.seed, kept=KeptFolders(capture_folder=folder)
    ) as testbed:
        for condition in arms:
            seen: list[GatewayLoad] = []
            for number in range(bench.loads_count):
                bench.progress.step(f"{browser} {condition.connection_sharing} {number + 1}", LOAD_S)
                result = await testbed.run_trial(condition, f"b000-t{number:03}")
                assert result.files.capture_file is not None  # there is a folder for it
                seen += _evaluate_load(condition, result.records, result.files.capture_file)
            _add_row(part, browser, condition, seen)
            times_ms[_arm_text(*_arm_of(condition))] = [one.first_byte_ms for one in seen]
    return times_ms


def _arm_of(condition: Condition) -> tuple[ConnectionSharing, PageSpeculation, HandshakeMode]:
    return condition.connection_sharing, condition.speculation, condition.requested_handshake_mode


def _arm_text(sharing: ConnectionSharing, speculation: PageSpeculation, mode: HandshakeMode) -> str:
    return f"{sharing}, {mode}" if speculation is PageSpeculation.OFF else f"{sharing}, {speculation}, {mode}"


def _evaluate_load(condition: Condition, records: Sequence[Record], capture: Path) -> list[GatewayLoad]:
    """Evaluate the measured load; return no entry after a failure or with another handshake than requested."""
    loads = [one for one in records if isinstance(one, PageLoadRecord) and one.measured and one.failure is None]
    last = max((one.load for one in records if isinstance(one, GatewayRequestRecord)), default=None)
    documents = [
        one for one in records if isinstance(one, GatewayRequestRecord) and one.load == last and one.path == "/"
    ]
    if not loads or not documents or documents[0].head_ns is None:
        return []
    document = documents[0]
    carried = [
        one
        for one in records
        if isinstance(one, GatewayConnectionRecord) and one.connection_id == document.connection_id
    ]
    if [one.handshake_mode for one in carried] != [condition.requested_handshake_mode]:
        return []
    wanted_ns, named_ns = _find_name_times(records, document)
    first_ns = document.head_ns
    assert first_ns is not None  # looked at above
    spans = [(wanted_ns, first_ns, LEAST_DOCUMENT_BYTES)]
    if condition.connection_sharing is ConnectionSharing.SEPARATE:
        spans = [(wanted_ns, named_ns, LEAST_REQUEST_BYTES), (named_ns, first_ns, LEAST_DOCUMENT_BYTES)]
    try:
        trips = sum(_trips(path_capture.read(capture), *span) for span in spans)
    except flights.UnclearError:
        trips = None
    return [GatewayLoad(trips, (first_ns - wanted_ns) / 1e6)]


def _find_name_times(records: Sequence[Record], document: GatewayRequestRecord) -> tuple[int, int]:
    """Return the first query time of the document's name in the measured load, and the time of its address."""
    host = document.authority.partition(":")[0]
    queries = [
        one
        for one in records
        if isinstance(one, QueryRecord) and one.purpose is QueryPurpose.FORWARDED and one.qname.rstrip(".") == host
    ]
    addresses = [one for one in queries if one.qtype == "A" and one.query_response_time_ns is not None]
    named = max(addresses, key=lambda one: one.time_origin_ns)
    # Those of the warm-up are a load's length before it.
    beside = [one.time_origin_ns for one in queries if abs(one.time_origin_ns - named.time_origin_ns) < 50_000_000]
    assert named.query_response_time_ns is not None  # chosen for that
    return min(beside), named.time_origin_ns + named.query_response_time_ns


def _trips(crossings: Sequence[path_capture.Crossing], since_ns: int, until_ns: int, least_bytes: int) -> int:
    flow = flights.flow_of(crossings, since_ns, until_ns)
    path = flights.critical_path(flow, since_ns, until_ns, LEAST_REQUEST_BYTES, least_bytes, flights.UNLIMITED)
    return len(path) // 2


def _add_row(part: BenchPart, browser: str, condition: Condition, seen: Sequence[GatewayLoad]) -> None:
    must = MUST[_arm_of(condition)]
    counted = [one.round_trips for one in seen if one.round_trips is not None]
    # Of all loads more than half must be readable, and the middle ones alike.
    readable = 2 * len(counted) > len(seen)
    trips = statistics.median(counted) if readable else None
    first_ms = statistics.median([one.first_byte_ms for one in seen]) if seen else None
    part.add(
        [
            browser,
            condition.connection_sharing,
            condition.speculation,
            condition.requested_handshake_mode,
            f"{len(counted)}",
            "-" if first_ms is None else f"{first_ms:.1f}",
            ", ".join(f"{one}" for one in sorted(set(counted))) or "-",
            str(must),
            "met" if trips == must else "MISSED",
        ],
        {"browser": browser, "condition": condition.id, "must": must, "seen": [asdict(one) for one in seen]},
    )
