"""Name and page together: round trips to the page's first byte, by the tap, for each kind of connection sharing.

For: `scripts/bench coalescing`. Not for: running programs (`testbed`), the critical path (`flights`).

Round trips are counted on the critical path of captured exchanges, not from times; times are shown beside the counts.
The time of a whole page is shown, not judged. This time depends on the page's size, on the server's first window and on
the limit for addresses without validation (RFC 9000 section 8.1). An address token lifts this limit.
"""

import asyncio
import contextlib
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from benches.common.part import BenchPart
from benches.common.servers import EDGE_NAME
from benches.dns import flights, path_capture
from benches.dns.cold import pause_ms, rates
from benches.dns.testbed import SERVER_ADDRESS, edge_behind
from resolab.basics.errors import ResolabError
from resolab.basics.records import FetchRecord, PathStartCapture, PathStopCapture, QueryPurpose, Record
from resolab.lab import engine
from resolab.plan import Corpus

PAGE_NAME, PAGE_ADDRESS = "page.resolab.test", "10.77.1.1"
PAGES_KB = [1, 8, 20]
LEAST_REQUEST_BYTES, LEAST_PAGE_BYTES = 60, 300
"""The least size of a QUIC packet with a request, and with the first of a page; an acknowledgement alone is smaller."""
FETCH_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class FetchCase:
    """A kind of fetch, with the required round trips to the page's first byte."""

    mode: str
    handshake: str
    speculative: bool
    must: int
    scheme: str = "h3"


CASES = [
    FetchCase("separate", "full", speculative=False, must=4, scheme="quic"),
    FetchCase("shared_connection", "full", speculative=False, must=3),
    FetchCase("private_alpn", "full", speculative=False, must=3),
    FetchCase("shared_connection", "full", speculative=True, must=2),
    FetchCase("private_alpn", "full", speculative=True, must=2),
    FetchCase("separate", "zero_rtt", speculative=False, must=2, scheme="quic"),
    FetchCase("shared_connection", "zero_rtt", speculative=False, must=2),
    FetchCase("private_alpn", "zero_rtt", speculative=False, must=2),
    FetchCase("shared_connection", "zero_rtt", speculative=True, must=1),
    FetchCase("private_alpn", "zero_rtt", speculative=True, must=1),
]


@dataclass(frozen=True)
class FetchCell:
    """A case with a page and with or without an address token."""

    case: FetchCase
    page_kb: int
    token: bool


def cells(pages_kb: Sequence[int]) -> list[FetchCell]:
    """Return every cell; a first contact has no token."""
    return [
        FetchCell(case, page_kb, token)
        for page_kb in pages_kb
        for case in CASES
        for token in ([False] if case.handshake == "full" else [True, False])
    ]


def measure(profile: str, count: int, pages_kb: Sequence[int], scratch: Path) -> BenchPart:
    """Measure every cell over a common path."""
    return asyncio.run(_measure(profile, count, pages_kb, scratch))


async def _start_capture(path: engine.Path, file: Path) -> None:
    await path.process.command(lambda number: PathStartCapture(id=number, file=str(file)))


async def _measure(profile: str, count: int, pages_kb: Sequence[int], scratch: Path) -> BenchPart:
    config = _write_edge(scratch, pages_kb)
    part = _part(profile, count)
    path_file = Corpus.from_project().profile_file(profile)
    path = await engine.Path.start(path_file, seed=1, keep_awake=True, on_record=lambda _record: None)
    try:
        with edge_behind(path.ready.pid, config) as ca_file:
            for number, cell in enumerate(cells(pages_kb)):
                capture = scratch / f"{number}.pcapng"
                await _start_capture(path, capture)
                records = await asyncio.to_thread(_fetch, path.ready.pid, ca_file, cell, count, pause_ms(profile))
                await path.process.command(lambda i: PathStopCapture(id=i))
                crossings = path_capture.read(capture)
                capture.unlink()
                _add_row(part, cell, records, crossings, rates(profile))
    finally:
        await path.close()
    return part


def _write_edge(scratch: Path, pages_kb: Sequence[int]) -> Path:
    pages = scratch / "pages"
    pages.mkdir()
    for page_kb in pages_kb:
        (pages / f"{page_kb}k.txt").write_bytes(b"x" * (page_kb * 1000))
    config = scratch / "edge.toml"
    config.write_text(
        f'[ca]\nfolder = "ca"\n[resolver]\nname = "{EDGE_NAME}"\naddresses = ["{SERVER_ADDRESS}"]\n'
        f'[[site]]\nhost = "{PAGE_NAME}"\naddress = "{PAGE_ADDRESS}"\nfolder = "pages"\n'
        "[coalescing]\nshared_connection = true\nprivate_alpn = true\n",
        "utf-8",
    )
    return config


