"""Clones as folders: what each path is answered with, and what asks for it."""

import filecmp
import gzip
import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from resolab.pages.clone.body import GIF
from resolab.pages.clone.folder import MODEL_FILE, ProtocolSource, write_clone
from resolab.pages.clone.names import find_resource, host_name, make_url, parse_request_index
from resolab.pages.clone.roles import assign_roles
from resolab.pages.file import read_model
from resolab.pages.model import (
    Cors,
    Discovery,
    Evidence,
    Host,
    Kind,
    Outcome,
    PageModel,
    Resource,
    ScriptMode,
    Source,
)


def asked(kind: Kind, discovery: Discovery, parent: int | None, **more: Any) -> Resource:
    fields = {
        "host": 0, "evidence": Evidence.INITIATOR, "start_ms": 1.0, "wire_bytes": 3_000, "raw_bytes": 3_000,
    }  # fmt: skip
    return Resource(kind=kind, discovery=discovery, parent=parent, **(fields | more))


DOCUMENT, SHEET, SCRIPT = Discovery.DOCUMENT, Discovery.STYLESHEET, Discovery.SCRIPT
RESOURCES = (
    asked(Kind.DOCUMENT, Discovery.NAVIGATION, None, status=302, wire_bytes=0),  # 0
    asked(Kind.DOCUMENT, Discovery.REDIRECT, 0, frame=0, wire_bytes=9_000, raw_bytes=40_000),  # 1
    asked(Kind.STYLESHEET, DOCUMENT, 1, frame=1, place=0.1),  # 2
    asked(Kind.SCRIPT, DOCUMENT, 1, frame=1, place=0.2, script_mode=ScriptMode.ASYNC, host=1, run_ms=7.5),  # 3
    asked(Kind.IMAGE, DOCUMENT, 1, frame=1, place=0.7, host=1),  # 4
    asked(Kind.FONT, SHEET, 2, frame=1, host=1, cors=Cors.ANONYMOUS),  # 5
    asked(Kind.FETCH, SCRIPT, 3, frame=1, due_ms=120.0, method="POST", request_bytes=50, preflight=True, host=2,
          cors=Cors.CREDENTIALS, server_time_ms=33.5),
    asked(Kind.DOCUMENT, SCRIPT, 3, frame=1, due_ms=5.0, host=2),  # 7
    asked(Kind.IMAGE, Discovery.LATE, 7, frame=7, due_ms=60.0, host=2, after_load=True),  # 8
    asked(Kind.BEACON, SCRIPT, 3, frame=1, due_ms=900.0, method="POST", status=204, after_load=True, wire_bytes=0),  # 9
    asked(Kind.SCRIPT, DOCUMENT, 1, frame=1, place=0.9, status=404, host=1),  # 10
    asked(Kind.IMAGE, SCRIPT, 10, frame=1, due_ms=40.0, evidence=Evidence.INFERRED),  # 11, which no error asked for
    asked(Kind.XHR, SCRIPT, 3, frame=1, due_ms=10.0, outcome=Outcome.FAILED, status=0),  # 12
)  # fmt: skip
HOSTS = (
    Host(site=0, round_trip_ms=20.0, address_group=0),
    Host(site=0, round_trip_ms=32.5, address_group=0, certificate=4),
    Host(site=1),
)
MODEL = PageModel(name="The Shop_2", source=Source(form="har"), hosts=HOSTS, resources=RESOURCES, load_ms=500.0)


def text_of(folder: Path, place: int) -> str:
    return (folder / "hosts" / str(RESOURCES[place].host) / make_url(MODEL, place).rpartition("/")[2]).read_text()


def responses(folder: Path) -> dict[str, dict[str, Any]]:
    files = sorted((folder / "hosts").glob("*.toml"))
    return {one.pop("path"): one for file in files for one in tomllib.loads(file.read_text()).get("response", [])}


