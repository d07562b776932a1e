"""Files as they come: packings, encodings, pipes, other programs' files, and text that a strict reader refuses whole."""

import gzip
import io
import json
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_har import SITE, document, entry, har
from test_cdp_log import LOAD

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings import import_page, recording_file
from resolab.extras.recordings.json_text import JSON_ERRORS, decode_json, mend
from resolab.pages.model import PageModel

TEXT = json.dumps(har(document(), entry("/a.png", 50, parser=f"{SITE}/")))


def read(folder: Path, content: bytes, name: str = "a.har") -> PageModel:
    (folder / name).write_bytes(content)
    return import_page(folder / name, "a")


def zipped() -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("har.har", TEXT)
    return packed.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(json.loads(TEXT)["log"]).encode(),
        TEXT.encode("utf-16"),
        TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        gzip.compress(TEXT.encode("utf-16")),
        b"".join(gzip.compress(piece.encode()) for piece in (TEXT[:9], TEXT[9:500], TEXT[500:])),
        gzip.compress(TEXT.encode()) + bytes(512),
    ],
    ids=["no wrapper", "UTF-16", "without mark", "big-endian", "gzip", "three members", "padded"],
)
def test_a_har_is_read_however_it_is_written(tmp_path: Path, content: bytes) -> None:
    assert len(read(tmp_path, content).resources) == 2


@pytest.mark.parametrize(
    "lines",
    [
        json.dumps([{"level": "INFO", "message": json.dumps({"message": one, "webview": "W"})} for one in LOAD]),
        "\n".join(json.dumps({"level": "INFO", "message": json.dumps({"message": one})}) for one in LOAD),
        "\n".join(json.dumps({"sessionId": "S", **one}) for one in LOAD),
        "\n  " + json.dumps(LOAD),
    ],
    ids=["chromedriver", "chromedriver, lines", "session first", "white space first"],
)
def test_a_log_is_read_out_of_what_wraps_it(tmp_path: Path, lines: str) -> None:
    made = read(tmp_path, lines.encode())
    assert (len(made.resources), made.load_ms) == (4, 950)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped(), "it is a zip: unpack it"),
        (b"\x28\xb5\x2f\xfd" + bytes(9), "it is packed by Zstandard"),
        (b"BZh91AY", "it is packed by bzip2"),
        (b"\xfd7zXZ\x00\x00", "it is packed by xz"),
        (gzip.compress(zipped()), "it is a zip"),
        (json.dumps({"constants": {}, "events": []}).encode(), "beside its recording, with --netlog"),
        (json.dumps({"traceEvents": []}).encode(), "it is a trace of Chromium"),
        (json.dumps([{"ph": "X", "pid": 1, "ts": 2}]).encode(), "it is a trace of Chromium"),
        (json.dumps({"data": {"runs": {}}, "statusCode": 200}).encode(), "it is a result of WebPageTest: give its HAR"),
        (b'{"version": "1.2"}', "no HAR: it has no `log`"),
        (b'{"format": "1.0"}', "name it NAME.page.json"),
        (gzip.compress(TEXT.encode()) + b"\x1f\x8b\x08", "its gzip is cut off"),
        (gzip.compress(TEXT.encode())[:30] + b"\xff" * 99, "its gzip is damaged"),
    ],
)
def test_another_programs_file_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        read(tmp_path, content)
    assert str(tmp_path / "a.har") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_brotli_is_known_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="it is packed by Brotli"):
        read(tmp_path, b"\x1b\x0b\x00\x80", "a.har.br")
    assert len(read(tmp_path, TEXT.encode(), "b.har.br").resources) == 2, "a server took it off, the name stayed"


@pytest.mark.parametrize("members", [1, 2, 40])
def test_no_file_unpacks_to_more_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, members: int) -> None:
    """Each member of a gzip counts, not its first alone."""
    monkeypatch.setattr(recording_file, "_LIMIT_BYTES", 1 << 20)
    member = gzip.compress(bytes((2 << 20) // members))
    with pytest.raises(ConfigurationError, match="it unpacks to more than"):
        read(tmp_path, member * members)


def test_many_small_members_take_no_longer_than_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.har").write_bytes(b"".join(gzip.compress(bytes([one])) for one in TEXT.encode() * 40))
    with pytest.raises(ConfigurationError, match="no HAR"):
        import_page(tmp_path / "a.har", "a")


def test_a_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[gzip.compress(TEXT.encode())])
    writer.start()
    try:
        assert len(import_page(pipe, "a").resources) == 2
    finally:
        writer.join()


def with_body(text: str) -> bytes:
    """Write a HAR whose document has this, as it stands, for its body and its page's title."""
    made = har(document(), entry("/a.png", 50))
    made["log"]["entries"][0]["response"]["content"]["text"] = made["log"]["pages"][0]["title"] = "@"
    return json.dumps(made, indent=1).replace('"@"', f'"{text}"').encode()


@pytest.mark.parametrize(
    "body",
    [
        r"\ud83d", r"cut off \uD83D", r"\ude00\ud83d", r"\\\ud83d", r"\\ud83d \udc00", r"\ud83d\ud83d\ude00", r"\ud83dx",
        r"\v\x41\'", "\x00\x01\t\n\x1f", r"\ud83d\n",
    ],
)  # fmt: skip
def test_text_that_a_strict_reader_refuses_loses_nothing(tmp_path: Path, body: str) -> None:
    """RFC 8259 section 7 permits escapes of lone surrogates, and browsers write them of bodies cut off in an emoji."""
    assert len(read(tmp_path, with_body(body)).resources) == 2


def test_a_log_with_lone_surrogates_is_read(tmp_path: Path) -> None:
    odd = {"method": "Network.dataReceived", "params": {"data": "@"}}
    for text in (json.dumps([odd, *LOAD]), "\n".join(json.dumps(one) for one in (odd, *LOAD))):
        assert len(read(tmp_path, text.replace("@", r"\ud83d").encode()).resources) == 4


PIECES = st.sampled_from(
    ["\\", "\\\\", "\\u", "\\ud83d", "\\uDE00", "\\udc00", "\\n", '\\"', "\\v", "d83d", "a", "é", "😀", "\\u00e9"]
)


@settings(max_examples=400, deadline=None)
@given(st.lists(PIECES, max_size=9))
def test_what_is_mended_keeps_its_length_and_what_was_right(pieces: list[str]) -> None:
    text = f'"{"".join(pieces)}"'
    content = text.encode()
    mended = mend(content)
    assert mended is None or len(mended) == len(content)
    try:
        expected = json.loads(text)
    except ValueError:
        return
    try:
        found: Any = decode_json(content, object)
    except JSON_ERRORS as error:
        raise AssertionError(text) from error
    assert found == expected.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
