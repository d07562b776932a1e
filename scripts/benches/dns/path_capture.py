"""Reading the emulated path's own capture (docs/formats/capture.md): each packet with entry and delivery.

For: both stamps of each packet that came through, on the records' clock. Not for: what the packets mean (`flights`).
"""

import collections
import re
import struct
from dataclasses import dataclass
from pathlib import Path

from benches.dns.pcap import SYN, TCP, parse_ipv4

SECTION_HEADER, ENHANCED_PACKET = 0x0A0D0D0A, 6
OPTION_COMMENT, OPTION_FLAGS, OUTBOUND = 1, 2, 2
CLIENT = 0


@dataclass(frozen=True)
class Crossing:
    """A packet's way through the link; instants are `CLOCK_MONOTONIC`."""

    up: bool
    entered_ns: int
    delivered_ns: int
    ip_bytes: int
    payload_bytes: int
    protocol: int
    client_port: int
    opens: bool = False
    """It is a SYN."""

    @property
    def says_something(self) -> bool:
        """Whether it is more than a TCP acknowledgement: such a one lets nobody go on."""
        return self.protocol != TCP or self.payload_bytes > 0 or self.opens


def read(file: Path) -> list[Crossing]:
    """Read the packets that came through, in the order they entered."""
    offset_ns, stamps = 0, collections.defaultdict[tuple[bool, bytes], list[int]](list)
    crossings = []
    for kind, block in _blocks(file.read_bytes()):
        if kind == SECTION_HEADER:
            offset_ns = _clock_offset_ns(block)
        if kind != ENHANCED_PACKET:
            continue
        interface, high, low, captured_bytes = struct.unpack_from("=IIII", block, 8)
        time_ns, ip = (high << 32 | low) - offset_ns, block[28 : 28 + captured_bytes]
        options = _options(block[28 + (captured_bytes + 3) // 4 * 4 : -4])
        outbound = options.get(OPTION_FLAGS, b"\0")[0] & 3 == OUTBOUND
        up = (interface == CLIENT) == outbound
        if outbound:
            stamps[up, ip].append(time_ns)
        elif stamps[up, ip]:
            crossings += _crossing(up, stamps[up, ip].pop(0), time_ns, ip)
    return sorted(crossings, key=lambda crossing: crossing.entered_ns)


def _crossing(up: bool, entered_ns: int, delivered_ns: int, ip: bytes) -> list[Crossing]:  # noqa: FBT001
    packet = parse_ipv4(entered_ns, ip) if ip[0] >> 4 == 4 else None
    if packet is None:
        return []
    port = packet.source_port if up else packet.destination_port
    opens = packet.protocol == TCP and bool(packet.tcp_flags & SYN)
    return [Crossing(up, entered_ns, delivered_ns, packet.ip_bytes, packet.payload_bytes, packet.protocol, port, opens)]


def _blocks(data: bytes) -> list[tuple[int, bytes]]:
    blocks, at = [], 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("=II", data, at)
        blocks.append((kind, data[at : at + length]))
        at += length
    return blocks


def _options(data: bytes) -> dict[int, bytes]:
    options, at = {}, 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from("=HH", data, at)
        options[code] = data[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
    return options


def _clock_offset_ns(block: bytes) -> int:
    """Take the difference of wall and monotonic time from the section's comment."""
    comment = _options(block[24:-4]).get(OPTION_COMMENT, b"").decode(errors="replace")
    found = re.search(r"\d{15,}", comment)
    if found is None:
        raise ValueError(f"the capture does not say which clock its stamps are of: {comment!r}")
    return int(found.group())
