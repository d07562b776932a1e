"""What of a warm-up is still under way at the servers, as the edge's records tell it.

For: looks at the records of a trial: the measured load begins when one finds nothing. Not for: closing and clearing, or
waiting (`testbed`, the browsers).

A browser that is told to close its connections closes those that are open. It goes on opening those that a closed page
wanted, and sends a query again, over a new connection, when its connection was closed. The measured load would find
both. The servers see them; some quiet milliseconds in the browser show nothing, as a handshake waits for a round trip.
"""

from collections.abc import Sequence

from resolab.records import ConnectionRecord, EdgeQueryRecord, Record

TCP_DNS_PORT = "53"
"""Connections there have no handshake beyond TCP's."""


class ServersView:
    """The looks that a testbed takes at its servers, one after the other."""

    def __init__(self) -> None:
        self._received_bytes: dict[int, int | None] = {}
        """Bytes that had come, at the last look, on each connection whose handshake was not over."""

    def under_way(self, records: Sequence[Record], cleared_ns: int, *, kept_address: str | None = None) -> list[str]:
        """Name connections that were opened after the browser had cleared, and queries whose answers it may still take.

        The edge must have been flushed after the time that a close needs to arrive. Connections to `kept_address` are
        to stay open. A connection whose handshake was over before counts as closed: the browser closed it, and its
        close may have been lost. The answer to a query on such a connection reaches nobody. A handshake on which
        nothing came since the last look was given up: Firefox says nothing to the server then.
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


def without_open_connections(records: Sequence[Record]) -> list[Record]:
    """Leave out what was written of connections that are still open: their last records are still to come."""
    return [one for one in records if not (isinstance(one, ConnectionRecord) and one.closed_ns is None)]


def _is_opening(connection: ConnectionRecord) -> bool:
    has_handshake = _place(connection)[1] != TCP_DNS_PORT
    return has_handshake and connection.closed_ns is None and connection.handshake_complete_ns is None


def _is_at(connection: ConnectionRecord, address: str | None) -> bool:
    return address is not None and _place(connection)[0] == address


def _place(connection: ConnectionRecord) -> tuple[str, str]:
    address, _, port = connection.local_address.rpartition(":")
    return address.strip("[]"), port
