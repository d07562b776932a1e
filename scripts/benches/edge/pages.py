"""The cost of a page over HTTP/3 at the server's processor: our edge and Caddy under the same load, in turn.

For: the part `pages`. The load generator is interop/http3/load (quic-go), since `resolab-load` sends only DNS
queries. Not for: page load times, and not for rates, on one machine limited by the client.
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from benches.common import generators, turns
from benches.common.part import BenchPart, Spread
from benches.common.servers import LOOPBACK, ROOT, Server, pin_command, require_programs, run_server, run_site
from benches.edge.bench import EdgeBench, processor_time_s
from resolab.basics.errors import MachineError, ResolabError

LOAD = ROOT / ".setup/bin/h3-load"
PAGES_BYTES = {"1 kB": 1_000, "20 kB": 20_000, "200 kB": 200_000}
START_S = 3.0


@dataclass(frozen=True)
class PagesRun:
    """A run of the load against a server."""

    answered_count: int
    failed_count: int
    run_s: float
    per_cpu_s: float
    """The number of requests answered per second of the server's processor time."""


def estimate_s(bench: EdgeBench) -> float:
    """Estimate the duration of the part."""
    return START_S + 2 * len(PAGES_BYTES) * bench.rounds_count * (generators.RUN_S + generators.OVERHEAD_S)


def measure(bench: EdgeBench) -> list[BenchPart]:
    """Measure page after page, edge and Caddy in turn, the order reversed every other round."""
    require_programs("taskset", "setpriv")
    if not LOAD.exists():
        raise MachineError(f"{LOAD.name} not on this machine: run scripts/setup --bench")
    pages = bench.scratch / "pages"
    pages.mkdir()
    for name, size in PAGES_BYTES.items():
        (pages / file_name(name)).write_bytes(b"<!doctype html>".ljust(size, b"x"))
    part = _part(bench.rounds_count)
    with run_server("caddy", "--pages", str(pages)) as caddy, run_site(pages) as edge:
        for page in PAGES_BYTES:
            _add(part, page, _measure_in_turn(bench, {"edge": edge, "peer": caddy}, page))
    return [part]


def file_name(page: str) -> str:
    """Return the name of a page's file."""
    return page.replace(" ", "") + ".html"


def _measure_in_turn(bench: EdgeBench, servers: Mapping[str, Server], page: str) -> dict[str, list[PagesRun]]:
    runs: dict[str, list[PagesRun]] = {name: [] for name in servers}
    for number in range(bench.rounds_count):
        for name in turns.order_arms(servers, number):
            bench.progress.step(f"pages of {page}, {servers[name].program}", generators.RUN_S + generators.OVERHEAD_S)
            runs[name].append(_run(servers[name], page))
    return runs


def _run(server: Server, page: str) -> PagesRun:
    port = server.ports["h3"]
    command = [*pin_command(0), str(LOAD), "-url", f"https://{server.name}:{port}/{file_name(page)}"]
    command += ["-address", f"{LOOPBACK}:{port}", "-ca", server.ca, "-duration", f"{generators.RUN_S}s"]
    command += ["-connections", str(generators.CONNECTIONS_COUNT), "-outstanding", str(generators.OUTSTANDING_COUNT)]
    before_s = processor_time_s(server.pid)
    ended = subprocess.run(
        command, capture_output=True, text=True, timeout=generators.RUN_S + generators.PATIENCE_S, check=False
    )
    spent_s = processor_time_s(server.pid) - before_s
    if ended.returncode != 0:
        raise ResolabError(
            f"the load on {server.program} ended with exit code {ended.returncode}: {ended.stderr.strip()}"
        )
    said = json.loads(ended.stdout)
    answered_count = said["answered_count"]
    if said["body_bytes"] != answered_count * PAGES_BYTES[page]:
        raise ResolabError(f"{server.program} sent {said['body_bytes']} bytes in {answered_count} pages of {page}")
    return PagesRun(answered_count, said["failed_count"], said["run_s"], answered_count / spent_s)


def _part(rounds_count: int) -> BenchPart:
    loaded = f"{generators.OUTSTANDING_COUNT} in flight over {generators.CONNECTIONS_COUNT} connections"
    title = f"HTTP/3 pages per second of server CPU; {loaded}, {rounds_count} round(s) of {generators.RUN_S} s in turn"
    columns = ["page", "Caddy's", "edge's", "CPU per page, edge / Caddy", "pages/s Caddy / edge", "failed"]
    part = BenchPart("pages", title, columns)
    part.remarks = [
        "the same load, a quic-go client on the other processor, on both; every body's length is checked",
        "Caddy reads the file each time, the edge once; the edge writes a record of each request, Caddy none",
    ]
    return part


def _add(part: BenchPart, page: str, runs: Mapping[str, list[PagesRun]]) -> None:
    rates = {name: Spread.from_rounds([[run.per_cpu_s] for run in some]) for name, some in runs.items()}
    pairs = zip(runs["edge"], runs["peer"], strict=True)
    cost = Spread.from_rounds([[theirs.per_cpu_s / ours.per_cpu_s] for ours, theirs in pairs])
    in_order = (runs["peer"], runs["edge"])
    part.add(
        [
            page,
            rates["peer"].text(0),
            rates["edge"].text(0),
            cost.text(2),
            " / ".join(f"{_rate_per_s(some):,.0f}" for some in in_order),
            " / ".join(str(sum(run.failed_count for run in some)) for some in in_order),
        ],
        {"page": page, "per_cpu_s": {name: asdict(one) for name, one in rates.items()}, "ratio": asdict(cost)},
    )


def _rate_per_s(runs: Sequence[PagesRun]) -> float:
    return sum(run.answered_count for run in runs) / sum(run.run_s for run in runs)
