"""A recording's file as JSON: without what packs it (gzip) or stands around it (byte order mark, JSONP).

For: bytes and what they are a recording of. Not for: reading the form itself.
"""

import enum
import gzip
import hashlib
import mmap
import re
import zlib
from dataclasses import dataclass
from pathlib import Path

from resolab.errors import ConfigurationError

_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_JSONP = re.compile(rb"^\s*(?:/\*.{0,200}?\*/\s*)?[A-Za-z_$][\w.$]{0,100}\s*\(\s*(?=[{\[])", re.DOTALL)
_JSONP_END = re.compile(rb"\)\s*;?\s*$")
_TAIL_BYTES = 64
_HEAD_BYTES = 65_536
_LIMIT_BYTES = 4 << 30
"""A packed file that grows beyond this is not opened."""


class Form(enum.StrEnum):
    """What a file is."""

    HAR = "har"
    CDP = "cdp"
    TRIAL = "trial"


@dataclass(frozen=True, slots=True)
class Opened:
    """A file's JSON."""

    content: bytes | memoryview
    form: Form
    sha256: str
    """Of the file as it lies there."""


def open_recording(file: Path) -> Opened:
    """Open it; a plain file is mapped, so that its bodies need no memory."""
    try:
        with file.open("rb") as handle:
            size = file.stat().st_size
            if size == 0:
                raise ConfigurationError(f"failed to read {file}: it is empty")
            mapped = memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise ConfigurationError(f"failed to read {file}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigurationError(f"failed to read {file}: {error}") from error
    digest = hashlib.sha256(mapped).hexdigest()
    content = _unpacked(mapped, file) if mapped[:2] == _GZIP else mapped
    content = _bare(content)
    return Opened(content, _form(content, file), digest)


def _unpacked(packed: memoryview, file: Path) -> memoryview:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        content = unpacker.decompress(packed, _LIMIT_BYTES)
        if unpacker.unconsumed_tail:
            raise ConfigurationError(f"failed to read {file}: it unpacks to more than {_LIMIT_BYTES >> 30} GiB")
        if not unpacker.eof:
            raise ConfigurationError(f"failed to read {file}: its gzip is cut off")
        if unpacker.unused_data:
            content = gzip.decompress(bytes(packed))
    except (zlib.error, OSError, EOFError) as error:
        raise ConfigurationError(f"failed to read {file}: {error}") from error
    return memoryview(content)


def _bare(content: memoryview) -> memoryview:
    if content[:3] == _BOM:
        content = content[3:]
    call = _JSONP.match(bytes(content[:_HEAD_BYTES]))
    if call is None:
        return content
    end = _JSONP_END.search(bytes(content[-_TAIL_BYTES:]))
    behind = 0 if end is None else len(content[-_TAIL_BYTES:]) - end.start()
    return content[call.end() : len(content) - behind]


def _form(content: memoryview, file: Path) -> Form:
    head = bytes(content[:_HEAD_BYTES]).lstrip()
    if head.startswith(b"[") or re.match(rb'\{\s*"(method|params)"', head):
        return Form.CDP
    if re.match(rb'\{[^\n]{0,2000}"record"\s*:', head):
        return Form.TRIAL
    if re.match(rb'\{\s*"format"\s*:', head):
        raise ConfigurationError(f"failed to read {file}: it is a page's model already; `resolab page show` shows it")
    if head.startswith(b"{"):
        return Form.HAR
    raise ConfigurationError(f"failed to read {file}: it is neither a HAR, a CDP log nor a trial's file")
