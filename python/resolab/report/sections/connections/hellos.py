"""The hellos of a dataset's connections as a table of the report.

For: words and ranges. Not for: assigning connections to clients (`store.connections.hellos`).
"""

from collections.abc import Sequence

from resolab.report.parts.tables import Table
from resolab.report.plots import ABSENT
from resolab.store.connections.hellos import HelloRow

_COLUMNS = (
    "client",
    "to",
    "protocol",
    "handshake",
    "group",
    "retry asked",
    "connections",
    "trials",
    "ClientHello, B",
    "packets",
    "ServerHello, B",
    "certificates, B",
    "server's flight, packets",
)
_WORDS = frozenset(range(6))


def hello_table(hellos: Sequence[HelloRow]) -> Table:
    """List the sent and received hellos of each kind of client; empty for older datasets without recorded hellos."""
    return Table(_COLUMNS, [_cells(one) for one in hellos], _WORDS)


def _cells(one: HelloRow) -> tuple[str, ...]:
    retry = {None: ABSENT, True: "yes", False: "no"}[one.hello_retry_request]
    return (
        one.client,
        one.server,
        one.alpn,
        one.handshake_mode or ABSENT,
        one.key_exchange_group or ABSENT,
        retry,
        str(one.connections_count),
        str(one.trials_count),
        _range(one.client_hello_least_bytes, one.client_hello_most_bytes),
        _range(one.client_hello_packets_least_count, one.client_hello_packets_most_count),
        _number(one.server_hello_bytes),
        _number(one.certificate_most_bytes),
        _range(one.server_flight_packets_least_count, one.server_flight_packets_most_count),
    )


def _number(value: int | None) -> str:
    return ABSENT if value is None else str(value)


def _range(least: int | None, most: int | None) -> str:
    if least is None or most is None:
        return ABSENT
    return str(least) if least == most else f"{least} to {most}"