def test_names_keep_sites_together_and_apart_and_urls_lead_back() -> None:
    assert [host_name(MODEL, host) for host in range(3)] == [
        "h0.s0-the-shop-2.test", "h1.s0-the-shop-2.test", "h2.s1-the-shop-2.test",
    ]  # fmt: skip
    assert [parse_request_index(make_url(MODEL, place)) for place in range(len(RESOURCES))] == [*range(len(RESOURCES))]
    assert find_resource(MODEL, make_url(MODEL, 4) + "?x#y") is RESOURCES[4]
    assert find_resource(MODEL, make_url(MODEL, 4).replace("h1.", "h0.")) is None
    assert find_resource(MODEL, "https://h0.s0-the-shop-2.test/99.gif") is None


def test_what_cannot_run_leaves_its_requests_to_its_document() -> None:
    roles = assign_roles(MODEL)
    assert roles[0].redirect == 1
    assert roles[1].markup == [2, 3, 4, 10]
    assert roles[1].runs == [11], "the script of 404 asks for nothing"
    assert (roles[2].styles, roles[1].slots) == ([5], [5])
    assert roles[3].runs == [7, 12, 6, 9], "in the order of their time"
    assert roles[7].runs == [8]


def test_the_folder_says_hosts_distances_and_how_many_requests_a_whole_load_has(tmp_path: Path) -> None:
    written = write_clone(MODEL, tmp_path / "shop", seed=1)
    page = tomllib.loads((tmp_path / "shop" / "page.toml").read_text())
    assert (page["host"], page["path"]) == ("h0.s0-the-shop-2.test", "/0.html")
    assert page["request_count"] == 9, "two come after the load event, two are fetched by scripts"
    assert list(page["hosts"]) == ["h1.s0-the-shop-2.test", "h2.s1-the-shop-2.test"]
    assert page["serving"]["h1.s0-the-shop-2.test"] == {
        "settings": "hosts/1.toml", "address_group": 0, "certificate": 4, "extra_rtt_ms": 12.5,
    }  # fmt: skip
    assert page["serving"]["h2.s1-the-shop-2.test"]["not_awaited"] == ["/6.json", "/8.gif"]
    assert read_model(tmp_path / "shop" / MODEL_FILE) == MODEL
    assert written.requests_count == len(RESOURCES)
    assert written.wire_bytes == written.model_bytes


@pytest.mark.parametrize("words", ["😀 ä", '"quoted" \\ \n[hosts]\t', "\x00\x1b\x7f ]]>", "x" * 10_000])
def test_a_recording_s_maker_may_have_any_name(tmp_path: Path, words: str) -> None:
    source = Source(form="har", creator=words)
    write_clone(msgspec.structs.replace(MODEL, source=source, name=words), tmp_path / "shop", seed=1)
    page = tomllib.loads((tmp_path / "shop" / "page.toml").read_text("utf-8"))
    assert (page["source"], page["description"]) == (f"har, {words}", f"a clone of the page model {words}")
    assert set(page["serving"]) == {page["host"], *page["hosts"]}


def test_each_path_is_answered_as_the_page_was(tmp_path: Path) -> None:
    write_clone(MODEL, tmp_path / "shop", seed=1)
    said = responses(tmp_path / "shop")
    assert said["/0.html"] == {"status": 302, "location": make_url(MODEL, 1)}
    assert said["/6.json"] == {"server_time_ms": 33.5}
    assert said["/9.txt"] == {"status": 204}
    assert "/10.js" not in said, "a parser's script is no error: Firefox would ask again"
    assert said["/12.json"] == {"outcome": "reset"}
    assert "/4.gif" not in said
    coded = (tmp_path / "shop/hosts/0/1.html.gz").read_bytes()
    assert (len(coded), len(gzip.decompress(coded))) == (9_000, 40_000)
    assert not (tmp_path / "shop/hosts/1/9.txt").exists()


