"""Find a warm-up's activity still under way at the servers, in the edge's records.

For: checks of a trial's records: the measured load begins after a check without findings. Not for: closing and
clearing, or waiting (`testbed`, the browsers).

A browser told to close its connections closes the open connections. The browser still opens connections wanted by a
closed page. When a query's connection was closed, the browser sends the query again over a new connection. The measured
load would meet both. The servers see both. Some quiet milliseconds in the browser prove nothing, as a handshake waits
for a round trip.
"""

from collections.abc import Sequence

from resolab.basics.records import ConnectionRecord, EdgeQueryRecord, Record

TCP_DNS_PORT = "53"
"""The DNS port for TCP; connections at this port have no handshake beyond TCP's."""


class WarmUpActivity:
    """The successive checks of a testbed at its servers."""

    def __init__(self) -> None:
        self._received_bytes: dict[int, int | None] = {}
        """The bytes received until the last check, for each connection with an unfinished handshake."""

    def list_under_way(
        self, records: Sequence[Record], cleared_ns: int, *, kept_address: str | None = None
    ) -> list[str]:
        """Return connections opened after the browser's clearing, and queries with answers still possible.

        The edge must have been flushed after the time needed by a close to arrive. Connections to `kept_address` are to
        stay open. A connection with an earlier complete handshake counts as closed: the browser closed the connection,
        and the close may have been lost. The answer to a query on such a connection reaches no client. A handshake
        without bytes since the last check was given up: Firefox then sends no close to the server.
        """
        last = {record.connection_id: record for record in records if isinstance(record, ConnectionRecord)}
        kept = {number for number, one in last.items() if _is_at(one, kept_address)}
        opened = [
            f"connection to {one.server_name or one.local_address}"
            for number, one in last.items()
            if number not in kept and self._was_opened_after(one, cleared_ns)
        ]
        self._received_bytes = {number: one.received_bytes for number, one in last.items() if _is_opening(one)}
        asked = [
            f"query for {record.qname} {record.qtype}"
            for record in records
            if isinstance(record, EdgeQueryRecord)
            and record.received_ns >= cleared_ns
            and (record.connection_id is None or record.connection_id in kept)
        ]
        return [*opened, *asked]

    def _was_opened_after(self, connection: ConnectionRecord, cleared_ns: int) -> bool:
        if connection.accepted_ns >= cleared_ns:
            return True
        if not _is_opening(connection):
            complete_ns = connection.handshake_complete_ns
            return connection.closed_ns is None and complete_ns is not None and complete_ns >= cleared_ns
        number = connection.connection_id
        return number not in self._received_bytes or self._received_bytes[number] != connection.received_bytes


def drop_open_connections(records: Sequence[Record]) -> list[Record]:
    """Remove the records of connections still open: their last records will follow."""
    return [one for one in records if not (isinstance(one, ConnectionRecord) and one.closed_ns is None)]


def _is_opening(connection: ConnectionRecord) -> bool:
    has_handshake = _place(connection)[1] != TCP_DNS_PORT
    return has_handshake and connection.closed_ns is None and connection.handshake_complete_ns is None


def _is_at(connection: ConnectionRecord, address: str | None) -> bool:
    return address is not None and _place(connection)[0] == address


def _place(connection: ConnectionRecord) -> tuple[str, str]:
    address, _, port = connection.local_address.rpartition(":")
    return address.strip("[]"), port
