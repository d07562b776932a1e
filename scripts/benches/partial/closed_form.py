"""The closed form of an exchange of many names: the times of the first and the last answer.

For: `k x RTT + bytes x 8 / rate`, and the delay of the late name. Not for: tables (`figures`), bytes
(`expected_bytes`).
"""

import statistics
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from benches.dns import flights
from benches.dns.path_capture import Crossing
from benches.partial.testbed import NamesExchange
from resolab.protocols import cold_exchange_round_trips
from resolab.records import QueryRecord

EARLY_NS = 500_000
"""The tolerance for finding a late answer before its delay: two processes have two clocks."""


@dataclass(frozen=True)
class ClosedFormResult:
    """An exchange beside its closed form, in ms."""

    first_ms: float
    first_closed_form_ms: float
    first_beyond_ms: float
    last_ms: float
    last_closed_form_ms: float
    last_beyond_ms: float

    def list_numbers(self) -> Sequence[float]:
        """Return all numbers, in the order of the table."""
        return astuple(self)


def round_trips(transport: str, handshake: str) -> int:
    """Return the round trips of a first exchange."""
    return cold_exchange_round_trips(transport, handshake)


def judge(exchange: NamesExchange, handshake: str, delay_ms: float, link: flights.Rates) -> ClosedFormResult | None:
    """Judge an exchange in one message; return None for unclear packets or another handshake."""
    records = sorted(exchange.records, key=lambda one: one.query_response_time_ns or 0)
    first, last = records[0], records[-1]
    mode = first.handshake_mode
    if mode is not None and mode.value != handshake:
        return None
    wanted_ns = first.time_origin_ns
    first_ns = wanted_ns + (first.query_response_time_ns or 0)
    try:
        flow = flights.flow_of(exchange.crossings, wanted_ns, first_ns)
        sizes = (first.query_bytes, first.response_bytes or 0)
        path = flights.critical_path(flow, wanted_ns, first_ns, *sizes, link)
    except flights.UnclearError:
        return None
    trips = round_trips(first.dns_transport.value, handshake)
    if len(path) != 2 * trips:
        return None
    up = sum(one.ip_bytes for one in path if one.up)
    down = sum(one.ip_bytes for one in path if not one.up)
    first_closed_ms = link.closed_form_ms(trips, up, down)
    late_bytes = _late_bytes(flow, path[-2].delivered_ns, last, delay_ms)
    before = down - path[-1].ip_bytes
    last_closed_ms = link.closed_form_ms(trips, up, before + late_bytes) + delay_ms
    first_ms, last_ms = ((one.query_response_time_ns or 0) / 1e6 for one in (first, last))
    return ClosedFormResult(
        first_ms, first_closed_ms, first_ms - first_closed_ms, last_ms, last_closed_ms, last_ms - last_closed_ms
    )


def _late_bytes(flow: Sequence[Crossing], asked_ns: int, last: QueryRecord, delay_ms: float) -> int:
    """Return the IP bytes of the late answer's packets."""
    since_ns = asked_ns + delay_ms * 1e6 - EARLY_NS
    until_ns = last.time_origin_ns + (last.query_response_time_ns or 0)
    late = (one for one in flow if not one.up and one.entered_ns >= since_ns and one.delivered_ns <= until_ns)
    return sum(one.ip_bytes for one in late)


def medians(judged: Sequence[ClosedFormResult]) -> ClosedFormResult | None:
    """Return the medians of each number."""
    if not judged:
        return None
    columns = zip(*(one.list_numbers() for one in judged), strict=True)
    return ClosedFormResult(*(statistics.median(column) for column in columns))
