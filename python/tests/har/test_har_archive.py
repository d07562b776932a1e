"""Archives, read back by a reader that is not ours."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from haralyzer import HarEntry, HarParser

from resolab.basics.records import EdgeRequestRecord, PageFailure, PageLoadRecord, Record, ResourceRecord
from resolab.cli.main import main
from resolab.store.har import archive

sys.path.insert(0, str(Path(__file__).parent))
from recorded_trial import START_UNIX_MS, page_load, records, trial
from synthetic_dataset import make_dataset

TEXT, NUMBER = (str,), (int, float)
# What HAR 1.2 asks for: name -> types of the value. Written down from the format's description.
SHAPES: dict[str, dict[str, tuple[type, ...]]] = {
    "log": {"version": TEXT, "creator": (dict,), "entries": (list,)},
    "creator": {"name": TEXT, "version": TEXT},
    "page": {"startedDateTime": TEXT, "id": TEXT, "title": TEXT, "pageTimings": (dict,)},
    "entry": {
        "pageref": TEXT, "startedDateTime": TEXT, "time": NUMBER, "request": (dict,), "response": (dict,),
        "cache": (dict,), "timings": (dict,),
    },
    "request": {
        "method": TEXT, "url": TEXT, "httpVersion": TEXT, "cookies": (list,), "headers": (list,),
        "queryString": (list,), "headersSize": (int,), "bodySize": (int,),
    },
    "response": {
        "status": (int,), "statusText": TEXT, "httpVersion": TEXT, "cookies": (list,), "headers": (list,),
        "content": (dict,), "redirectURL": TEXT, "headersSize": (int,), "bodySize": (int,),
    },
    "content": {"size": (int,), "mimeType": TEXT},
    "timings": {"send": NUMBER, "wait": NUMBER, "receive": NUMBER},
}  # fmt: skip
OPTIONAL = {
    "log": {"browser", "pages", "comment"},
    "entry": {"serverIPAddress", "connection", "comment"},
    "content": {"compression", "text", "encoding", "comment"},
    "timings": {"blocked", "dns", "connect", "ssl", "comment"},
}


def check(kind: str, value: dict[str, Any]) -> None:
    for name, types in SHAPES[kind].items():
        assert isinstance(value[name], types), (kind, name)
    others = {name for name in value if not name.startswith("_")} - SHAPES[kind].keys()
    assert others <= OPTIONAL.get(kind, set()), (kind, others)


def check_har(har: dict[str, Any]) -> None:
    log = har["log"]
    check("log", log)
    check("creator", log["creator"])
    for page in log["pages"]:
        check("page", page)
        assert datetime.fromisoformat(page["startedDateTime"]).tzinfo is not None
        assert set(page["pageTimings"]) == {"onContentLoad", "onLoad"}
    for entry in log["entries"]:
        check("entry", entry)
        for kind in ("request", "response", "timings"):
            check(kind, entry[kind])
        check("content", entry["response"]["content"])
        phases = {name: value for name, value in entry["timings"].items() if name != "ssl" and value >= 0}
        assert entry["time"] == pytest.approx(sum(phases.values()))
        assert entry["pageref"] in {page["id"] for page in log["pages"]}


def of(some: list[Record]) -> dict[str, Any]:
    """The archive as a reader of its text has it."""
    har: dict[str, Any] = json.loads(json.dumps(archive(some)))
    check_har(har)
    return har


def test_a_foreign_reader_finds_the_page_its_requests_and_their_times() -> None:
    (page,) = HarParser(of(records())).pages
    assert (page.page_id, page.title, page.url) == ("b000-t000", *["https://wikipedia.resolab.test/"] * 2)
    assert page.pageTimings == {"onContentLoad": 440.4, "onLoad": 463.6}
    assert [entry.url.rpartition("/")[2] for entry in page.entries] == ["", "logo.png", "index.js?v=1&w="]
    assert [entry.status for entry in page.entries] == [200, 200, 200]
    assert [entry.time for entry in page.entries] == pytest.approx([307.8, 227.6, 125.5])
    assert [len(found) for found in (page.html_files, page.image_files, page.js_files)] == [1, 1, 1]
    assert page.page_size == 18_252 + 15_857 + 200
    assert page.get_load_time(request_type="GET") == pytest.approx(434.5, abs=2)
    document: HarEntry = page.entries[0]
    assert document.startTime.timestamp() == pytest.approx(START_UNIX_MS / 1e3, abs=0.001)
    assert (document.serverAddress, document.request.method, document.request.httpVersion) == ("10.77.1.2", "GET", "h3")
    assert page.entries[2].request.queryString == [{"name": "v", "value": "1"}, {"name": "w", "value": ""}]


@pytest.mark.parametrize("lost", ["timings", "time", "response"])
def test_the_foreign_reader_would_miss_what_is_not_there(lost: str) -> None:
    har = archive(records())
    for entry in har["log"]["entries"]:
        del entry[lost]
    with pytest.raises(Exception, match=lost):
        _read_all(har)


def _read_all(har: dict[str, Any]) -> list[object]:
    return [(entry.time, entry.timings, entry.status) for entry in HarParser(har).pages[0].entries]


def test_early_data_and_what_the_edge_saw_are_told_and_the_warm_up_is_not_mixed_in() -> None:
    entries = of(records())["log"]["entries"]
    document = entries[0]
    assert document["timings"] == {
        "blocked": 2.7, "dns": 92.9, "connect": 1.3, "ssl": 1.3, "send": 0, "wait": 93.7, "receive": 117.2
    }  # fmt: skip
    assert [entry["connection"] for entry in entries] == ["4", "4", "4"]
    assert [entry["_resolab"]["edge_request"]["in_early_data"] for entry in entries] == [True, False, False]
    assert document["_resolab"]["resource"]["connect_end_ms"] == 190.2
    assert [entry["timings"]["connect"] for entry in entries[1:]] == [-1, -1]


def test_sizes_with_and_without_content_coding() -> None:
    responses = [entry["response"] for entry in of(records())["log"]["entries"]]
    assert [(r["bodySize"], r["content"]["size"], r["content"].get("compression")) for r in responses] == [
        (18_252, 18_252, None), (15_857, 15_857, None), (200, 614, 414)
    ]  # fmt: skip
    assert [r["_transferSize"] for r in responses] == [18_552, 16_157, 500]
    assert [r["content"]["mimeType"].partition(";")[0] for r in responses] == [
        "text/html", "image/png", "text/javascript"
    ]  # fmt: skip


def test_the_browsers_media_type_goes_before_a_guess() -> None:
    told = [
        msgspec.structs.replace(record, content_type="text/x-told") if isinstance(record, ResourceRecord) else record
        for record in records()
    ]
    responses = [entry["response"] for entry in of(told)["log"]["entries"]]
    assert {r["content"]["mimeType"] for r in responses} == {"text/x-told"}


def test_conditions_and_outcome_stand_with_the_page() -> None:
    ours = of(records())["log"]["pages"][0]["_resolab"]
    assert ours["trial"]["condition"] == "wikipedia.4g.doudp.h3.zero_rtt"
    assert ours["page_load"]["handshake_mode"] == "zero_rtt"
    assert ours["flags"] == ["lateness_exceeded"]
    assert len(ours["edge_queries"]) == 1


def test_a_failed_load_is_one_request_without_answer_from_the_trial_s_start() -> None:
    har = of([trial(), page_load(failure=PageFailure.DNS)])
    (page,) = HarParser(har).pages
    assert page.pageTimings == {"onContentLoad": -1, "onLoad": -1}
    (entry,) = page.entries
    assert (entry.status, entry.time) == (0, 0)
    assert har["log"]["pages"][0]["_resolab"]["started_from"] == "trial"
    assert har["log"]["pages"][0]["startedDateTime"] == "2026-11-21T22:02:42.000Z"
    assert "connection" not in har["log"]["entries"][0]


def test_without_the_edge_s_records_only_what_it_knows_is_missing() -> None:
    har = of([one for one in records() if not isinstance(one, EdgeRequestRecord)])
    assert all("serverIPAddress" not in entry for entry in har["log"]["entries"])
    assert [entry["response"]["bodySize"] for entry in har["log"]["entries"]] == [18_252, 15_857, 200]


def test_a_trial_without_a_measured_load_is_an_archive_without_pages() -> None:
    har = of([one for one in records() if not isinstance(one, PageLoadRecord | ResourceRecord)])
    assert (har["log"]["pages"], har["log"]["entries"]) == ([], [])


def test_the_command_writes_one_trial_or_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dataset = make_dataset(tmp_path / "dataset")
    assert main(["har", str(dataset), "b000-t001"]) == 0
    check_har(json.loads(capsys.readouterr().out))
    assert main(["har", str(dataset), "b000-t001", "-o", str(tmp_path / "one" / "a.har")]) == 0
    check_har(json.loads((tmp_path / "one" / "a.har").read_text()))
    assert main(["har", str(dataset)]) == 0
    files = sorted((dataset / "har").glob("*.har"))
    assert [file.stem for file in files] == [file.stem for file in sorted((dataset / "trials").glob("*.jsonl"))]
    check_har(json.loads(files[0].read_text()))
    assert main(["har", str(dataset), "b999-t000"]) == 3
    error = capsys.readouterr().err
    assert "no such finished trial" in error
    assert error.count("\n") == 1
