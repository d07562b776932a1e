"""Reading HARs: packings, several pages, odd values, sizes, hosts; every loss has a name."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_har import SITE, at, document, entry, har

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings import import_page
from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.inference.redirects import NOT_JOINED
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Cors, Kind, Outcome, PageModel

ROOT = f"{SITE}/"
TEXT = json.dumps(har(document(), entry("/a.png", 50, parser=ROOT)))


def model(*entries: dict[str, Any], **log: Any) -> PageModel:
    return build(read_har(json.dumps(har(*entries, **log)).encode(), "made"), "made")


def losses(made: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in made.losses}


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        gzip.compress(TEXT.encode()),
        gzip.compress(b"\xef\xbb\xbf" + TEXT.encode()) + gzip.compress(b"\n"),
        f"onInputData({TEXT});\n".encode(),
        f"/* har */ window.har.load( {TEXT} )".encode(),
    ],
    ids=["plain", "byte order mark", "gzip", "gzip of two members", "JSONP", "JSONP with a comment"],
)
def test_a_file_is_read_however_it_is_packed(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.har").write_bytes(content)
    made = import_page(tmp_path / "a.har", "a")
    assert (len(made.resources), made.source.creator, made.source.recorded) == (2, "made 1", "2026-03")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"hello", "neither a HAR, a CDP log nor a trial's file"),
        (TEXT.encode()[:-40], "no HAR"),
        (gzip.compress(TEXT.encode())[:-9], "its gzip is cut off"),
        (b'{"log": 7}', "no HAR"),
        (b'{"log": {"entries": [{}, {"request": {"url": "https://a.example/"}}]}}', "2: requests without"),
        (b'{"log": {"entries": []}}', "there is none"),
        (b'{"log": ' + b"[" * 100_000, "no HAR"),
        (TEXT.encode().replace(b"www", b"\xff\xff\xff"), "no request of it can be used"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "a.har").write_bytes(content)
    if said.startswith("2:"):
        said = "requests without"
    with pytest.raises(ConfigurationError, match=said) as caught:
        import_page(tmp_path / "a.har", "a")
    assert "\n" not in str(caught.value)


def test_only_the_first_page_counts() -> None:
    second = {"id": "page_2", "title": "x", "startedDateTime": at(9_000), "pageTimings": {}}
    archive = har(document(), entry("/a.png", 50), entry("/b.png", 9_050, pageref="page_2"))
    archive["log"]["pages"].append(second)
    made = build(read_har(json.dumps(archive).encode(), "made"), "made")
    assert len(made.resources) == 2
    assert losses(made)["requests of further pages of the file"] == 1


@pytest.mark.parametrize("further", [[], ["page_3"]], ids=["one page named", "two pages named"])
def test_times_and_url_are_of_the_page_whose_entries_are_read(further: list[str]) -> None:
    """A page without entries may stand before it."""
    before = "https://before.example/"
    empty = {"id": "page_0", "title": before, "startedDateTime": at(-9_000), "pageTimings": {"onLoad": 9_400}}
    others = (entry("/b", 60, pageref=one) for one in further)
    archive = har(entry(before, -50, "document"), document(), *others)
    archive["log"]["pages"].insert(0, empty)
    recording = read_har(json.dumps(archive).encode(), "made")
    assert recording.url == ROOT
    made = build(recording, "made")
    assert (len(made.resources), made.load_ms, made.dom_content_loaded_ms) == (1, 900, 500)


def test_a_page_that_no_entry_names_tells_nothing_unless_it_is_the_only_one() -> None:
    archive = har(entry("/", 0, "document", pageref="page_9"))
    assert build(read_har(json.dumps(archive).encode(), "made"), "made").load_ms == 900
    archive["log"]["pages"].append({"id": "page_2"})
    assert build(read_har(json.dumps(archive).encode(), "made"), "made").load_ms is None


def test_what_is_no_request_of_a_network_is_left_out_by_name() -> None:
    made = model(
        document(),
        entry("data:image/png;base64,AAAA", 30),
        entry("wss://a.example/", 30, "websocket"),
        entry("/favicon.ico", 40),
        entry("/app.webmanifest", 40, "manifest"),
        entry("/a.png", 50, fromDiskCache=True, moved=0),
        entry("/a.png", 90, fromDiskCache=True, moved=0),
    )
    assert len(made.resources) == 2
    assert made.resources[1].wire_bytes == 1000, "a first visit would have fetched it"
    assert losses(made) | {
        "requests of other schemes than http and https (data:, blob:, ws:)": 2,
        "requests for favicon.ico": 1,
        "requests of type manifest": 1,
        "requests answered by a cache, taken for fetched": 1,
        "requests answered by what the same load had fetched": 1,
    } == losses(made)


@pytest.mark.parametrize("machine", ["UTC", "Asia/Kolkata", "America/New_York"])
@pytest.mark.parametrize(
    ("page", "first", "second"),
    [
        ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00.000", "2026-03-01T10:00:00.050"),
        ("2026-03-01T10:00:00.000", "2026-03-01T10:00:00.000+05:30", "2026-03-01T10:00:00.050+05:30"),
        ("2026-03-01T10:00:00.000", "2026-03-01T10:00:00.000", "2026-03-01T10:00:00.050"),
        ("2026-03-01t10:00:00.000z", "2026-03-01t10:00:00.000z", "2026-03-01T11:00:00.0500000+0100"),
        ("2026-03-31T23:59:59.950-05:00", "2026-03-31T23:59:59.950-05:00", "2026-04-01T00:00:00,000-05:00"),
    ],
    ids=["page has a zone", "requests have one", "nobody has", "small letters", "a month ends"],
)
def test_dates_do_not_depend_on_where_they_are_read(
    monkeypatch: pytest.MonkeyPatch, machine: str, page: str, first: str, second: str
) -> None:
    """HAR 1.2 wants a zone; RFC 3339 section 4.4: local time without one means nothing elsewhere."""
    monkeypatch.setenv("TZ", machine)
    time.tzset()
    try:
        archive = har(document(), entry("/a.png", 50))
        archive["log"]["pages"][0]["startedDateTime"] = page
        for one, began in zip(archive["log"]["entries"], (first, second), strict=True):
            one["startedDateTime"] = began
        made = build(read_har(json.dumps(archive).encode(), "made"), "made")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (made.load_ms, [one.start_ms for one in made.resources]) == (900, [0, 50])
    assert made.source.recorded == "2026-03"


def test_the_page_begins_with_its_own_request() -> None:
    made = model(entry("https://before.example/", -50, "xhr"), document())
    assert (len(made.resources), made.resources[0].kind) == (1, Kind.DOCUMENT)
    assert losses(made)["requests from before the page's own"] == 1
    assert made.load_ms == 900, "counted from it"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        # Content-Length is the body; bodySize has the head in it.
        (
            {"size": 5000, "moved": 1400, "answered": {"content-length": "1300", "content-encoding": "gzip"}},
            (1300, 5000),
        ),
        ({"size": 5000, "moved": 1400, "answered": {"content-encoding": "br"}}, (1400, 5000)),
        ({"size": 1000, "moved": 1120}, (1000, 1000)),
        ({"size": 1000, "moved": -1}, (1000, 1000)),
        ({"size": -1, "moved": -1}, (0, 0)),
        ({"size": -1, "moved": 700}, (700, 700)),
        # Cut off, or to a HEAD.
        ({"size": 300, "moved": 400, "answered": {"content-length": "90000"}}, (300, 300)),
    ],
)
def test_sizes_on_the_wire_and_without_coding(said: dict[str, Any], expected: tuple[int, int]) -> None:
    one = model(document(), entry("/a.js", 50, "script", **said)).resources[1]
    assert (one.wire_bytes, one.raw_bytes) == expected


def test_hosts_keep_groups_and_lose_names() -> None:
    made = model(
        document(connect=30, ssl=18, serverIPAddress="192.0.2.1"),
        entry("https://img.shop.example/a", 40, connect=25, ssl=10, serverIPAddress="192.0.2.1", version="h3"),
        entry("https://cdn.ads.co.uk/a", 40, version="spdy/3.1"),
        entry("https://x.ads.co.uk/a", 40, connect=0.01, ssl=0.01, version="us:"),
        entry("https://a.github.io/", 40),
        entry("https://b.github.io/", 40),
    )
    hosts = made.hosts
    assert [host.site for host in hosts] == [0, 0, 1, 1, 2, 3], "by the Public Suffix List"
    assert [host.address_group for host in hosts] == [0, 0, None, None, None, None]
    assert [host.round_trip_ms for host in hosts[:4]] == [12, 25, None, None]
    assert [host.protocols for host in hosts[:4]] == [("h2",), ("h3",), ("h2",), ()]
    assert made.resources[0].server_time_ms == 8, "without the round trip"
    assert made.resources[2].server_time_ms == 8, "without the page's own: no handshake tells this host's"
    assert "shop" not in str(made)
    assert losses(made)["HTTP versions"] == 1


@pytest.mark.parametrize(
    "heads",
    [
        {"Content-Length": "77", "x": 7},
        [{"name": "content-length", "value": "77"}, {"name": None}, "x: y", 7, {"name": "x", "value": 7}],
    ],
    ids=["object", "odd rows"],
)
def test_heads_may_be_an_object_or_have_odd_rows(heads: Any) -> None:
    asked = document()
    asked["response"]["headers"] = asked["request"]["headers"] = heads
    made = model(asked, entry("/a.css", 50, "stylesheet"))
    assert [one.kind for one in made.resources] == [Kind.DOCUMENT, Kind.STYLESHEET]
    assert made.resources[0].wire_bytes == 77


def counted(*entries: dict[str, Any]) -> list[int | None]:
    return [host.connection_count for host in model(*entries).hosts]


def test_a_connection_counts_once_for_the_name_it_was_opened_to() -> None:
    rows = [
        document(connection="5"),
        entry("https://waits.example/", 30, connection="7"),
        entry("https://opens.example/", 40, connection="7", connect=30),
        entry("https://opens.example/b", 40, connection="8"),
        entry("https://late.example/", 50, connection="5"),
        entry("https://none.example/", 50, connection="0"),
        entry("https://untold.example/", 50),
    ]
    assert counted(*rows) == [1, 0, 2, 0, None, None]


def test_ports_of_servers_tell_no_connections_apart() -> None:
    """Firefox and Firebug write them; Chromium's numbers may be the same by chance."""
    ports = [
        document(connection="443"),
        entry("http://a.example/", 30, connection="80"),
        entry("https://b.example:8443/", 40),
    ]
    assert counted(*ports, entry("https://b.example:8443/b", 50, connection="8443")) == [None, None, None]
    assert counted(*ports, entry("https://b.example:8443/b", 50, connection="444")) == [1, 1, 1]