def test_markup_stands_at_its_share_of_the_document(tmp_path: Path) -> None:
    write_clone(MODEL, tmp_path / "shop", seed=1)
    document = text_of(tmp_path / "shop", 1)
    shares = {place: document.index(f"/{place}.") / len(document) for place in (2, 3, 4, 10)}
    assert all(abs(shares[place] - (RESOURCES[place].place or 0)) < 0.02 for place in shares), shares
    assert f"<script src={make_url(MODEL, 3)} async></script>" in document
    assert "<i id=s5>x</i>" in document, "a font is fetched when a letter is to be shown"
    sheet = text_of(tmp_path / "shop", 2)
    assert f"@font-face{{font-family:f5;src:url({make_url(MODEL, 5)})}}#s5{{font-family:f5}}" in sheet


def test_scripts_compute_and_ask_with_method_body_and_mode(tmp_path: Path) -> None:
    write_clone(MODEL, tmp_path / "shop", seed=1)
    script = text_of(tmp_path / "shop", 3)
    assert "performance.now()+7.5" in script
    assert f'[120,1,"h","{make_url(MODEL, 6)}","include","POST",50,1]' in script
    assert f'[5,1,"f","{make_url(MODEL, 7)}"]' in script
    assert f'[900,2,"b","{make_url(MODEL, 9)}",0]' in script, "after the load event"
    frame = text_of(tmp_path / "shop", 7)
    assert f'[60,2,"i","{make_url(MODEL, 8)}",""]' in frame
    assert "responseStart" in frame, "what a document asks for late counts from its first byte"


def test_a_document_asks_for_what_a_bodiless_script_asked_for_when_that_one_did(tmp_path: Path) -> None:
    """Due 5 ms since a script ran is no instant of the document's: the script was there 600 ms after its first byte."""
    page = (
        asked(Kind.DOCUMENT, Discovery.NAVIGATION, None, start_ms=0.0, first_byte_ms=40.0),
        asked(Kind.SCRIPT, DOCUMENT, 0, status=204, start_ms=50.0, first_byte_ms=640.0, script_mode=ScriptMode.ASYNC),
        asked(Kind.FETCH, SCRIPT, 1, start_ms=645.0, first_byte_ms=700.0, due_ms=5.0),
        asked(Kind.FETCH, Discovery.INLINE_SCRIPT, 0, start_ms=47.0, first_byte_ms=90.0, due_ms=7.0),
    )
    model = msgspec.structs.replace(MODEL, resources=page)
    write_clone(model, tmp_path / "shop", seed=1)
    (root,) = (tmp_path / "shop" / "hosts" / "0").glob("0.html")
    calls = re.findall(r'\[([0-9.]+),1,"h","[^"]*/([0-9]+)\.json"', root.read_text())
    assert calls == [("7", "3"), ("605", "2")]


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_clone(MODEL, tmp_path / name, seed=seed)
    files = [file.relative_to(tmp_path / "a") for file in (tmp_path / "a").rglob("*") if file.is_file()]
    _, differ, missing = filecmp.cmpfiles(tmp_path / "a", tmp_path / "b", [str(file) for file in files], shallow=False)
    assert (differ, missing) == ([], [])
    _, differ, _ = filecmp.cmpfiles(tmp_path / "a", tmp_path / "c", [str(file) for file in files], shallow=False)
    assert "hosts/0/1.html" in differ


def test_a_model_that_was_named_otherwise_is_another_page() -> None:
    other = msgspec.structs.replace(MODEL, name="other")
    assert {host_name(other, host) for host in range(3)}.isdisjoint(host_name(MODEL, host) for host in range(3))


def page_of(*resources: Resource) -> PageModel:
    document = asked(Kind.DOCUMENT, Discovery.NAVIGATION, None)
    return PageModel(name="p", source=Source(form="har"), hosts=(Host(site=0),), resources=(document, *resources))


