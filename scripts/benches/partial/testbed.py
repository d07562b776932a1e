"""A path with the edge behind the path, and our client querying many names at once, in turns of two arms.

For: running, and each exchange with its packets. Not for: the expected bytes (`expected_bytes`).
"""

import asyncio
import contextlib
import itertools
import math
import os
import subprocess
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from benches.common.servers import EDGE_NAME, edge_configuration, names
from benches.dns import path_capture
from benches.dns.cold import pause_ms, rates
from benches.dns.path_capture import Crossing
from benches.dns.testbed import QUERY_TIMEOUT_S, SERVER_ADDRESS, TICKET_POLICIES, edge_behind
from benches.partial import layers
from benches.partial.layers import Directions, Flow
from resolab.basics.errors import ResolabError
from resolab.basics.protocols import find_facts
from resolab.basics.records import DnsTransport, PathStartCapture, PathStopCapture, QueryPurpose, QueryRecord, Record
from resolab.lab import engine
from resolab.plan import Corpus

TURN_COUNT = 5
"""The number of rounds of an arm before the other arm's turn."""


def estimate_closing_s(profile: str, count: int) -> float:
    """Return the wait for the ends of connections, for one wait per turn of an arm's exchanges."""
    return math.ceil(count / TURN_COUNT) * (2 * rates(profile).rtt_ms + pause_ms(profile)) / 1e3


@dataclass(frozen=True)
class NamesExchange:
    """A query of all names at once."""

    records: Sequence[QueryRecord]
    crossings: Sequence[Crossing] = field(repr=False)
    """The packets of the exchange's flows."""
    layers: Directions | None = field(default=None, repr=False)
    """The bytes by purpose, down and up; `None` without dissected packets."""

    def ip_bytes(self, *, up: bool) -> int:
        """Return the bytes of all packets in a direction."""
        return sum(one.ip_bytes for one in self.crossings if one.up == up)

    def packet_count(self, *, up: bool) -> int:
        """Return the number of packets in a direction."""
        return sum(one.up == up for one in self.crossings)


@dataclass(frozen=True)
class PartialPath:
    """A running path with the names to query behind the path."""

    path: engine.Path
    profile: str
    qnames: Sequence[str]
    delays_ms: Sequence[float]
    """The delay of each name's answer at the edge."""
    folder: Path
    ca_file: list[str] = field(default_factory=list)

    @contextlib.asynccontextmanager
    async def edge(self, handshake: str) -> AsyncIterator[None]:
        """Run the edge with the tickets needed by a handshake."""
        config = self.folder / f"{handshake}.toml"
        text = edge_configuration(self.folder / "ca", SERVER_ADDRESS, self.qnames, TICKET_POLICIES[handshake])
        late = (one for one in zip(self.qnames, self.delays_ms, strict=True) if one[1])
        config.write_text(text + "".join(f'[[name]]\nname = "{name}"\ndelay_ms = {ms}\n' for name, ms in late), "utf-8")
        with edge_behind(self.path.ready.pid, config) as ca_file:
            self.ca_file[:] = [ca_file]
            yield

    async def ask(self, transport: str, handshake: str, count: int) -> tuple[list[NamesExchange], list[NamesExchange]]:
        """Query in one message and one by one, `count` times each, in turns; dissect the packets."""
        arms: tuple[list[NamesExchange], list[NamesExchange]] = ([], [])
        turns = itertools.count()
        while left := count - len(arms[0]):
            number = next(turns)
            for one_by_one in ((False, True), (True, False))[number % 2]:
                turn_count = min(left, TURN_COUNT)
                turn = await self._turn(transport, handshake, turn_count, one_by_one=one_by_one)
                arms[one_by_one].extend(turn)
        return arms

    async def _turn(self, transport: str, handshake: str, count: int, *, one_by_one: bool) -> list[NamesExchange]:
        capture, key_log = self.folder / "turn.pcapng", self.folder / "keys.log"
        await self.path.process.command(lambda number: PathStartCapture(id=number, file=str(capture)))
        records = await asyncio.to_thread(self._query, transport, handshake, count, key_log, one_by_one=one_by_one)
        # What closes the last connection is still on its way, then what is said to that, then what TCP makes of it.
        await asyncio.sleep(estimate_closing_s(self.profile, count))
        await self.path.process.command(lambda number: PathStopCapture(id=number))
        crossings = path_capture.read(capture)
        taken_apart = layers.read(capture, key_log)
        capture.unlink()
        key_log.unlink(missing_ok=True)
        return _exchanges(records, crossings, count, taken_apart)

    def _query(
        self, transport: str, handshake: str, count: int, key_log: Path, *, one_by_one: bool
    ) -> list[QueryRecord]:
        command = [*engine.enter_prefix(self.path.ready.pid, "client"), str(engine.find_core()), "query"]
        command += ["--connection", "cold", "--handshake", handshake, "--count", str(count), "--ca", self.ca_file[0]]
        command += ["--resolve", f"{EDGE_NAME}={SERVER_ADDRESS}", "--interval-ms", str(pause_ms(self.profile))]
        command += ["--resolver", find_facts(transport).url(name=EDGE_NAME, address=SERVER_ADDRESS)]
        command += ["--questions-per-message", str(len(self.qnames)), *(["--one-by-one"] if one_by_one else [])]
        limit_s = QUERY_TIMEOUT_S * (count + 1)
        command += self.qnames
        environment = os.environ | {"SSLKEYLOGFILE": str(key_log)}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, timeout=limit_s, check=True)
        decoder = msgspec.json.Decoder(Record)
        return [one for one in map(decoder.decode, done.stdout.splitlines()) if isinstance(one, QueryRecord)]


