"""The page's own request is the first that was answered with a document; a recording without one is refused."""

import json
from typing import Any

import pytest
from made_har import SITE, at, document, entry, har

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Kind, PageModel

OTHERS, BEFORE = "requests of further pages of the file", "requests from before the page's own"


def model(*entries: dict[str, Any], pages: list[str] | None = None, title: str = f"{SITE}/") -> PageModel:
    made = har(*entries)
    for name in pages or []:
        made["log"]["pages"].append({"id": name, "title": title, "startedDateTime": at(0), "pageTimings": {}})
    return build(read_har(json.dumps(made).encode(), "made"), "made")


def lost(made: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in made.losses}


@pytest.mark.parametrize("status", [-1, 0, 204, 205, 304], ids=str)
def test_a_navigation_without_a_document_is_not_the_page(status: int) -> None:
    made = model(document(status=status) | {"response": {"status": status}}, document(12), entry("/a.png", 50))
    assert (len(made.resources), made.resources[0].status) == (2, 200)
    assert (lost(made)[BEFORE], made.load_ms) == (1, 888)


def test_a_redirect_whose_target_is_missing_is_not_the_page() -> None:
    lost_way = entry("/", 0, "document", status=302, to="https://gone.example/")
    made = model(lost_way, entry("https://shop.example/home", 400, "document"), entry("/a.png", 450))
    assert [one.status for one in made.resources] == [200, 200]
    assert lost(made)[BEFORE] == 1


def test_a_page_that_says_what_went_wrong_is_one() -> None:
    assert [one.status for one in model(document(status=404), entry("/a.png", 50)).resources] == [404, 200]


@pytest.mark.parametrize("status", [401, 403, 407, 429, 503], ids=str)
def test_a_navigation_refused_at_first_is_its_last_answer(status: int) -> None:
    challenge = entry("/challenge.js", 30, "script")
    made = model(document(status=status), challenge, document(200), entry("/a.png", 350))
    assert [one.status for one in made.resources] == [200, 200]
    assert (lost(made)[BEFORE], made.load_ms) == (2, 700)


def test_a_navigation_refused_each_time_is_its_last_refusal() -> None:
    made = model(document(status=401), document(100, status=401), entry("/a.png", 350))
    assert ([one.status for one in made.resources], lost(made)[BEFORE]) == ([401, 200], 1)


def test_a_page_that_loaded_stays_the_page_however_often_it_is_asked_for() -> None:
    made = model(document(), document(200), document(300, status=401))
    assert (made.resources[0].status, BEFORE in lost(made)) == (200, False)


def test_an_error_stays_the_page_where_others_or_nothing_followed() -> None:
    other = entry("/other", 200, "document")
    assert model(document(status=404), other).resources[0].status == 404
    assert model(document(status=401), entry("/", 100, "fetch")).resources[0].status == 401
    assert model(document(status=401), document(100, status=204)).resources[0].status == 401
    after_load_event = document(950)
    assert model(document(status=401), after_load_event).resources[0].status == 401


def test_the_first_page_of_several_that_was_answered_is_read() -> None:
    inner = entry("data:text/html,x", 0, "document", pageref="page_0")
    cut_off = entry("/", 0, "document", status=0, pageref="page_00")
    made = model(inner, cut_off, document(100), entry("/b", 900, "document", pageref="page_2"), pages=["page_0"])
    assert (len(made.resources), made.load_ms) == (1, 800)
    assert lost(made)[OTHERS] == 3


def test_an_answer_304_is_the_page_only_where_none_was_fetched() -> None:
    known = document(status=304, pageref="page_0")
    assert [one.status for one in model(known).resources] == [304]
    made = model(known, document(100), pages=["page_0"])
    assert [one.status for one in made.resources] == [200]


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([document(status=0)], r"not answered with a document \(answers: none\)"),
        ([entry("/", 0, "document", status=302, to="/gone"), document(status=204)], r"\(answers: 204, 302\)"),
        ([entry("/a.css", 0, "stylesheet"), entry("/a.png", 9)], r"of other kinds \(image, stylesheet\)"),
    ],
)
def test_a_recording_without_a_document_is_refused(entries: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        model(*entries)


def test_a_recording_that_says_nothing_of_kinds_begins_with_what_was_answered_first() -> None:
    bare = entry("/go", 30, "", asked={})
    assert [one.kind for one in model(entry("/", 0, ""), bare).resources] == [Kind.OTHER, Kind.OTHER]
