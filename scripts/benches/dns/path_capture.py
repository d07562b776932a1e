"""The crossing of each packet over the emulated path, from the path's capture (docs/formats/capture.md).

For: both stamps of each delivered packet, on the records' clock. Not for: the file's format
(`resolab.extras.evidence.pcapng`) or the meaning of the packets (`flights`).
"""

import collections
from dataclasses import dataclass
from pathlib import Path

from benches.dns.pcap import SYN, TCP, parse_ipv4
from resolab.extras.evidence import pcapng


@dataclass(frozen=True)
class Crossing:
    """The crossing of a packet over the link; instants are `CLOCK_MONOTONIC`."""

    up: bool
    entered_ns: int
    delivered_ns: int
    ip_bytes: int
    payload_bytes: int
    protocol: int
    client_port: int
    opens: bool = False
    """True for a SYN."""

    @property
    def says_something(self) -> bool:
        """Return True for more than a TCP acknowledgement; an acknowledgement lets no side go on."""
        return self.protocol != TCP or self.payload_bytes > 0 or self.opens


def read(file: Path) -> list[Crossing]:
    """Read the delivered packets, in the order of entering."""
    entered = collections.defaultdict[tuple[bool, bytes], list[int]](list)
    crossings = []
    for one in pcapng.stamps(file.read_bytes()):
        way = one.up, one.packet
        if one.entered:
            entered[way].append(one.at_ns)
        elif entered[way]:
            crossings += _list_crossings(one, entered[way].pop(0))
    return sorted(crossings, key=lambda crossing: crossing.entered_ns)


def _list_crossings(delivery: pcapng.PacketStamp, entered_ns: int) -> list[Crossing]:
    ip, up = delivery.packet, delivery.up
    packet = parse_ipv4(entered_ns, ip) if ip[0] >> 4 == 4 else None
    if packet is None:
        return []
    port = packet.source_port if up else packet.destination_port
    opens = packet.protocol == TCP and bool(packet.tcp_flags & SYN)
    return [
        Crossing(up, entered_ns, delivery.at_ns, packet.ip_bytes, packet.payload_bytes, packet.protocol, port, opens)
    ]
