"""The effect of the wire cache on response times: paired rounds with the wire cache and without.

For: the part `verdict`, with intervals and equivalence tests, small and large answers, by open loop. Not for: the saved
processor time of the server (`cache`).
"""

import contextlib
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benches.common import generators
from benches.common.part import BenchPart
from benches.common.servers import (
    LOOPBACK,
    ZONE,
    EdgeSettings,
    Server,
    edge_configuration,
    free_ports,
    keep_awake,
    require_programs,
    run_edge,
)
from benches.edge.bench import EdgeBench
from benches.edge.queries import QueriesRun, measure_in_turn
from resolab.stats.equivalence import EquivalenceTest, equivalence
from resolab.stats.medians import estimate_paired_difference, subtract_pairs
from resolab.stats.sample import Sample

RATES_PER_S = (20_000, 100_000)
QUANTILES = ("p50_ns", "p99_ns", "p99_9_ns", "p99_99_ns")
MARGIN = 0.05
"""The equivalence margin as a share of the quantile without the cache."""
LOST_MOST = 0.001
"""The largest share of a cell's queries lost; with more losses, the cell measures a queue."""
PORTS = ("do53", "dot", "doh", "doh3", "doq")
START_S = 3.0


@dataclass(frozen=True)
class Shape:
    """The shape of answers."""

    name: str
    names_count: int
    record_type: str
    values: Sequence[str] = field(repr=False)

    def names(self) -> list[str]:
        """Return the names with answers of this shape."""
        return [f"{self.name}{number:05}.{ZONE}" for number in range(self.names_count)]


SHAPES = (
    Shape("one", 1_000, "A", ("192.0.2.81",)),
    Shape("many", 500, "A", tuple(f"192.0.2.{number}" for number in range(1, 41))),
    Shape("long", 500, "TXT", ("x" * 1_000,)),
)


def estimate_s(bench: EdgeBench) -> float:
    """Estimate the duration of the part."""
    runs_count = 2 * bench.paired_rounds_count * len(SHAPES) * len(RATES_PER_S)
    return START_S + runs_count * (generators.RUN_S + generators.OVERHEAD_S)


def measure(bench: EdgeBench) -> list[BenchPart]:
    """Measure shape after shape over DoUDP, with and without the cache in turn."""
    require_programs("taskset", "setpriv")
    part = _part(bench.paired_rounds_count)
    with keep_awake(), _edge(wire_cache=True) as on, _edge(wire_cache=False) as off:
        for shape in SHAPES:
            file = bench.scratch / shape.name
            file.write_text("".join(f"{name} {shape.record_type}\n" for name in shape.names()), "utf-8")
            for rate_per_s in RATES_PER_S:
                runs = measure_in_turn(bench.with_pairs(), {"on": on, "off": off}, "doudp", _pace(rate_per_s), file)
                _add(part, shape, rate_per_s, runs)
    return [part]


def _pace(rate_per_s: int) -> generators.Generator:
    def run(transport: str, server: Server, file: Path, scratch: Path) -> generators.GeneratorRun:
        return generators.ours(transport, server, file, scratch, rate_per_s=rate_per_s)

    return run


@contextlib.contextmanager
def _edge(*, wire_cache: bool) -> Iterator[Server]:
    ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
    settings = EdgeSettings(wire_cache=wire_cache, counts_queries=True)

    def configuration(folder: Path) -> str:
        records = [
            f'[[zone]]\nname = "{name}"\ntype = "{shape.record_type}"\nvalue = "{value}"\n'
            for shape in SHAPES
            for name in shape.names()
            for value in shape.values
        ]
        return edge_configuration(folder / "ca", LOOPBACK, [], "none", ports, settings) + "".join(records)

    with run_edge(configuration, ports) as server:
        yield server


def _part(rounds_count: int) -> BenchPart:
    title = f"Wire cache, response times over DoUDP by open loop, on less off, us; {rounds_count} pairs of rounds"
    columns = ["answers", "queries/s", "quantile", "off", "on less off", "alike within", "p", "verdict"]
    part = BenchPart("verdict", title, columns)
    part.remarks = [
        "off: median of the rounds; on less off: median of paired differences with its 95 % interval",
        f"alike: two one-sided sign tests at 5 % against {MARGIN:.0%} of the quantile without the cache",
        "verdict: faster or slower where the interval excludes 0, alike where the tests say so, else undecided",
        "one: an address; many: 40 addresses; long: a text of 1,000 bytes",
    ]
    return part


def _add(part: BenchPart, shape: Shape, rate_per_s: int, runs: Mapping[str, Sequence[QueriesRun]]) -> None:
    sent_count = sum(run.load.record["sent_count"] for arm in runs.values() for run in arm)
    lost_count = sum(run.load.lost_count for arm in runs.values() for run in arm)
    overloaded = lost_count > LOST_MOST * sent_count
    for quantile in QUANTILES:
        on, off = (
            Sample.exact([run.load.record["query_response_time"][quantile] / 1e3 for run in runs[arm]])
            for arm in ("on", "off")
        )
        estimate = estimate_paired_difference(on, off)
        usual_us = statistics.median(off.low.tolist())
        margin_us = MARGIN * usual_us
        tested = equivalence(subtract_pairs(on, off), margin_us, test=EquivalenceTest.SIGN)
        low, high = estimate.ci_low, estimate.ci_high
        verdict = "overloaded" if overloaded else _verdict(low, high, is_alike=tested.is_alike)
        interval = "too few" if low is None or high is None else f"{low:+.1f}, {high:+.1f}"
        p_value = "-" if tested.p_value is None else f"{tested.p_value:.3f}"
        part.add(
            [
                shape.name,
                f"{rate_per_s:,}",
                quantile.removesuffix("_ns").replace("_", "."),
                f"{usual_us:.1f}",
                f"{estimate.value:+.1f} [{interval}]",
                f"{margin_us:.1f}",
                p_value,
                verdict,
            ],
            {
                "shape": shape.name,
                "rate_per_s": rate_per_s,
                "quantile": quantile,
                "on_us": on.low.tolist(),
                "off_us": off.low.tolist(),
                "interval_us": [low, high],
                "lost_count": lost_count,
                "sent_count": sent_count,
                "margin_us": margin_us,
                "p_value": tested.p_value,
                "verdict": verdict,
            },
        )


def _verdict(low: float | None, high: float | None, *, is_alike: bool) -> str:
    if low is None or high is None:
        return "too few"
    words = [word for word, holds in (("faster", high < 0), ("slower", low > 0), ("alike", is_alike)) if holds]
    return ", ".join(words) or "undecided"
