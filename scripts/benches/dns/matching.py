"""Pairs the packets of a capture with their queries, and takes the time between query and response.

For: wire time, from the last packet of a query leaving to the last packet of its response arriving, by three methods:
by name for readable messages, by the instants of our records, and by order as the last resort. Not for: capturing or
querying.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benches.dns.pcap import TCP, Packet

DNS_HEADER_BYTES = 12
TLS_MESSAGE_BYTES = 42
"""The shortest payload counted as a query or response over TLS. Acknowledgements of settings, pings, window updates and
alerts are shorter (5 + 17 bytes of record, 9 + 8 of frame); a message with its question is longer."""
QUIC_MESSAGE_BYTES = 60
"""The same limit for QUIC; packets with only acknowledgements and limits are shorter."""


@dataclass(frozen=True)
class Window:
    """The time window of a query in flight, by its record; wall time."""

    start_ns: int
    end_ns: int
    query_bytes: int
    response_bytes: int


def select_server_packets(packets: Iterable[Packet], port: int, start_ns: int, end_ns: int) -> list[Packet]:
    """Select the packets to and from a server within a time, without repeated and empty TCP segments."""
    sent: dict[tuple[int, int], int] = {}
    picked = []
    for packet in packets:
        if not start_ns <= packet.time_ns <= end_ns or port not in {packet.source_port, packet.destination_port}:
            continue
        if packet.protocol == TCP:
            flow, ends = (packet.source_port, packet.destination_port), packet.sequence + packet.payload_bytes
            repeated = (sent.get(flow, ends - 1) - ends) & 0xFFFFFFFF < 1 << 31
            if packet.payload_bytes == 0 or repeated:
                continue
            sent[flow] = ends
        picked.append(packet)
    return picked


def match_by_name(packets: Iterable[Packet], port: int) -> dict[str, int]:
    """Return the wire time of each name with a single query, from messages in the clear."""
    asked: dict[tuple[str, int], int] = {}
    took: dict[str, int] = {}
    for packet in packets:
        message = packet.payload[2:] if packet.protocol == TCP else packet.payload
        name = question_name(message)
        if name is None:
            continue
        client_port = packet.source_port if packet.destination_port == port else packet.destination_port
        if packet.destination_port == port:
            asked[name, client_port] = packet.time_ns
        elif (name, client_port) in asked:
            took[name] = packet.time_ns - asked[name, client_port]
    return took


def question_name(message: bytes) -> str | None:
    """Read the name of the first question (RFC 1035 section 4.1.2), in lower case; None without a question."""
    labels: list[str] = []
    at = DNS_HEADER_BYTES
    while at < len(message) and (length := message[at]) < 64:
        if length == 0:
            return ".".join(labels) if labels else None
        labels.append(message[at + 1 : at + 1 + length].decode("ascii", errors="replace").lower())
        at += 1 + length
    return None


def match_by_window(packets: Sequence[Packet], port: int, windows: Sequence[Window]) -> list[int | None]:
    """Return wire times by the window of each query: from the last packets large enough for the messages."""
    took: list[int | None] = []
    start = 0
    for window in windows:
        while start < len(packets) and packets[start].time_ns < window.start_ns:
            start += 1
        end = start
        while end < len(packets) and packets[end].time_ns <= window.end_ns:
            end += 1
        took.append(_match_window(packets[start:end], port, window))
    return took


def _match_window(packets: Sequence[Packet], port: int, window: Window) -> int | None:
    arrived = [one.time_ns for one in packets if one.source_port == port and one.payload_bytes >= window.response_bytes]
    if not arrived:
        return None
    left = [
        one.time_ns
        for one in packets
        if one.destination_port == port and one.payload_bytes >= window.query_bytes and one.time_ns < arrived[-1]
    ]
    return arrived[-1] - left[-1] if left else None


def match_by_order(packets: Iterable[Packet], port: int, least_bytes: int, count: int) -> list[int]:
    """Return the last `count` wire times of serial queries: packets up in a row, then packets down in a row."""
    took: list[int] = []
    left_ns, arriving = None, False
    for packet in packets:
        if packet.payload_bytes < least_bytes:
            continue
        if packet.destination_port == port:
            left_ns, arriving = packet.time_ns, False
        elif left_ns is not None and arriving:
            took[-1] = packet.time_ns - left_ns
        elif left_ns is not None:
            took.append(packet.time_ns - left_ns)
            arriving = True
    return took[-count:] if count else []
