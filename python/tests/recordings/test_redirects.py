"""Redirects and their targets where ids of requests do not help: Chromium up to 57 gave some targets an id of their own."""

import pytest

from resolab.extras.recordings.inference.redirects import NOT_JOINED, redirect_sources
from resolab.extras.recordings.recording import Initiator, RecordedExchange, Recording, Timings
from resolab.pages.model import Kind

TARGET = "https://cdn.example/b"
OTHER, SCRIPT = Initiator(kind="other"), Initiator(kind="script", url="https://a.example/x.js")


def moved(
    to: str = TARGET, *, request_id: str | None = "1", kind: Kind = Kind.XHR, start_ms: float = 0
) -> RecordedExchange:
    """Answer with a redirect after 100 ms."""
    return RecordedExchange(
        url="https://a.example/b", start_ms=start_ms, kind=kind, status=302, redirect_to=to, request_id=request_id,
        timings=Timings(wait=100),
    )  # fmt: skip


def asked(
    start_ms: float, url: str = TARGET, *, request_id: str | None = "2", by: Initiator | None = None
) -> RecordedExchange:
    return RecordedExchange(
        url=url, start_ms=start_ms, kind=Kind.OTHER, status=200, request_id=request_id, initiator=by
    )


DOCUMENT = RecordedExchange(url="https://a.example/", start_ms=-10, kind=Kind.DOCUMENT, status=200, request_id="0")


def joined(*exchanges: RecordedExchange) -> tuple[dict[int, int], int]:
    recording = Recording(form="har", exchanges=[])
    return redirect_sources(exchanges, recording), recording.losses[NOT_JOINED]


@pytest.mark.parametrize("by", [OTHER, None], ids=["other", "untold"])
def test_an_equal_url_under_another_id_that_nobody_asked_for_is_the_target(by: Initiator | None) -> None:
    assert joined(DOCUMENT, moved(), asked(150, by=by)) == ({2: 1}, 0)


@pytest.mark.parametrize(
    "target",
    [
        asked(150, by=SCRIPT),
        asked(150, f"{TARGET}?q=1", by=OTHER),
        asked(50, by=OTHER),
        asked(5_200, by=OTHER),
    ],
    ids=["a script asked", "another query", "before the redirect's end", "long after"],
)
def test_another_id_is_else_another_request(target: RecordedExchange) -> None:
    assert joined(DOCUMENT, moved(), target) == ({}, 1)


def test_the_id_decides_where_it_goes_on() -> None:
    """Somebody else asks for the target's URL in between."""
    assert joined(DOCUMENT, moved(), asked(120, by=OTHER), asked(130, request_id="1r")) == ({3: 1}, 0)


@pytest.mark.parametrize("request_id", [None, "1"])
def test_a_documents_own_redirect_may_take_its_time(request_id: str | None) -> None:
    late = asked(48_000, request_id=request_id and "2")
    assert joined(moved(request_id=request_id), late) == ({1: 0}, 0), "the page's own"
    inside = moved(request_id=request_id, kind=Kind.DOCUMENT)
    assert joined(DOCUMENT, inside, late) == ({2: 1}, 0)
    assert joined(DOCUMENT, moved(request_id=request_id), late) == ({}, 1)
