"""Ask a started resolver over each of its transports until it answers.

For: the only proof of readiness. No log line is alike among programs, and a listening socket proves nothing: a server
may listen on a port without speaking the transport. Not for: the start itself (`rack`).
"""

import asyncio
import time
from collections.abc import Sequence

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import DnsTransport, QueryRecord
from resolab.lab import engine, layout
from resolab.lab.engine import QueryOptions, ResolverTarget
from resolab.lab.software.process import SoftwareProcess, find_telling_line

QUERY_TIMEOUT_S = 0.3
"""A short limit: a query sent before its socket is open is lost, and a long one would wait in vain."""
_ASK_EVERY_S = 0.03
GOOD = "NOERROR"


def is_good_answer(record: QueryRecord) -> bool:
    """Return True for an answer without an error."""
    return record.failure is None and record.rcode == GOOD


async def wait_until_ready(
    process: SoftwareProcess, path_pid: int, targets: dict[DnsTransport, ResolverTarget], ready_s: float
) -> None:
    """Wait for an answer over each transport, asked inside the server's host; raise when the time is over."""
    deadline = time.monotonic() + ready_s
    waiting, told = dict(targets), dict[DnsTransport, str]()
    while waiting:
        if not process.running:
            problem = f"software {process.name} did not start: {await process.describe_end()}"
            raise MachineError(f"{problem}; mend its configuration or its program")
        if time.monotonic() > deadline:
            raise _build_silence_error(process, list(waiting), told, ready_s)
        try:
            records = await _ask(path_pid, waiting)
        except ResolabError as error:  # The client itself did not end in time, on a busy machine.
            told |= dict.fromkeys(waiting, str(error))
            records = []
        for record in records:
            if is_good_answer(record):
                waiting.pop(record.dns_transport, None)
            else:
                told[record.dns_transport] = _describe_failure(record)
        if waiting:
            await asyncio.sleep(_ASK_EVERY_S)


def _describe_failure(record: QueryRecord) -> str:
    return str(record.failure) if record.rcode in (None, GOOD) else f"the answer was {record.rcode}"


async def _ask(path_pid: int, targets: dict[DnsTransport, ResolverTarget]) -> list[QueryRecord]:
    options = QueryOptions(timeout_s=QUERY_TIMEOUT_S)
    return await engine.run_queries(path_pid, list(targets.values()), [layout.DOH_PROBE_NAME], options, host="server")


def _build_silence_error(
    process: SoftwareProcess, waiting: Sequence[DnsTransport], told: dict[DnsTransport, str], ready_s: float
) -> MachineError:
    silent = ", ".join(f"{one} ({told.get(one, 'not asked')})" for one in waiting)
    problem = f"software {process.name} gave no good answer within {ready_s:g} s over {silent}"
    remedy = "name only transports it speaks, or give it more time with ready_s"
    return MachineError(f"{problem}; it said: {find_telling_line(process.lines)}; {remedy}")
