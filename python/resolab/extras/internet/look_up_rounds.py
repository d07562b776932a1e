"""Run look-ups from home over every resolver and transport, cold and warm, of new and of repeated names.

For: checking the box's truth without a browser. Not for: the expected times (`check`).
"""

import itertools
from collections.abc import Iterator, Sequence

import msgspec

from resolab.basics.protocols import WITHOUT_CONNECTION
from resolab.basics.records import DnsTransport, QueryPurpose, QueryRecord, Record
from resolab.extras.internet.box import Box
from resolab.extras.internet.layout import HOME, BoxLayout, BoxResolver, list_names
from resolab.lab.engine import CoreProcess, find_core

TIMEOUT_MS = 5_000
PATIENCE_S = 10.0
ROUNDS_COUNT = 2
"""The number of rounds. The first round uses names new to the resolver; the second finds the names in its cache."""


class LookUpBatch(msgspec.Struct, frozen=True, kw_only=True):
    """A list of names to query from a resolver over a transport."""

    resolver: BoxResolver
    dns_transport: DnsTransport
    connection: str
    qnames: tuple[str, ...]


def errands(layout: BoxLayout, names_count: int) -> Iterator[LookUpBatch]:
    """Assign separate names to each resolver, transport and connection, as far as there are enough."""
    for resolver in layout.resolvers:
        names = itertools.cycle(_spread(list_names(layout.sites)))
        for transport in resolver.transports:
            for connection in ("cold",) if transport in WITHOUT_CONNECTION else ("cold", "warm"):
                qnames = tuple(itertools.islice(names, names_count))
                yield LookUpBatch(resolver=resolver, dns_transport=transport, connection=connection, qnames=qnames)


def _spread(names: Sequence[str]) -> list[str]:
    """Order names to put names of different sites next to each other."""
    step = next(step for step in (17, 19, 23, 29, 31) if len(names) % step)
    return [names[(n * step) % len(names)] for n in range(len(names))]


async def run_errand(box: Box, errand: LookUpBatch) -> list[QueryRecord]:
    """Run the queries from home."""
    records: list[QueryRecord] = []

    def keep(record: Record) -> None:
        if isinstance(record, QueryRecord) and record.purpose is QueryPurpose.MEASURED:
            records.append(record)

    command = [*box.prefix(HOME), str(find_core()), "query", "--connection", errand.connection]
    command += ["--resolver", errand.resolver.address_for(errand.dns_transport), "--ca", str(box.authority_file)]
    command += ["--count", str(ROUNDS_COUNT), "--timeout-ms", str(TIMEOUT_MS), *errand.qnames]
    query = await CoreProcess.start("the query", command, keep, environment=box.environment())
    await query.wait(TIMEOUT_MS / 1e3 * ROUNDS_COUNT * len(errand.qnames) + PATIENCE_S)
    return records
