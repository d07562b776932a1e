"""Bodies without content, with the byte counts of the page's bodies before and after content coding.

For: texts with gaps between the meaningful parts, images, anything else. Not for: the meaningful parts of a text
(`document`, `script`, `stylesheet`).

A text is filled with comments of drawn letters and runs of one letter, mixed so that gzip yields the recorded size. The
share of drawn letters is equal everywhere. So half of a text has arrived with half of the coded bytes.
"""

import base64
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

GIF = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
"""One point, in 35 bytes; browsers ignore bytes after a GIF's end."""
_BLOCK_BYTES = 1_024
_ENTROPY_RATIO = 0.757
"""The gzip ratio of a letter drawn of 64, Huffman's codes and their tables included."""
_AIM_RATIO = 0.997
"""Aimed a little below, for the rest is made up in gzip's own head."""
_ROUNDS = 4
_EXTRA_MAX_BYTES = 60_000
_GZIP_HEAD = b"\x1f\x8b\x08"
_FRAME_BYTES = 18
"""Gzip's head and tail (RFC 1952 section 2.3)."""
_FLAG_EXTRA = 4
_UNKNOWN_SYSTEM = 255


@dataclass(frozen=True, slots=True)
class Gap:
    """Free space in a text: bytes between a comment's opening and end."""

    size_bytes: int


@dataclass(frozen=True, slots=True)
class CloneBody:
    """The bytes served for one path."""

    identity: bytes
    gzip: bytes | None = None
    """The same, coded, where the page's was."""

    @property
    def wire_bytes(self) -> int:
        """Return the number of bytes on the wire to a client accepting gzip."""
        return len(self.identity if self.gzip is None else self.gzip)


def text_body(parts: Sequence[str | Gap], wire_bytes: int, *, coded: bool, seed: str) -> CloneBody:
    """Fill the gaps of a text. The coded text has `wire_bytes`, or more if the text's own words need more."""
    if not coded:
        return CloneBody(_fill(parts, 0.0, seed))
    share = _find_share(parts, wire_bytes, seed)
    text = _fill(parts, share, seed)
    return CloneBody(text, _gzip(text, wire_bytes))


def image_body(size_bytes: int, seed: str) -> CloneBody:
    """Make an image of a given size; a few bytes make no valid image, and a browser will report an error."""
    return CloneBody(GIF[:size_bytes] + _draw(size_bytes - len(GIF), seed))


def draw_body(size_bytes: int, seed: str) -> CloneBody:
    """Make incompressible bytes of the given size."""
    return CloneBody(_draw(size_bytes, seed))


def _draw(size_bytes: int, seed: str) -> bytes:
    return random.Random(seed).randbytes(max(0, size_bytes))


def _letters(count: int, draw: random.Random) -> bytes:
    return base64.b64encode(draw.randbytes(count * 3 // 4 + 3))[:count]


def _fill(parts: Sequence[str | Gap], share: float, seed: str) -> bytes:
    """Join the parts; of each block of a gap, the share `share` is drawn, the rest is one repeated letter."""
    draw = random.Random(seed)
    made = bytearray()
    for part in parts:
        if isinstance(part, str):
            made += part.encode()
            continue
        drawn_before = 0
        for begin in range(0, part.size_bytes, _BLOCK_BYTES):
            end = min(begin + _BLOCK_BYTES, part.size_bytes)
            drawn_count = round(share * end) - drawn_before
            drawn_before += drawn_count
            made += _letters(drawn_count, draw) + b"x" * (end - begin - drawn_count)
    return bytes(made)


def _find_share(parts: Sequence[str | Gap], wire_bytes: int, seed: str) -> float:
    room = sum(part.size_bytes for part in parts if isinstance(part, Gap))
    if not room:
        return 0.0
    share = 0.0
    for _ in range(_ROUNDS):
        missing = _AIM_RATIO * (wire_bytes - _FRAME_BYTES) - len(_deflate(_fill(parts, share, seed)))
        share = min(1.0, max(0.0, share + missing / (_ENTROPY_RATIO * room)))
    return share


def _deflate(text: bytes) -> bytes:
    coder = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    return coder.compress(text) + coder.flush()


def _gzip(text: bytes, wire_bytes: int) -> bytes:
    """Code a text by gzip (RFC 1952); a field of the head, ignored by readers, adds missing bytes."""
    coded = _deflate(text)
    tail = zlib.crc32(text).to_bytes(4, "little") + (len(text) & 0xFFFFFFFF).to_bytes(4, "little")
    missing = wire_bytes - len(coded) - _FRAME_BYTES
    extra = b""
    if 6 <= missing <= _EXTRA_MAX_BYTES:
        # XLEN, then one subfield of two letters and its length (RFC 1952 section 2.3.1.1).
        field = b"rl" + (missing - 6).to_bytes(2, "little") + bytes(missing - 6)
        extra = len(field).to_bytes(2, "little") + field
    head = _GZIP_HEAD + bytes([_FLAG_EXTRA if extra else 0]) + bytes(5) + bytes([_UNKNOWN_SYSTEM])
    return head + extra + coded + tail
