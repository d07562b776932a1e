"""The path's captures as files: their blocks, both stamps of each packet, and inserted TLS secrets.

For: files written by resolab-core (docs/formats/capture.md), in this machine's byte order. Not for: other programs'
captures, or the meaning of the packets.
"""

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

SECTION_HEADER, ENHANCED_PACKET, DECRYPTION_SECRETS = 0x0A0D0D0A, 6, 10
TLS_KEY_LOG = 0x544C534B
"""Secrets type of NSS's key log (draft-ietf-opsawg-pcapng, section 4.7)."""
OPTION_COMMENT, OPTION_FLAGS, OUTBOUND = 1, 2, 2
CLIENT = 0
"""The interface of the client's end of the link."""
HEADER_BYTES, PACKET_HEADER_BYTES = 12, 28


@dataclass(frozen=True, slots=True)
class PacketStamp:
    """A packet at one end of the link, by `CLOCK_MONOTONIC`."""

    up: bool
    """From the client to the server."""
    entered: bool
    """True when the packet entered the link, False when the packet left the link."""
    at_ns: int
    packet: bytes
    """From the IP header on."""
    comment: str | None
    """The reason of a drop; `None` for a delivered packet."""


def stamps(data: bytes) -> Iterator[PacketStamp]:
    """Read both stamps of each packet, in file order; file order is not quite the order of time."""
    offset_ns = 0
    for kind, block in blocks(data):
        if kind == SECTION_HEADER:
            offset_ns = _clock_offset_ns(block)
        elif kind == ENHANCED_PACKET:
            yield _stamp(block, offset_ns)


def keep_client_packets(data: bytes) -> bytes:
    """Remove the packets of the server's interface, to leave each packet once, as seen by the client."""
    return b"".join(block for kind, block in blocks(data) if kind != ENHANCED_PACKET or _interface(block) == CLIENT)


def insert_secrets(data: bytes, key_log: bytes) -> bytes:
    """Insert a key log after the section header, before all packets to decrypt."""
    if not key_log:
        return data
    kind, header = next(blocks(data))
    if kind != SECTION_HEADER:
        raise ValueError("it does not begin with a section header")
    padded = key_log + b"\0" * (-len(key_log) % 4)
    length = HEADER_BYTES + 8 + len(padded)
    block = struct.pack("=IIII", DECRYPTION_SECRETS, length, TLS_KEY_LOG, len(key_log)) + padded
    return header + block + struct.pack("=I", length) + data[len(header) :]


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and bytes of each complete block; a block cut off by a crash is left out."""
    at = 0
    while at + HEADER_BYTES <= len(data):
        kind, length = struct.unpack_from("=II", data, at)
        if length < HEADER_BYTES or length % 4:
            raise ValueError(f"a block at byte {at} is {length} bytes long")
        if at + length > len(data):
            return
        yield kind, data[at : at + length]
        at += length


def _interface(block: bytes) -> int:
    number: int = struct.unpack_from("=I", block, 8)[0]
    return number


def _stamp(block: bytes, offset_ns: int) -> PacketStamp:
    interface, high, low, captured_bytes = struct.unpack_from("=IIII", block, 8)
    options = _options(block[PACKET_HEADER_BYTES + (captured_bytes + 3) // 4 * 4 : -4])
    outbound = options.get(OPTION_FLAGS, b"\0")[0] & 3 == OUTBOUND
    comment = options.get(OPTION_COMMENT)
    return PacketStamp(
        up=(interface == CLIENT) == outbound,
        entered=outbound,
        at_ns=(high << 32 | low) - offset_ns,
        packet=block[PACKET_HEADER_BYTES : PACKET_HEADER_BYTES + captured_bytes],
        comment=None if comment is None else comment.decode(errors="replace"),
    )


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
