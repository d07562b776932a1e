"""The share of queries with a closed connection, and the mean cost of queries, beside the closed forms.

For: the tables of `scripts/bench redial`. Not for: running (`testbed`), the closed forms (`model`).
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benches.common.part import BenchPart, verdict
from benches.common.progress import Progress
from benches.dns.cold import rates
from benches.redial import model, testbed
from benches.redial.testbed import ClientCell
from resolab.protocols import DNS_TRANSPORTS, WITHOUT_CONNECTION, cold_exchange_round_trips, has_handshake
from resolab.records import ConnectionState, QueryRecord
from resolab.stats.estimate import Estimate
from resolab.stats.proportion import proportion

HANDSHAKES = ("full", "resumed", "zero_rtt")
TIMEOUT_SHARES = (0.2, 0.7, 2.3)
"""Idle timeouts in mean gaps: 82, 50 and 10 % of queries redial."""
LIMIT_MS = 3.0
"""The limit of the mean beyond the closed form without bytes."""
MARGINS = (0.5, 0.1, 0.05)
"""The margins as shares of a round trip."""


@dataclass(frozen=True)
class RedialBench:
    """The settings of a measurement."""

    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    profiles: Sequence[str]
    queries_count: int
    mean_gap_ms: int


@dataclass(frozen=True)
class RedialFigures:
    """The queries of a client with an idle timeout."""

    profile: str
    transport: str
    handshake: str
    idle_timeout_ms: int
    queries_count: int
    redialed: Estimate
    """The share of redials in the queries after the first."""
    redialed_expected: float
    mean_ms: float
    mean_expected_ms: float
    """The mean response time by the expected share."""
    beyond_ms: float
    """The mean less the closed form with the observed number of redials."""


def cells() -> list[ClientCell]:
    """List the clients: transports with connections, by their possible handshakes."""
    transports = [one.value for one in DNS_TRANSPORTS if one not in WITHOUT_CONNECTION]
    return [
        ClientCell(one, handshake)
        for one in transports
        for handshake in HANDSHAKES
        if handshake == "full" or has_handshake(one)
    ]


def estimate_s(bench: RedialBench) -> float:
    """Estimate the duration, in s."""
    return sum(_one_s(bench, profile) for profile in bench.profiles) * len(TIMEOUT_SHARES)


def _one_s(bench: RedialBench, profile: str) -> float:
    return bench.queries_count * (bench.mean_gap_ms + 2 * rates(profile).rtt_ms) / 1e3 + 2.0


def measure(bench: RedialBench) -> list[BenchPart]:
    """Measure all clients over every path."""
    return [_redials(bench, asyncio.run(_measure(bench))), _compare_amortised()]


async def _measure(bench: RedialBench) -> list[RedialFigures]:
    found = []
    for profile in bench.profiles:
        folder = bench.scratch / profile
        folder.mkdir()
        async with testbed.run_bed(profile, folder) as bed:
            for share in TIMEOUT_SHARES:
                bench.progress.step(f"{profile}, {share:g} gaps", _one_s(bench, profile))
                timeout_ms = round(share * bench.mean_gap_ms)
                every = await bed.ask(cells(), bench.queries_count, bench.mean_gap_ms, timeout_ms)
                found += [_figure(bench, profile, *one, timeout_ms) for one in zip(cells(), every, strict=True)]
    return found


def _figure(
    bench: RedialBench, profile: str, cell: ClientCell, records: Sequence[QueryRecord], timeout_ms: int
) -> RedialFigures:
    # The first query opens its connection whatever the gap.
    later = records[1:]
    redials_count = sum(one.connection is ConnectionState.COLD for one in later)
    expected = model.redial_share(timeout_ms, bench.mean_gap_ms)
    rtt_ms, trips = rates(profile).rtt_ms, cold_exchange_round_trips(cell.transport, cell.handshake)
    mean_ms = statistics.fmean((one.query_response_time_ns or 0) / 1e6 for one in later)
    as_redialed_ms = model.mean_response_ms(rtt_ms, trips, redials_count / len(later))
    return RedialFigures(
        profile,
        cell.transport,
        cell.handshake,
        timeout_ms,
        len(later),
        proportion(redials_count, len(later)),
        expected,
        mean_ms,
        model.mean_response_ms(rtt_ms, trips, expected),
        mean_ms - as_redialed_ms,
    )


def _redials(bench: RedialBench, found: Sequence[RedialFigures]) -> BenchPart:
    title = f"Queries {bench.mean_gap_ms} ms apart on average, by chance, connections closed when idle"
    columns = ["profile", "transport", "handshake", "idle timeout ms", "redialed", "expected"]
    columns += ["mean ms", "by closed form", "beyond, ms", f"beyond <= {LIMIT_MS:g}"]
    part = BenchPart("redials", title, columns)
    for one in found:
        share = one.redialed
        held = f"{share.value:.2f} [{share.ci_low:.2f}, {share.ci_high:.2f}]"
        cells_ = [one.profile, one.transport, one.handshake, str(one.idle_timeout_ms), held]
        cells_ += [f"{one.redialed_expected:.2f}", f"{one.mean_ms:.1f}", f"{one.mean_expected_ms:.1f}"]
        cells_ += [f"{one.beyond_ms:+.2f}", verdict(abs(one.beyond_ms), LIMIT_MS)]
        part.add(cells_, asdict(one))
    holding = sum(_holds(one) for one in found)
    part.remarks.append(
        f"the interval (Wilson, 95 %) of the share that redialed holds exp(-timeout/gap) in {holding} of {len(found)} "
        f"rows; n = {bench.queries_count - 1} queries each; by closed form: RTT x (1 + (k - 1) x share)"
    )
    return part


def _holds(one: RedialFigures) -> bool:
    low, high = one.redialed.ci_low, one.redialed.ci_high
    return low is not None and high is not None and low <= one.redialed_expected <= high


def _compare_amortised() -> BenchPart:
    title = "Queries on one connection until their mean is within this share of a round trip of one without set-up"
    part = BenchPart("amortised", title, ["k", *(f"{margin:.0%}" for margin in MARGINS), "who"])
    by_trips: dict[int, list[str]] = {}
    for cell in cells():
        # A resumed handshake takes the round trips of a full one.
        if cell.handshake != "resumed":
            trips = cold_exchange_round_trips(cell.transport, cell.handshake)
            by_trips.setdefault(trips, []).append(f"{cell.transport} {cell.handshake}")
    for trips, who in sorted(by_trips.items()):
        counts = [model.queries_to_amortise(trips, margin) for margin in MARGINS]
        part.add([str(trips), *map(str, counts), ", ".join(who)], {"round_trips": trips, "queries": counts, "who": who})
    return part