@contextlib.asynccontextmanager
async def run_bed(profile: str, delays_ms: Sequence[float], folder: Path) -> AsyncIterator[PartialPath]:
    """Make a path with a name behind the path for each delay."""
    file = Corpus.from_project().profile_file(profile)
    path = await engine.Path.start(file, seed=1, keep_awake=True, on_record=lambda _record: None)
    try:
        yield PartialPath(path, profile, names(len(delays_ms)), delays_ms, folder)
    finally:
        await path.close()


def _exchanges(
    records: Iterable[QueryRecord],
    crossings: Sequence[Crossing],
    count: int,
    taken_apart: Mapping[Flow, Directions],
) -> list[NamesExchange]:
    """Separate the rounds; packets of a round with ticket fetching belong to no exchange."""
    rounds = defaultdict[int | None, list[QueryRecord]](list)
    begins = []
    for one in records:
        if one.failure is not None:
            raise ResolabError(f"a query failed: {one.dns_transport} {one.failure}: {one.failure_detail}")
        begins.append(one.time_origin_ns)
        if one.purpose is QueryPurpose.MEASURED:
            rounds[one.message_sequence].append(one)
    if len(rounds) != count:
        raise ResolabError(f"{len(rounds)} rounds of {count} have records")
    made = []
    for of_round in rounds.values():
        of_its_flows = _select_round(crossings, of_round[0], begins)
        made.append(NamesExchange(of_round, of_its_flows, _layers(of_round[0], of_its_flows, taken_apart)))
    return made


def _layers(
    first: QueryRecord, crossings: Sequence[Crossing], taken_apart: Mapping[Flow, Directions]
) -> Directions | None:
    """Return the layers of a round. Over DoUDP, each message has a port; a later round may use the port again."""
    if first.dns_transport is DnsTransport.DOUDP:
        return layers.count_messages(crossings)
    return layers.sum_flows({(one.protocol, one.client_port) for one in crossings}, taken_apart)


def _select_round(crossings: Sequence[Crossing], wanted: QueryRecord, begins: Iterable[int]) -> list[Crossing]:
    """Return the packets of a round. Closing packets may come in the next round: connections count as a whole."""
    begin_ns = wanted.time_origin_ns
    end_ns = min((one for one in begins if one > begin_ns), default=math.inf)
    if wanted.dns_transport is DnsTransport.DOUDP:
        return [one for one in crossings if begin_ns <= one.entered_ns < end_ns]
    first: dict[tuple[int, int], int] = {}
    for one in crossings:
        first.setdefault((one.protocol, one.client_port), one.entered_ns)
    began = {flow for flow, at_ns in first.items() if begin_ns <= at_ns < end_ns}
    return [one for one in crossings if (one.protocol, one.client_port) in began]