def test_a_text_that_one_script_fetched_and_ran_asks_under_its_own_name(tmp_path: Path) -> None:
    model = page_of(
        asked(Kind.SCRIPT, DOCUMENT, 0),
        asked(Kind.XHR, SCRIPT, 1, due_ms=1.0),
        asked(Kind.IMAGE, SCRIPT, 2, due_ms=4.0),
    )
    write_clone(model, tmp_path / "p", seed=1)
    files = tmp_path / "p" / "hosts" / "0"
    assert f'[1,1,"x","{make_url(model, 2)}","include","GET",0,0,1]' in (files / "1.js").read_text()
    assert "sourceURL='+u" in (files / "1.js").read_text()
    assert f'[4,1,"i","{make_url(model, 3)}",""]' in (files / "2.json").read_text()


def test_what_a_preload_fetched_is_run_by_nobody(tmp_path: Path) -> None:
    model = page_of(asked(Kind.FETCH, DOCUMENT, 0), asked(Kind.IMAGE, SCRIPT, 1, due_ms=4.0))
    assert assign_roles(model)[0].runs == [2], "so its document asks in its place"


def test_a_style_sheet_asks_for_a_picture_whatever_the_answer_was() -> None:
    model = page_of(asked(Kind.STYLESHEET, DOCUMENT, 0), asked(Kind.DOCUMENT, SHEET, 1, status=404))
    assert (assign_roles(model)[1].styles, assign_roles(model)[0].slots) == ([2], [2])


def test_a_script_that_was_seen_to_ask_is_no_error(tmp_path: Path) -> None:
    model = page_of(asked(Kind.SCRIPT, DOCUMENT, 0, status=500), asked(Kind.IMAGE, SCRIPT, 1, due_ms=4.0))
    write_clone(model, tmp_path / "p", seed=1)
    assert assign_roles(model)[1].runs == [2]
    assert "status" not in responses(tmp_path / "p").get("/1.js", {})


def test_what_firefox_asks_for_twice_is_answered_otherwise(tmp_path: Path) -> None:
    """Pictures that are none, scripts of errors, redirects that lead nowhere, when its parser found them."""
    model = page_of(
        asked(Kind.IMAGE, DOCUMENT, 0, status=302),
        asked(Kind.IMAGE, DOCUMENT, 0, status=204, wire_bytes=0),
        asked(Kind.IMAGE, DOCUMENT, 0, wire_bytes=0),
        asked(Kind.SCRIPT, DOCUMENT, 0, status=401),
        asked(Kind.IMAGE, Discovery.LATE, 0, status=401),
        asked(Kind.IMAGE, Discovery.LATE, 0, status=204, wire_bytes=0),
    )
    write_clone(model, tmp_path / "p", seed=1)
    assert responses(tmp_path / "p") == {"/5.gif": {"status": 403}, "/6.gif": {"status": 204}}
    files = tmp_path / "p" / "hosts" / "0"
    assert [(files / f"{place}.gif").stat().st_size for place in (1, 2, 3)] == [3_000, len(GIF), len(GIF)]


def test_hosts_speak_what_a_plan_says_or_nothing_newer_than_was_recorded(tmp_path: Path) -> None:
    spoken = (("h1",), ("h2", "h3"), ())
    hosts = tuple(msgspec.structs.replace(host, protocols=one) for host, one in zip(HOSTS, spoken, strict=True))
    model = msgspec.structs.replace(MODEL, hosts=hosts)
    for protocols, expected in (
        (ProtocolSource.PLAN, (None, None, None)),
        (ProtocolSource.RECORDED, (["h1"], None, None)),
    ):
        folder = tmp_path / protocols
        folder.mkdir()
        write_clone(model, folder, seed=1, protocols=protocols)
        settings = [tomllib.loads((folder / "hosts" / f"{host}.toml").read_text()) for host in range(3)]
        assert tuple(one.get("protocols") for one in settings) == expected
    older = msgspec.structs.replace(
        model, hosts=(hosts[0], msgspec.structs.replace(hosts[1], protocols=("h2",)), hosts[2])
    )
    (tmp_path / "older").mkdir()
    write_clone(older, tmp_path / "older", seed=1, protocols=ProtocolSource.RECORDED)
    assert tomllib.loads((tmp_path / "older/hosts/1.toml").read_text())["protocols"] == ["h1", "h2"]
