"""Who discovered a request: what recorders say, what is believed of it, what is guessed where they say nothing."""

import json
from typing import Any

import pytest
from made_har import SITE, document, entry, har

from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.model_builder import build
from resolab.extras.recordings.values import read_host
from resolab.pages.model import Discovery, Evidence, PageModel, ScriptMode

ROOT = f"{SITE}/"


def model(*entries: dict[str, Any], **log: Any) -> PageModel:
    return build(read_har(json.dumps(har(*entries, **log)).encode(), "made"), "made")


def last(*entries: dict[str, Any], **log: Any) -> tuple[Any, ...]:
    one = model(document(), *entries, **log).resources[-1]
    return one.parent, one.discovery, one.evidence


def test_markup_style_sheets_and_scripts_are_named_by_their_urls() -> None:
    sheet = entry("/a.css", 30, "stylesheet", parser=ROOT, line=3)
    script = entry("/a.js", 35, "script", parser=ROOT, line=4)
    assert last(sheet) == (0, Discovery.DOCUMENT, Evidence.INITIATOR)
    assert last(sheet, entry("/bg.png", 80, parser=f"{SITE}/a.css")) == (1, Discovery.STYLESHEET, Evidence.INITIATOR)
    by_script = entry("/x.json", 90, "fetch", script=[f"{SITE}/a.js", ROOT])
    assert last(sheet, script, by_script) == (2, Discovery.SCRIPT, Evidence.INITIATOR)
    inline = entry("/x.json", 90, "fetch", script=[ROOT])
    assert last(inline) == (0, Discovery.INLINE_SCRIPT, Evidence.INITIATOR)


def test_a_stack_goes_on_through_timers_and_promises() -> None:
    script = entry("/a.js", 35, "script", parser=ROOT, line=4)
    detail = {
        "type": "script",
        "stack": {"callFrames": [], "parent": {"callFrames": [{"url": f"{SITE}/a.js"}], "description": "setTimeout"}},
    }
    made = model(document(), script, entry("/p.png", 700, detail=detail))
    assert made.resources[-1].parent == 1
    assert made.source.async_stacks


def test_the_parser_is_not_believed_for_images_it_could_not_have_asked_for() -> None:
    late = (0, Discovery.LATE, Evidence.INFERRED)
    markup = (0, Discovery.DOCUMENT, Evidence.INITIATOR)
    # All of the document is there at 120 ms, DOMContentLoaded is at 500 ms.
    assert last(entry("/a.png", 175, parser=ROOT, line=0)) == markup
    assert last(entry("/a.png", 185, parser=ROOT, line=0)) == late
    assert last(entry("/a.png", 490, parser=ROOT, line=9)) == markup
    assert last(entry("/a.png", 510, parser=ROOT, line=9)) == late
    passed = entry("/a.js", 60, "script", parser=ROOT, line=20)
    assert last(passed, entry("/a.png", 70, parser=ROOT, line=19)) == late
    assert last(passed, entry("/a.png", 70, parser=ROOT, line=20)) == markup
    # WebPageTest's lines say nothing of order.
    told = entry("/a.png", 700, _initiator=ROOT, _initiator_line="1")
    assert last(told) == markup


def test_a_script_the_parser_is_named_for_long_after_the_document_was_inserted() -> None:
    assert last(entry("/a.js", 600, "script", parser=ROOT, line=4))[1] is Discovery.DOCUMENT
    assert last(entry("/a.js", 630, "script", parser=ROOT, line=4))[1] is Discovery.LATE


def test_redirects_are_joined_by_id_then_by_url() -> None:
    first = entry("/go", 30, "document", status=302, to="https://ads.example/x", parser=ROOT, _requestId="7r")
    other = entry("https://ads.example/x", 40, "document", _requestId="9", parser=ROOT)
    target = entry("https://ads.example/x", 60, "document", _requestId="7")
    made = model(document(), first, other, target).resources
    assert (made[3].parent, made[3].discovery, made[3].evidence) == (1, Discovery.REDIRECT, Evidence.REDIRECT)
    assert made[2].discovery is Discovery.DOCUMENT
    without_ids = entry("/go", 30, status=302, to="https://ads.example/x?id=5", parser=ROOT)
    assert last(without_ids, entry("https://ads.example/x?id=scrubbed", 60)) == (
        1, Discovery.REDIRECT, Evidence.REDIRECT,
    )  # fmt: skip
    much_later = entry("https://ads.example/x", 6_000)
    assert last(without_ids, much_later)[1] is not Discovery.REDIRECT


def test_a_chain_is_cut_where_browsers_stop() -> None:
    hops = [
        entry(f"https://h{n}.example/", 30 + 30 * n, status=302, to=f"https://h{n + 1}.example/", receive=0)
        for n in range(25)
    ]
    made = model(document(), *hops)
    chain = [one for one in made.resources if one.discovery is Discovery.REDIRECT]
    assert len(chain) == 23, "one hop begins anew after the first twenty"
    assert any("of a chain that browsers follow" in loss.what for loss in made.losses)