def test_modes_and_preflights() -> None:
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    made = model(
        document(),
        entry("https://api.example/v", 30, "other", method="OPTIONS", asked=asked),
        entry("https://api.example/v", 60, "fetch", method="POST", asked={"Origin": SITE, "Cookie": "x"}),
        entry("/same", 60, "xhr", asked={"Accept": "*/*"}),
        entry("https://fonts.example/f", 60, "font"),
        entry("https://img.example/i", 60, "image", asked={"Sec-Fetch-Mode": "no-cors"}),
    )
    assert [one.cors for one in made.resources[1:]] == [
        Cors.CREDENTIALS, Cors.CREDENTIALS, Cors.ANONYMOUS, Cors.NO,
    ]  # fmt: skip
    assert [one.preflight for one in made.resources] == [False, True, False, False, False]


def test_a_preflight_without_its_request_is_told() -> None:
    asked = {"Origin": SITE, "Access-Control-Request-Method": "POST"}
    preflights = [entry("https://api.example/v", at, "other", method="OPTIONS", asked=asked) for at in (30, 40)]
    made = model(document(), *preflights, entry("https://api.example/v", 60, "fetch", method="POST"))
    assert (len(made.resources), losses(made)["preflights that no request followed"]) == (2, 1)


def test_a_redirect_to_no_url_is_told() -> None:
    made = model(document(), entry("/a", 30, status=302, to="https://["))
    assert losses(made)[NOT_JOINED] == 1


def test_what_ends_without_a_response_has_failed_and_repeats_are_known() -> None:
    made = model(document(), entry("/a", 30, status=0), entry("/b", 950), entry("/b", 990))
    assert [one.outcome for one in made.resources[:3]] == [Outcome.ANSWERED, Outcome.FAILED, Outcome.ANSWERED]
    assert [one.repeats for one in made.resources] == [None, None, None, 2]
    assert [one.after_load for one in made.resources] == [False, False, True, True]


VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=9)
JSON = st.recursive(
    VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_stands_in_a_field_is_a_result_or_a_named_error(data: st.DataObject) -> None:
    archive = json.loads(TEXT)
    holder: Any = archive
    while True:
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else list(range(len(holder)))))
        if not isinstance(holder[key], dict | list) or not holder[key] or data.draw(st.booleans()):
            break
        holder = holder[key]
    holder[key] = data.draw(JSON)
    try:
        made = build(read_har(json.dumps(archive).encode(), "made"), "made")
    except ConfigurationError:
        return
    assert made.resources
