"""Our own client's part of a live trial: look-ups of a page's names over a resolver and transport, and pings.

For: resolab-core's programs, run on the machine's network, within the caps' pace and a time limit. Not for: the choice
of names (`names`), or conclusions about caches (`cache_state`).

Each name is asked for in rounds (two by default), for the same types over every transport. The first query opens the
connection and is cold, all others are warm.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import ConfigurationError, DeadlineError
from resolab.basics.records import KeyExchangeGroup, PingRecord, QueryPurpose, QueryRecord, Record
from resolab.lab.engine import CoreProcess, find_core
from resolab.lab.engine.programs import build_environment
from resolab.plan.manners import PINGS_PER_LOAD, REFUSED
from resolab.trials.live.resolver_addresses import ResolverRoute

TYPES = ("A", "AAAA")
ROUNDS = 2
QUERY_TIMEOUT_S = 5.0
LONGEST_S = 90.0
"""The time limit of all queries of a trial, in s; queries not sent by then have no record."""
UNANSWERED_IN_A_ROW = 3
"""The number of queries without any response before the client stops. The client also stops after REFUSED."""
END_WITHIN_S = 0.2
PING_PAUSE_MS, PING_TIMEOUT_MS = 100, 1000


@dataclass(frozen=True, slots=True)
class QueryClientSettings:
    """The settings of our client, the same for all trials."""

    prefix: Sequence[str] = ()
    bundle: Path | None = None
    """The file of trusted authorities, used instead of the system's."""
    groups: Sequence[KeyExchangeGroup] = ()
    rounds: int = ROUNDS
    """The number of rounds: queries for each name and type."""
    pings_count: int = PINGS_PER_LOAD

    def queries_count(self, names: Sequence[str]) -> int:
        """Return the number of queries for the names."""
        return len(names) * len(TYPES) * self.rounds

    def build_trust_arguments(self) -> list[str]:
        """Return the trust and key exchange arguments for every program of ours with connections."""
        groups = ["--groups", ",".join(self.groups)] if self.groups else []
        return [*(["--ca", str(self.bundle)] if self.bundle is not None else []), *groups]


class QueryCollector:
    """The client's records received until now, with an event to stop at a stop sign or without responses."""

    def __init__(self) -> None:
        self.queries: list[QueryRecord] = []
        self.is_hopeless = asyncio.Event()
        self._unanswered = 0

    def take(self, record: Record) -> None:
        """Add a record of the client's."""
        if not isinstance(record, QueryRecord) or record.purpose is not QueryPurpose.MEASURED:
            return
        self.queries.append(record)
        self._unanswered = self._unanswered + 1 if record.rcode is None else 0
        if self._unanswered >= UNANSWERED_IN_A_ROW or record.rcode == REFUSED:
            self.is_hopeless.set()


def why_fewer(found: Sequence[QueryRecord]) -> str:
    """Return the reason for fewer queries than planned; name the silence of a resolver only when it occurred."""
    if any(one.rcode == REFUSED for one in found):
        return "the resolver refused"
    last = found[-UNANSWERED_IN_A_ROW:]
    if len(last) == UNANSWERED_IN_A_ROW and all(one.rcode is None for one in last):
        return "nobody answered any more"
    return f"the {LONGEST_S:g} s for them were over"


async def ask(
    client: QueryClientSettings, reached: ResolverRoute, names: Sequence[str], *, interval_ms: int
) -> list[QueryRecord]:
    """Ask for names over a single resolver and transport."""
    command = [
        *client.prefix, str(find_core()), "query", "--connection", "warm", "--handshake", "full",
        "--count", str(client.rounds), "--interval-ms", str(interval_ms),
        "--timeout-ms", str(round(QUERY_TIMEOUT_S * 1000)),
        *(argument for qtype in TYPES for argument in ("--type", qtype)),
        *client.build_trust_arguments(), *reached.arguments(), "--resolver", reached.url, *names,
    ]  # fmt: skip
    taken = QueryCollector()
    process = await CoreProcess.start("the query", command, taken.take, environment=build_environment())
    ending = [asyncio.ensure_future(process.wait(LONGEST_S)), asyncio.ensure_future(taken.is_hopeless.wait())]
    try:
        await asyncio.wait(ending, return_when=asyncio.FIRST_COMPLETED)
        if ending[0].done():
            with suppress(DeadlineError):
                ending[0].result()
    finally:
        for one in ending:
            one.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        await process.close(END_WITHIN_S)
    return taken.queries


async def ping(client: QueryClientSettings, reached: ResolverRoute) -> PingRecord | None:
    """Ping a resolver; return `None` when no packet could be sent."""
    if reached.address is None:
        return None
    command = [
        *client.prefix, str(find_core()), "ping", reached.address, "--count", str(client.pings_count),
        "--pause-ms", str(PING_PAUSE_MS), "--timeout-ms", str(PING_TIMEOUT_MS), "--resolver", reached.url,
    ]  # fmt: skip
    found: list[PingRecord] = []

    def keep(record: Record) -> None:
        if isinstance(record, PingRecord):
            found.append(record)

    process = await CoreProcess.start("the pings", command, keep, environment=build_environment())
    try:
        await process.wait(LONGEST_S)
    except ConfigurationError:
        return None
    finally:
        await process.close(END_WITHIN_S)
    return found[0] if found else None
