"""What a path's capture (docs/formats/capture.md) says of each connection's beginning, without any of resolab's readers.

For: the client's port to its packets, in the order they entered the link. Not for: judging records (the tests).
"""

import struct
from collections import defaultdict
from dataclasses import dataclass, field

ENHANCED_PACKET = 6
FLAGS_OPTION, OUTBOUND = 2, 2
TCP, UDP = 6, 17
SYN = 2
INITIAL_LEAST_BYTES = 1_200


@dataclass
class Conversation:
    """One client port's packets; of TCP the payload by its place in the stream, of UDP each datagram."""

    datagrams: list[tuple[bool, bytes]] = field(default_factory=list)
    """Whether it went up, and what it carries."""
    segments: dict[bool, dict[int, bytes]] = field(default_factory=lambda: {True: {}, False: {}})
    begins: dict[bool, int] = field(default_factory=dict)

    def stream(self, up):
        """The bytes of one direction, as far as they follow on each other."""
        joined = b""
        for place, payload in sorted(self.segments[up].items()):
            if place > len(joined):
                break
            joined += payload[len(joined) - place :]
        return joined

    def segments_with(self, up, length):
        """How many segments have some of the first `length` bytes."""
        return sum(place < length for place, payload in self.segments[up].items() if payload)

    def first_flights(self):
        """Datagrams that begin with Initial packets up, before any came; such of the server before the next one up.

        Initial packets in short datagrams acknowledge and do no more (RFC 9000 section 14.1).
        """
        up_count = down_count = 0
        for up, payload in self.datagrams:
            kind = payload[0] >> 4 & 3 if payload[0] & 0x80 else None
            if kind == 0 and len(payload) < INITIAL_LEAST_BYTES:
                continue
            if up and kind == 0 and not down_count:
                up_count += 1
            elif up and kind in (0, 2):
                break
            elif not up and kind in (0, 2):
                down_count += 1
        return up_count, down_count


def conversations(file):
    """Read a capture: what each port of the client sent and got."""
    found = defaultdict(Conversation)
    for outbound_of, ip in _packets(file.read_bytes()):
        header = (ip[0] & 15) * 4
        up, transport = outbound_of == 0, ip[header : struct.unpack_from(">H", ip, 2)[0]]
        source, destination = struct.unpack_from(">HH", transport)
        one = found[ip[9], source if up else destination]
        if ip[9] == UDP:
            one.datagrams.append((up, transport[8:]))
        elif ip[9] == TCP:
            sequence, flags = struct.unpack_from(">I", transport, 4)[0], transport[13]
            if flags & SYN:
                one.begins[up] = sequence + 1
            elif up in one.begins:
                place = (sequence - one.begins[up]) % 2**32
                one.segments[up][place] = max(one.segments[up].get(place, b""), transport[(transport[12] >> 4) * 4 :])
    return found


def _packets(data):
    """Packets as they entered the link: whose they are (0: the client's), and from their IP headers on."""
    at = 0
    while at + 12 <= len(data):
        kind, length = struct.unpack_from("=II", data, at)
        block, at = data[at : at + length], at + length
        if kind != ENHANCED_PACKET:
            continue
        interface, captured = struct.unpack_from("=I8xI", block, 8)
        if _flags(block[28 + (captured + 3) // 4 * 4 : -4]) & 3 == OUTBOUND and block[28] >> 4 == 4:
            yield interface, block[28 : 28 + captured]


def _flags(options):
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from("=HH", options, at)
        if code == FLAGS_OPTION:
            return struct.unpack_from("=I", options, at + 4)[0]
        at += 4 + (length + 3) // 4 * 4
    return 0
