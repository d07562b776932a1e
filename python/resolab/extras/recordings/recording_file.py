"""A recording's file as JSON: without compression (gzip) or wrapping (byte order mark, JSONP).

For: bytes and their form. Not for: reading the form itself.
"""

import enum
import hashlib
import mmap
import os
import re
import stat
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from resolab.basics.errors import ConfigurationError

STANDARD_INPUT = Path("-")
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_PACKED = {
    b"PK\x03\x04": "a zip: unpack it, and give the .har that is in it",
    b"\x28\xb5\x2f\xfd": "packed by Zstandard: unpack it with `unzstd`",
    b"BZh": "packed by bzip2: unpack it with `bunzip2`",
    b"\xfd7zXZ\x00": "packed by xz: unpack it with `unxz`",
}
_BROTLI = ".br"
"""The file ending of Brotli, as Brotli has no magic number (RFC 7932)."""
_WIDE = {
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"{\x00": "utf-16-le",
    b"[\x00": "utf-16-le",
    b"\x00{": "utf-16-be",
    b"\x00[": "utf-16-be",
}
"""UTF-16 by the byte order mark or by the first letter of the JSON."""
_JSONP = re.compile(rb"^\s*(?:/\*.{0,200}?\*/\s*)?[A-Za-z_$][\w.$]{0,100}\s*\(\s*(?=[{\[])", re.DOTALL)
_JSONP_END = re.compile(rb"\)\s*;?\s*$")
_TAIL_BYTES = 64
_HEAD_BYTES = 65_536
_PIECE_BYTES = 1 << 20
_PACKED_PIECE_BYTES = 1 << 14
"""The size of a packed piece: after a member's end the rest of a piece is copied, so pieces are as small as members may
be."""
_LIMIT_BYTES = 4 << 30
"""The size limit of an unpacked file or a pipe's content, in bytes."""


class RecordingForm(enum.StrEnum):
    """The form of a file."""

    HAR = "har"
    CDP = "cdp"
    TRIAL = "trial"


@dataclass(frozen=True, slots=True)
class RecordingFile:
    """The JSON of a file, with form and hash."""

    content: bytes | memoryview
    form: RecordingForm
    sha256: str
    """Hash of the file's bytes, still packed."""


def open_recording(file: Path) -> RecordingFile:
    """Open a recording; a plain file is mapped, so bodies need no memory. `-` is standard input."""
    try:
        if file == STANDARD_INPUT:
            packed = _read(sys.stdin.buffer)
        else:
            with file.open("rb") as handle:
                packed = _map_or_read(handle)
        digest = hashlib.sha256(packed).hexdigest()
        content = _bare(_plain(packed, file))
        return RecordingFile(content, _form(content), digest)
    except OSError as error:
        raise ConfigurationError(f"failed to read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigurationError(f"failed to read {file}: {error}") from error


def _map_or_read(handle: BinaryIO) -> memoryview:
    """Map a regular file; read anything else, as a pipe."""
    status = os.fstat(handle.fileno())
    if not stat.S_ISREG(status.st_mode):
        return _read(handle)
    if status.st_size == 0:
        raise ValueError("it is empty")
    return memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))


def _read(handle: BinaryIO) -> memoryview:
    content = bytearray()
    while piece := handle.read(_PIECE_BYTES):
        content += piece
        if len(content) > _LIMIT_BYTES:
            raise ValueError(f"it gives more than {_LIMIT_BYTES >> 30} GiB")
    if not content:
        raise ValueError("it is empty")
    return memoryview(content).toreadonly()


def _plain(packed: memoryview, file: Path) -> memoryview:
    """Unpack the content; raise ValueError for an unsupported packing."""
    content = _unpack(packed) if packed[:2] == _GZIP else packed
    head = bytes(content[:8])
    for sign, what in _PACKED.items():
        if head.startswith(sign):
            raise ValueError(f"it is {what}")
    encoding = _WIDE.get(head[:2])
    if encoding is not None:
        # Windows' shells write what programs print so.
        return memoryview(bytes(content).decode(encoding, "replace").encode())
    if file.suffix == _BROTLI and _looks_like_no_json(head):
        raise ValueError("it is packed by Brotli: unpack it with `brotli -d`")
    return content


def _looks_like_no_json(head: bytes) -> bool:
    return not head.removeprefix(_BOM).lstrip().startswith((b"{", b"["))


def _unpack(packed: memoryview) -> memoryview:
    """Unpack gzip with a single member or several, within the limit."""
    content, place = bytearray(), 0
    unpacker = None
    while place < len(packed):
        if unpacker is None and packed[place : place + 2] != _GZIP:
            break
        unpacker = unpacker or zlib.decompressobj(wbits=31)
        piece = packed[place : place + _PACKED_PIECE_BYTES]
        try:
            content += unpacker.decompress(piece, _LIMIT_BYTES - len(content) + 1)
        except zlib.error as error:
            raise ValueError(f"its gzip is damaged: {error}") from error
        if len(content) > _LIMIT_BYTES:
            raise ValueError(f"it unpacks to more than {_LIMIT_BYTES >> 30} GiB")
        place += len(piece) - len(unpacker.unused_data)
        unpacker = None if unpacker.eof else unpacker
    if unpacker is not None:
        raise ValueError("its gzip is cut off")
    return memoryview(content).toreadonly()


def _bare(content: memoryview) -> memoryview:
    if content[:3] == _BOM:
        content = content[3:]
    call = _JSONP.match(bytes(content[:_HEAD_BYTES]))
    if call is None:
        return content
    end = _JSONP_END.search(bytes(content[-_TAIL_BYTES:]))
    behind = 0 if end is None else len(content[-_TAIL_BYTES:]) - end.start()
    return content[call.end() : len(content) - behind]


def _form(content: memoryview) -> RecordingForm:
    head = bytes(content[:_HEAD_BYTES]).lstrip()
    if head.startswith(b"[") or re.match(rb'\{\s*"(method|params)"', head) or _is_event(head):
        return RecordingForm.CDP
    if re.match(rb'\{[^\n]{0,2000}"record"\s*:', head):
        return RecordingForm.TRIAL
    if re.match(rb'\{\s*"format"\s*:', head):
        raise ValueError("it is a page's model already: name it NAME.page.json for resolab to take it")
    if head.startswith(b"{"):
        return RecordingForm.HAR
    raise ValueError("it is neither a HAR, a CDP log nor a trial's file")


def _is_event(head: bytes) -> bool:
    """Tell if the first line is an event of the DevTools protocol, in any order of keys, or chromedriver's."""
    line, _, rest = head.partition(b"\n")
    if not rest.strip():
        return False
    try:
        told = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return isinstance(told, dict) and ("method" in told or {"level", "message"} <= told.keys())
