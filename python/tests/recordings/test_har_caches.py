"""Answers from caches, unknown sizes and load events, as Safari and Firefox write them."""

import json
from typing import Any

import pytest
from made_har import document, entry, har

from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import PageModel

FETCHED, LEFT_OUT = (
    "requests answered by a cache, taken for fetched",
    "requests answered by what the same load had fetched",
)
SILENCE = "what took the 10 s or more before the load event, in which no answer came"
SAFARI, FIREFOX = "WebKit Web Inspector", "Firefox"


def model(*entries: dict[str, Any], creator: str = "made", **log: Any) -> PageModel:
    made = har(*entries, creator={"name": creator, "version": "1.0"}, **log)
    return build(read_har(json.dumps(made).encode(), "made"), "made")


def lost(made: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in made.losses}


@pytest.mark.parametrize("word", ["Memory Cache", "Disk Cache", "Service Worker"])
def test_safari_says_where_an_answer_came_from(word: str) -> None:
    cached = {"_fetchType": word, "moved": -1, "size": 0}
    made = model(
        document(_fetchType="Network Load"), entry("/a", 30, **cached), entry("/a", 60, **cached), creator=SAFARI
    )
    assert (len(made.resources), lost(made)[FETCHED], lost(made)[LEFT_OUT]) == (2, 1, 1)
    assert lost(made)["sizes of bodies"] == 1, "Safari writes 0 for what it does not know"


@pytest.mark.parametrize("state", [None, {"expires": "2026-05-01T00:00:00Z"}])
def test_firefox_writes_the_cache_of_what_the_cache_answered(state: dict[str, str] | None) -> None:
    cached: dict[str, Any] = {"cache": {"afterRequest": state}, "moved": 0, "timings": {}}
    entries = document(cache={}), entry("/a", 30, **cached), entry("/a", 60, **cached)
    made = model(*entries, creator=FIREFOX)
    assert (len(made.resources), lost(made)[FETCHED], lost(made)[LEFT_OUT]) == (2, 1, 1)
    assert made.resources[1].wire_bytes == 1000


def test_others_write_the_cache_of_what_the_network_answered_too() -> None:
    """As HAR 1.2 has it: the state after the request. Firebug writes it of nearly all."""
    of_network = entry("/a", 30, cache={"afterRequest": {"eTag": "x"}})
    of_cache = entry("/b", 60, wait=0, receive=0, cache={"afterRequest": {"eTag": "x"}})
    assert FETCHED not in lost(model(document(), of_network))
    assert lost(model(document(), of_network, of_cache))[FETCHED] == 1


@pytest.mark.parametrize(
    ("status", "moved", "unknown"), [(200, -1, 1), (204, -1, None), (304, -1, None), (0, -1, None), (200, 0, None)]
)
def test_a_content_of_no_bytes_is_unknown_where_nothing_else_tells_it(
    status: int, moved: int, unknown: int | None
) -> None:
    made = model(document(), entry("/a", 30, status=status, size=0, moved=moved))
    assert lost(made).get("sizes of bodies") == unknown


def test_safaris_load_event_is_none() -> None:
    """It writes an instant of the inspector's clock; HAR 1.2 wants the time since the page began."""
    made = model(document(), load=15_799, creator=SAFARI)
    assert (made.load_ms, made.dom_content_loaded_ms, lost(made)["the time of the load event"]) == (None, None, 0)


def test_a_load_event_far_behind_the_last_answer_has_a_word() -> None:
    assert lost(model(document(), load=15_799))[SILENCE] == 0
    assert SILENCE not in lost(model(document(), load=9_000))
    assert SILENCE not in lost(model(document(), entry("/a", 8_000), load=15_799))