def _fetch(path_pid: int, ca_file: str, cell: FetchCell, count: int, pause: int) -> list[FetchRecord]:
    case = cell.case
    command = [*engine.enter_prefix(path_pid, "client"), str(engine.find_core()), "fetch", "--mode", case.mode]
    command += ["--handshake", case.handshake, "--resolver", f"{case.scheme}://{EDGE_NAME}", "--ca", ca_file]
    command += ["--resolve", f"{EDGE_NAME}={SERVER_ADDRESS}", "--count", str(count), "--interval-ms", str(pause)]
    command += ["--speculative"] if case.speculative else []
    command += [] if cell.token else ["--no-address-token"]
    command.append(f"https://{PAGE_NAME}/{cell.page_kb}k.txt")
    done = subprocess.run(command, stdout=subprocess.PIPE, timeout=FETCH_TIMEOUT_S * count, check=True)
    decoder = msgspec.json.Decoder(Record)
    records = [decoder.decode(line) for line in done.stdout.splitlines()]
    measured = [one for one in records if isinstance(one, FetchRecord) and one.purpose is QueryPurpose.MEASURED]
    for one in measured:
        if one.failure is not None:
            raise ResolabError(f"a fetch failed: {case} {one.failure}: {one.failure_detail}")
    return measured


def round_trips(crossings: Sequence[path_capture.Crossing], record: FetchRecord) -> int:
    """Count the round trips to the page's first byte, connection after connection."""
    wanted_ns = record.time_origin_ns
    if record.page_first_byte_ns is None or record.name_complete_ns is None:
        raise flights.UnclearError("no page")
    named_ns, first_ns = wanted_ns + record.name_complete_ns, wanted_ns + record.page_first_byte_ns
    spans = [(wanted_ns, first_ns, LEAST_PAGE_BYTES)]
    if len(record.connections) > 1:
        spans = [(wanted_ns, named_ns, LEAST_REQUEST_BYTES), (named_ns, first_ns, LEAST_PAGE_BYTES)]
    return sum(
        len(
            flights.critical_path(
                flights.flow_of(crossings, since_ns, until_ns),
                since_ns,
                until_ns,
                LEAST_REQUEST_BYTES,
                least_bytes,
                flights.UNLIMITED,
            )
        )
        // 2
        for since_ns, until_ns, least_bytes in spans
    )


def _part(profile: str, count: int) -> BenchPart:
    title = f"Name and page together over {profile}, {count} of each"
    columns = ["page", "mode", "handshake", "speculative", "token", "n", "name ms", "first byte ms", "page ms"]
    columns += ["page, RTT", "up/down bytes", "round trips by the tap", "must", "verdict"]
    part = BenchPart("coalescing", title, columns)
    part.remarks = [
        "times: medians, from wanting both, before any socket exists; round trips: to the page's first byte",
        "page, RTT: the page's time without what its bytes take on the link, in round trips; not judged",
        "token: whether the client came back with the address token it had been given",
    ]
    return part


def _add_row(
    part: BenchPart,
    cell: FetchCell,
    records: Sequence[FetchRecord],
    crossings: Sequence[path_capture.Crossing],
    link: flights.Rates,
) -> None:
    case = cell.case
    as_asked = [one for one in records if _is_as_asked(one, cell)]
    seen = []
    for one in as_asked:
        # One whose packets cannot be told apart says nothing; a cell without any is missed.
        with contextlib.suppress(flights.UnclearError):
            seen.append(round_trips(crossings, one))
    # Of all exchanges more than half must be readable, and the middle ones alike.
    trips = statistics.median(seen) if 2 * len(seen) > len(records) else None
    times = [_median_ms([getattr(one, name) for one in as_asked]) for name in TIMES]
    up, down = (
        statistics.median([sum(getattr(one, name) or 0 for one in record.connections) for record in as_asked] or [0])
        for name in ("sent_bytes", "received_bytes")
    )
    beyond = None if times[2] is None else (times[2] - link.serialization_ms(0, down)) / link.rtt_ms
    verdict = "met" if trips == case.must else "MISSED"
    shown = ["-" if time is None else f"{time:.1f}" for time in times]
    part.add(
        [
            f"{cell.page_kb} kB",
            case.mode,
            case.handshake,
            "yes" if case.speculative else "",
            "yes" if cell.token else "",
            str(len(seen)),
            *shown,
            "-" if beyond is None else f"{beyond:.2f}",
            f"{up:.0f}/{down:.0f}",
            "-" if trips is None else f"{trips:g}",
            str(case.must),
            verdict,
        ],
        asdict(cell)
        | {
            "round_trips": seen,
            "as_asked_count": len(as_asked),
            "fetched_count": len(records),
            "times_ms": dict(zip(TIMES, times, strict=True)),
            "page_round_trips_without_bytes": beyond,
            "verdict": verdict,
        },
    )


TIMES = ("name_complete_ns", "page_first_byte_ns", "page_complete_ns")


def _is_as_asked(record: FetchRecord, cell: FetchCell) -> bool:
    handshakes = all(
        one.handshake_mode and one.handshake_mode.value == cell.case.handshake for one in record.connections
    )
    tokens = all(one.address_token_used == cell.token for one in record.connections)
    speculated = not cell.case.speculative or (record.speculation is not None and record.speculation.value == "used")
    return handshakes and tokens and speculated


def _median_ms(values: Sequence[int | None]) -> float | None:
    known = [value / 1e6 for value in values if value is not None]
    return statistics.median(known) if known else None
