"""A large body through the gateway over a path without delay or limit: bits per second, and processor time by process.

For: `scripts/bench gateway`, its part `bodies`. Not for: the times of requests (plans).

The client is curl over HTTP/2, directly to the edge and through the gateway, in turn. Path, edge, gateway and curl
share two processors; the rate is their common result. Therefore the gateway's processor time for a body stands beside
the edge's time for the same body.
"""

import asyncio
import json
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benches.common import turns
from benches.common.part import BenchPart, verdict
from benches.common.servers import EDGE_NAME
from benches.edge.bench import processor_time_s
from benches.gateway.bench import GatewayBench
from resolab.basics.errors import ResolabError
from resolab.basics.records import ConnectionSharing, HandshakeMode, HttpVersion
from resolab.lab import engine, layout
from resolab.lab.engine import GatewaySettings
from resolab.plan import Corpus

PROFILE = "ideal"
HOST, ADDRESS, FILE = "body.resolab.test", "10.77.1.1", "body.bin"
BODY_BYTES = 100_000_000
QUICK_BYTES = 20_000_000
RATE_MUST_BPS, PROCESSOR_MUST = 1.5e9, 1.5
TRANSFER_TIMEOUT_S, TRANSFER_S = 60.0, 2.0
ROUNDS_COUNT, QUICK_ROUNDS_COUNT = 8, 2
LISTEN = f"{layout.STUB_ADDRESS}:53"
WAYS = ("straight", "gateway, h2", "gateway, h3")
"""The transfer methods: direct, or through the gateway with the given upstream protocol."""
_VERSIONS = {WAYS[1]: HttpVersion.H2, WAYS[2]: HttpVersion.H3}


@dataclass(frozen=True)
class Transfer:
    """A transfer of the body."""

    rate_bps: float
    edge_s: float
    """The edge's processor time."""
    gateway_s: float


def estimate_s(bench: GatewayBench) -> float:
    """Estimate the duration, in s."""
    return len(WAYS) * _rounds(bench) * TRANSFER_S + 10


def measure(bench: GatewayBench) -> list[BenchPart]:
    """Transfer the body by each method, in turn, the order reversed every other round."""
    return [asyncio.run(_measure(bench))]


def _rounds(bench: GatewayBench) -> int:
    return QUICK_ROUNDS_COUNT if bench.quick else ROUNDS_COUNT


async def _measure(bench: GatewayBench) -> BenchPart:
    size = QUICK_BYTES if bench.quick else BODY_BYTES
    config = _edge_configuration(bench.scratch, size)
    path_file = Corpus.from_project().profile_file(PROFILE)
    path = await engine.Path.start(path_file, seed=1, keep_awake=False, on_record=lambda _record: None)
    found: dict[str, list[Transfer]] = {way: [] for way in WAYS}
    try:
        edge = await engine.Edge.start(path.ready.pid, config, on_record=lambda _record: None)
        try:
            for number in range(_rounds(bench)):
                for way in turns.order_arms(WAYS, number):
                    bench.progress.step(f"{way}, round {number + 1}", TRANSFER_S)
                    found[way].append(await _transfer(path.ready.pid, edge, way, size))
        finally:
            await edge.close()
    finally:
        await path.close()
    return _part(found, size)


def _edge_configuration(scratch: Path, size: int) -> Path:
    folder = scratch / "body"
    folder.mkdir()
    (folder / FILE).write_bytes(bytes(size))
    config = scratch / "edge.toml"
    config.write_text(
        f'[ca]\nfolder = "ca"\n[resolver]\nname = "{EDGE_NAME}"\naddresses = ["{layout.RESOLVER_ADDRESS}"]\n'
        f'[[site]]\nhost = "{HOST}"\naddress = "{ADDRESS}"\nfolder = "body"\n',
        "utf-8",
    )
    return config


