"""Reads tcpdump's captures of the loopback device: libpcap's file format with nanosecond stamps.

For: UDP datagrams and TCP segments over IPv4, with their stamps. Not for: other files (for the path's own captures see
`path_capture`), fragments, IPv6.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

NANOSECONDS = 0xA1B23C4D
ETHERNET = 1
ETHERNET_HEADER_BYTES = 14
ETHERTYPE_IPV4 = 0x0800
TCP, UDP = 6, 17
SYN = 0x02


@dataclass(frozen=True)
class Packet:
    """A packet with its captured part of the payload."""

    time_ns: int
    """The capture time, in wall time."""
    protocol: int
    source_port: int
    destination_port: int
    payload_bytes: int
    """The length on the wire of the UDP or TCP payload."""
    payload: bytes
    sequence: int = 0
    """The TCP sequence number of the first byte of payload."""
    ip_bytes: int = 0
    """The length of the whole IP packet."""
    tcp_flags: int = 0


def read(file: Path) -> list[Packet]:
    """Read a whole capture in the order of its stamps."""
    data = file.read_bytes()
    if len(data) < 24:
        raise ValueError(f"{file} is no capture: {len(data)} bytes")
    order = next((sign for sign in "<>" if struct.unpack_from(f"{sign}I", data)[0] == NANOSECONDS), None)
    if order is None:
        raise ValueError(f"{file} is no capture with nanoseconds")
    if struct.unpack_from(f"{order}I", data, 20)[0] != ETHERNET:
        raise ValueError(f"{file} is not of an Ethernet or loopback device")
    packets, at = [], 24
    while at + 16 <= len(data):
        seconds, nanoseconds, captured_bytes, _ = struct.unpack_from(f"{order}IIII", data, at)
        frame = data[at + 16 : at + 16 + captured_bytes]
        at += 16 + captured_bytes
        if struct.unpack_from(">H", frame, 12)[0] != ETHERTYPE_IPV4:
            continue
        packet = parse_ipv4(seconds * 1_000_000_000 + nanoseconds, frame[ETHERNET_HEADER_BYTES:])
        packets += [packet] if packet else []
    return sorted(packets, key=lambda packet: packet.time_ns)


def parse_ipv4(time_ns: int, ip: bytes) -> Packet | None:
    """Parse an IPv4 packet (RFC 791, 768, 9293); return None unless UDP or TCP."""
    header_bytes, ip_bytes, protocol = (ip[0] & 0x0F) * 4, struct.unpack_from(">H", ip, 2)[0], ip[9]
    transport = ip[header_bytes:ip_bytes]
    if protocol not in {TCP, UDP} or len(transport) < 8:
        return None
    source, destination = struct.unpack_from(">HH", transport)
    if protocol == UDP:
        return Packet(time_ns, UDP, source, destination, ip_bytes - header_bytes - 8, transport[8:], ip_bytes=ip_bytes)
    sequence, data_offset, flags = struct.unpack_from(">4xI4xBB", transport)
    before = (data_offset >> 4) * 4
    payload_bytes = ip_bytes - header_bytes - before
    return Packet(time_ns, TCP, source, destination, payload_bytes, transport[before:], sequence, ip_bytes, flags)
