"""The resolver's distance and cache as clients meet them: our own, one behind the stub, and one that loads pages."""

import asyncio
import statistics
import subprocess
from pathlib import Path

import pytest

from resolab.basics.records import DnsTransport, HandshakeMode
from resolab.lab import engine, layout
from resolab.lab.distance import move_resolver
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus

pytestmark = [pytest.mark.privileged, pytest.mark.slow]
EXTRA_MS, MISS_MS, LATE_MS = 400.0, 400.0, 190.0
ROUNDS = 5
TRANSPORTS = (DnsTransport.DOUDP, DnsTransport.DOT, DnsTransport.DOH)
TRIPS = {DnsTransport.DOUDP: 1, DnsTransport.DOT: 3, DnsTransport.DOH: 3}
CONNECT = """
import socket, time
began = time.monotonic()
socket.create_connection(("10.77.1.1", 443), 5).close()
print((time.monotonic() - began) * 1000)
"""


class Lab:
    """Path, edge and stub; the median of some exchanges each."""

    def __init__(self, path, edge, stub):
        self.path, self.edge, self.stub = path, edge, stub
        self.ca_file = Path(edge.ready.ca_file)

    async def exchanges_ms(self):
        resolvers = [layout.resolver(transport, self.ca_file) for transport in TRANSPORTS]
        return dict(zip(TRANSPORTS, await asyncio.gather(*map(self.exchange_ms, resolvers)), strict=True))

    async def behind_the_stub_ms(self):
        return await self.exchange_ms(
            engine.ResolverTarget(
                url=f"udp://{layout.STUB_ADDRESS}", name="stub", address=layout.STUB_ADDRESS, ca_file=self.ca_file
            )
        )

    async def exchange_ms(self, resolver):
        rounds = [
            await engine.run_queries(self.path.ready.pid, [resolver], ["example.resolab.test"]) for _ in range(ROUNDS)
        ]
        return statistics.median(record.query_response_time_ns / 1e6 for (record,) in rounds)

    def connect_ms(self):
        command = [*engine.enter_prefix(self.path.ready.pid, "client"), "python3", "-c", CONNECT]
        return statistics.median(
            float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(ROUNDS)
        )

    async def all_ms(self):
        """Ask everything at once: they wait for the link, and its rate has no limit."""
        exchanges, stub = await asyncio.gather(self.exchanges_ms(), self.behind_the_stub_ms())
        return {**exchanges, "stub": stub, "connect": await asyncio.to_thread(self.connect_ms)}


async def scenario(folder):
    corpus = Corpus.from_project()
    config = folder / "edge.toml"
    config.write_text(layout.edge_configuration(folder / "ca", list(assign_sites(corpus, ("example",)).values())))
    ignore = lambda _record: None  # noqa: E731
    path = await engine.Path.start(corpus.profile_file("ideal"), seed=1, keep_awake=False, on_record=ignore)
    programs = [path]
    try:
        edge = await engine.Edge.start(path.ready.pid, config, on_record=ignore)
        programs.append(edge)
        stub = await engine.Stub.start(
            path.ready.pid, f"{layout.STUB_ADDRESS}:53",
            layout.resolver(DnsTransport.DOUDP, Path(edge.ready.ca_file)),
            handshake=HandshakeMode.FULL, on_record=ignore,
        )  # fmt: skip
        programs.append(stub)
        lab, found = Lab(path, edge, stub), {}
        found["near"] = await lab.all_ms()
        await path.set_profile(move_resolver(corpus.profile("ideal"), EXTRA_MS), 1)
        found["far"] = await lab.all_ms()
        await path.set_profile(corpus.profile("ideal"), 1)
        await edge.set_name_behaviour(layout.EVERY_PAGES_NAME, delay_ms=MISS_MS)
        found["miss"] = await lab.all_ms()
        await edge.set_name_behaviour(layout.EVERY_PAGES_NAME)
        found["hit"] = await lab.all_ms()
        return found
    finally:
        for program in reversed(programs):
            await program.close()


@pytest.fixture(scope="module")
def times_ms(privileged, tmp_path_factory):
    return asyncio.run(scenario(tmp_path_factory.mktemp("lab")))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_our_client_meets_the_distance_in_each_of_its_round_trips(times_ms, transport):
    more_ms = times_ms["far"][transport] - times_ms["near"][transport]
    assert TRIPS[transport] * EXTRA_MS - LATE_MS < more_ms < TRIPS[transport] * EXTRA_MS + LATE_MS


def test_the_stub_meets_it_and_the_pages_do_not(times_ms):
    assert EXTRA_MS - LATE_MS < times_ms["far"]["stub"] - times_ms["near"]["stub"] < EXTRA_MS + LATE_MS
    assert times_ms["far"]["connect"] < times_ms["near"]["connect"] + LATE_MS


@pytest.mark.parametrize("asked", [*TRANSPORTS, "stub"])
def test_a_miss_is_one_delay_whatever_asks_and_a_hit_none(times_ms, asked):
    assert MISS_MS - LATE_MS < times_ms["miss"][asked] - times_ms["near"][asked] < MISS_MS + LATE_MS
    assert times_ms["hit"][asked] < times_ms["near"][asked] + LATE_MS
    assert times_ms["miss"]["connect"] < times_ms["near"]["connect"] + LATE_MS