async def _transfer(path_pid: int, edge: engine.Edge, way: str, size: int) -> Transfer:
    if way not in _VERSIONS:
        return await _time_transfer(path_pid, edge, None, ADDRESS, size)
    ca_file = Path(edge.ready.ca_file)
    resolver = engine.ResolverTarget(
        url=f"h3://{EDGE_NAME}", name=EDGE_NAME, address=layout.RESOLVER_ADDRESS, ca_file=ca_file
    )
    settings = GatewaySettings(
        page_handshake=HandshakeMode.FULL, page_version=_VERSIONS[way], sharing=ConnectionSharing.SEPARATE
    )
    gateway = await engine.Gateway.start(
        path_pid,
        LISTEN,
        resolver,
        settings,
        handshake=HandshakeMode.FULL,
        ca_folder=ca_file.parent,
        on_record=lambda _record: None,
    )
    try:
        return await _time_transfer(path_pid, edge, gateway, await asyncio.to_thread(_address, path_pid), size)
    finally:
        await gateway.close()


def _address(path_pid: int) -> str:
    """Query the gateway for its address of the body's name."""
    command = [*engine.enter_prefix(path_pid, "client"), str(engine.find_core()), "query"]
    command += ["--resolver", f"udp://{LISTEN}", HOST]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TRANSFER_TIMEOUT_S, check=True)
    answered = json.loads(done.stdout.splitlines()[-1])
    return str(answered["addresses"][0])


async def _time_transfer(
    path_pid: int, edge: engine.Edge, gateway: engine.Gateway | None, address: str, size: int
) -> Transfer:
    def spent() -> tuple[float, float]:
        of_gateway = processor_time_s(_find_program_pid(gateway.process.pid)) if gateway else 0.0
        return processor_time_s(_find_program_pid(edge.process.pid)), of_gateway

    before = spent()
    seconds = await asyncio.to_thread(_curl, path_pid, edge.ready.ca_file, address, size)
    after = spent()
    return Transfer(size * 8 / seconds, after[0] - before[0], after[1] - before[1])


def _find_program_pid(pid: int) -> int:
    """Return the program's own process id: the entering process, and perhaps its first child, come before it."""
    while children := Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split():
        pid = int(children[0])
    return pid


def _curl(path_pid: int, ca_file: str, address: str, size: int) -> float:
    """Fetch the body; return the time from the request's end of sending to the last byte, in s."""
    command = [*engine.enter_prefix(path_pid, "client"), "curl", "--silent", "--fail", "--http2", "--cacert", ca_file]
    command += ["--resolve", f"{HOST}:443:{address}", "--output", "/dev/null"]
    command += ["--write-out", "%{time_total} %{time_pretransfer} %{size_download}", f"https://{HOST}/{FILE}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TRANSFER_TIMEOUT_S, check=False)
    if done.returncode:
        raise ResolabError(f"curl ended with {done.returncode} {done.stderr.strip()}")
    total, before, got = map(float, done.stdout.split())
    if got != size:
        raise ResolabError(f"curl got {got:.0f} of {size} bytes")
    return total - before


def _part(found: dict[str, list[Transfer]], size: int) -> BenchPart:
    part = BenchPart(
        "bodies",
        f"{size / 1e6:.0f} MB over {PROFILE}, curl over HTTP/2, medians of {len(found[WAYS[0]])} in turn",
        ["way", "Gbit/s", "least..most", "must", "verdict", "edge s", "gateway s", "gateway/edge", "must", "verdict"],
    )
    part.remarks = [
        "edge s, gateway s: processor time for one body; path and curl take theirs beside them, on the same processors",
        "gateway/edge: against the edge's for the same body in the same transfer",
    ]
    for way, transfers in found.items():
        rates = [one.rate_bps / 1e9 for one in transfers]
        edge_s = statistics.median(one.edge_s for one in transfers)
        gateway_s = statistics.median(one.gateway_s for one in transfers)
        ratio = statistics.median(one.gateway_s / one.edge_s for one in transfers)
        rate, is_ours = statistics.median(rates), way in _VERSIONS
        part.add(
            [
                way,
                f"{rate:.2f}",
                f"{min(rates):.2f}..{max(rates):.2f}",
                f"{RATE_MUST_BPS / 1e9}" if is_ours else "",
                verdict(-rate, -RATE_MUST_BPS / 1e9) if is_ours else "",
                f"{edge_s:.3f}",
                f"{gateway_s:.3f}" if is_ours else "",
                f"{ratio:.2f}" if is_ours else "",
                f"{PROCESSOR_MUST}" if is_ours else "",
                verdict(ratio, PROCESSOR_MUST) if is_ours else "",
            ],
            {"way": way, "rates_bps": [one.rate_bps for one in transfers], "edge_s": edge_s, "gateway_s": gateway_s},
        )
    return part
