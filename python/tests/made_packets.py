"""Packets and capture files as other programs would write them."""

import struct

CLIENT, SERVER = bytes([127, 0, 0, 1]), bytes([127, 0, 0, 1])
WALL_LEAD_NS = 1_700_000_000_000_000_000


def question(name: str) -> bytes:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack(">6H", 7, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", 1, 1)


def udp(source: int, destination: int, payload: bytes) -> bytes:
    body = struct.pack(">4H", source, destination, 8 + len(payload), 0) + payload
    return _ip(17, body)


def tcp(source: int, destination: int, payload: bytes, *, sequence: int = 0, flags: int = 0x10) -> bytes:
    options = b"\x01" * 12
    body = struct.pack(">2H2I2B3H", source, destination, sequence, 0, 8 << 4, flags, 64, 0, 0) + options + payload
    return _ip(6, body)


def _ip(protocol: int, body: bytes) -> bytes:
    return struct.pack(">2B3H2BH", 0x45, 0, 20 + len(body), 0, 0, 64, protocol, 0) + CLIENT + SERVER + body


def pcap(packets: list[tuple[int, bytes]], *, magic: int = 0xA1B23C4D, link: int = 1, snap: int = 65_535) -> bytes:
    out = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, snap, link)
    for time_ns, ip in packets:
        frame = bytes(12) + b"\x08\x00" + ip
        kept = frame[:snap]
        out += struct.pack("<4I", time_ns // 10**9, time_ns % 10**9, len(kept), len(frame)) + kept
    return out


def pcapng(crossings: list[tuple[str, int, int | None, bytes]]) -> bytes:
    """`(direction, entered, delivered or None when lost, packet)`; monotonic nanoseconds."""
    comment = f"time stamps are CLOCK_MONOTONIC plus {WALL_LEAD_NS} ns, the wall clock's lead".encode()
    header = struct.pack("=IHHq", 0x1A2B3C4D, 1, 0, -1)
    out = _block(0x0A0D0D0A, header + _option(4, b"resolab-core 0.1.0") + _option(1, comment) + bytes(4))
    out += _block(1, bytes(8)) + _block(1, bytes(8))
    events = []
    for direction, entered_ns, delivered_ns, ip in crossings:
        sender, receiver = (0, 1) if direction == "up" else (1, 0)
        events.append((entered_ns, sender, 2, ip, b"" if delivered_ns else b"dropped: loss"))
        if delivered_ns is not None:
            events.append((delivered_ns, receiver, 1, ip, b""))
    for time_ns, interface, flags, ip, remark in sorted(events, key=lambda event: event[0]):
        stamp = time_ns + WALL_LEAD_NS
        body = struct.pack("=5I", interface, stamp >> 32, stamp & 0xFFFFFFFF, len(ip), len(ip)) + _padded(ip)
        body += _option(2, struct.pack("=I", flags)) + (_option(1, remark) if remark else b"") + bytes(4)
        out += _block(6, body)
    return out + _block(5, bytes(12))


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("=HH", code, len(value)) + _padded(value)


def _padded(value: bytes) -> bytes:
    return value + bytes(-len(value) % 4)


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("=I", 12 + len(body))
    return struct.pack("=I", kind) + length + body + length