def test_the_page_may_begin_with_redirects_and_its_parts_belong_to_where_they_lead() -> None:
    first = entry("http://shop.example/", 0, "document", status=301, to=ROOT, receive=0)
    made = model(first, document(25), entry("/a.css", 60, "stylesheet", parser=ROOT), pages=[])
    assert [(one.parent, one.frame) for one in made.resources] == [(None, 0), (0, 0), (1, 1)]


def test_without_initiators_referer_and_type_speak() -> None:
    sheet = entry("/a.css", 40, "stylesheet", asked={"Referer": ROOT})
    assert last(sheet) == (0, Discovery.DOCUMENT, Evidence.REFERER)
    font = entry("/a.woff2", 90, "font", asked={"Referer": f"{SITE}/a.css"})
    assert last(sheet, font) == (1, Discovery.STYLESHEET, Evidence.REFERER)
    assert last(sheet, entry("/a.woff2", 90, "font")) == (1, Discovery.STYLESHEET, Evidence.INFERRED)
    script = entry("https://ads.example/tag.js", 40, "script")
    home = entry("https://img.ads.example/p.gif", 900)
    assert last(script, home) == (1, Discovery.SCRIPT, Evidence.INFERRED)
    assert last(script, entry("https://other.example/p.gif", 900)) == (0, Discovery.LATE, Evidence.INFERRED)
    too_early = entry("https://ads.example/p.json", 60, "xhr")
    assert last(script, too_early) == (0, Discovery.LATE, Evidence.INFERRED)


def test_parts_of_a_frame_belong_to_it() -> None:
    frame = entry("https://ads.example/frame", 50, "document", parser=ROOT, line=9)
    inside = entry("https://ads.example/x.png", 100, asked={"Referer": "https://ads.example/frame"})
    made = model(document(), frame, inside).resources
    assert (made[1].frame, made[2].parent, made[2].frame) == (0, 1, 1)


def test_scripts_hold_their_parser_up_by_priority() -> None:
    def mode(*more: dict[str, Any], **said: Any) -> ScriptMode | None:
        return model(document(), entry("/a.js", 30, "script", parser=ROOT, **said), *more).resources[1].script_mode

    assert mode(_initialPriority="High") is ScriptMode.SYNC
    assert mode() is ScriptMode.SYNC
    assert mode(_initialPriority="Low") is ScriptMode.ASYNC
    child = entry("/x.json", 520, "fetch", script=[f"{SITE}/a.js"])
    assert mode(child, _initialPriority="Low") is ScriptMode.DEFER
    assert mode(entry("/x.json", 400, "fetch", script=[f"{SITE}/a.js"]), _initialPriority="Low") is ScriptMode.ASYNC


def test_requests_are_due_since_their_script_could_run() -> None:
    first = entry("/a.js", 30, "script", wait=20, receive=200, parser=ROOT, _initialPriority="High")
    second = entry("/b.js", 30, "script", wait=20, receive=10, parser=ROOT, _initialPriority="High")
    by_second = entry("/x.json", 300, "fetch", script=[f"{SITE}/b.js"])
    made = model(document(), first, second, by_second).resources
    assert made[3].due_ms == 50, "the second script ran after the first, which was there at 250 ms"
    at_once = entry("/x.json", 200, "fetch", script=[f"{SITE}/b.js"])
    assert model(document(), first, second, at_once).resources[3].due_ms == 0, "it did not run after what it did"
    inline = entry("/x.json", 90, "fetch", script=[ROOT])
    assert model(document(), inline).resources[1].due_ms == 70, "since the document's first byte"


def test_markup_stands_where_the_document_had_come_to() -> None:
    rows = [entry(f"/{start}.png", start, parser=ROOT, line=start) for start in (10, 45, 120, 150)]
    assert [one.place for one in model(document(), *rows).resources] == [None, 0.0, 0.25, 1.0, 1.0]


def test_large_recordings_are_judged_without_a_look_at_all_that_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(url: str) -> str | None:
        nonlocal looked_at
        looked_at += 1
        return read_host(url)

    monkeypatch.setattr("resolab.extras.recordings.inference.discoverers.read_host", counted)
    scripts = [entry(f"/{number}.js", 30 + number, "script") for number in range(300)]
    asked = [entry(f"/{number}.json", 1_000 + number, "fetch") for number in range(300)]
    made = model(document(), *scripts, *asked)
    assert {one.parent for one in made.resources[301:]} == {300}, "the last script that was there"
    assert looked_at < 3 * len(made.resources)


def test_of_scripts_that_ended_together_the_first_is_taken() -> None:
    scripts = (entry("/a.js", 40, "script"), entry("/b.js", 30, "script", wait=30))
    assert last(*scripts, entry("/x.json", 400, "fetch")) == (1, Discovery.SCRIPT, Evidence.INFERRED)
