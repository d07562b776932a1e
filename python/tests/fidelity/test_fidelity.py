"""Fidelity of a clone's load: what was asked, too much or never, by whom, in which order; and what falls short."""

from typing import Any

import msgspec
import pytest

from resolab.basics.records import EdgeRequestRecord, HttpVersion
from resolab.extras.fidelity.bars import shortfalls
from resolab.extras.fidelity.measures import Fidelity, compute_tau, measure_fidelity
from resolab.extras.fidelity.observed_load import BrowserAccount, RequestStart, read_account, read_edge_account
from resolab.extras.recordings.recording import Initiator, RecordedExchange, Recording
from resolab.pages.clone.names import make_url
from resolab.pages.model import Discovery, Evidence, Host, Kind, Outcome, PageModel, Resource, Source


def asked(kind: Kind, discovery: Discovery, parent: int | None, start_ms: float, **more: Any) -> Resource:
    return Resource(
        kind=kind, discovery=discovery, parent=parent, start_ms=start_ms, evidence=Evidence.INITIATOR,
        **({"host": 0, "wire_bytes": 100, "raw_bytes": 100} | more),
    )  # fmt: skip


MODEL = PageModel(
    name="shop",
    source=Source(form="har"),
    hosts=(Host(site=0), Host(site=1)),
    resources=(
        asked(Kind.DOCUMENT, Discovery.NAVIGATION, None, 0.0),
        asked(Kind.SCRIPT, Discovery.DOCUMENT, 0, 100.0, host=1, status=302, wire_bytes=0),
        asked(Kind.SCRIPT, Discovery.REDIRECT, 1, 200.0, host=1),
        asked(Kind.IMAGE, Discovery.SCRIPT, 2, 300.0, host=1),
        asked(Kind.IMAGE, Discovery.LATE, 0, 310.0),
    ),
    load_ms=500.0,
)
STARTS = (0.0, 90.0, 150.0, 260.0, 255.0)
PARENTS = (None, 0, 1, 2, 0)


def record(place: int, number: int, **more: Any) -> EdgeRequestRecord:
    url = make_url(MODEL, place)
    fields = {
        "connection_id": 1, "http_version": HttpVersion.H2, "peer_address": "10.77.0.2:1", "received_ns": number,
        "in_early_data": False, "method": "GET", "authority": url.split("/")[2], "path": "/" + url.rpartition("/")[2],
        "status": MODEL.resources[place].status, "body_bytes": MODEL.resources[place].wire_bytes,
    }  # fmt: skip
    return EdgeRequestRecord(**(fields | more))


def whole() -> list[EdgeRequestRecord]:
    return [record(place, place) for place in range(5)]


def told(parents: tuple[int | None, ...] = PARENTS) -> BrowserAccount:
    starts = zip(range(5), STARTS, parents, strict=True)
    return BrowserAccount(
        {place: RequestStart(start, parent) for place, start, parent in starts}, names_scripts=True, plt_ms=480.0
    )


def fidelity(heard: BrowserAccount | None = None, got: list[EdgeRequestRecord] | None = None) -> Fidelity:
    return measure_fidelity(
        MODEL, "chromium", told() if heard is None else heard, read_edge_account(MODEL, whole() if got is None else got)
    )


def test_a_load_that_repeats_all_falls_short_of_nothing() -> None:
    one = fidelity()
    assert (one.issued_count, one.extra_count, one.hosts_asked_count, one.redirects_followed_count) == (5, 0, 2, 1)
    assert (one.depth, one.depth_seen, one.discoverers_ratio, one.model_bytes, one.body_bytes) == (3, 3, 1.0, 400, 400)
    assert list(shortfalls(one)) == []


def test_order_counts_pairs_that_were_apart() -> None:
    # One of ten pairs is the other way round, and that one began 10 ms apart.
    assert (fidelity().tau, fidelity().tau_apart) == (0.8, 1.0)
    assert compute_tau({0: 1.0, 1: 2.0, 2: 3.0}, {0: 1.0, 1: 3.0, 2: 2.0}) == pytest.approx(1 / 3, abs=1e-4)
    assert compute_tau({0: 1.0}, {0: 1.0}) is None


def test_what_is_asked_twice_or_is_nobodys_is_too_much_and_preflights_are_none() -> None:
    more = [
        record(4, 10),
        record(4, 11, path="/99.gif"),
        record(4, 12, path="/favicon.ico"),
        record(3, 13, method="OPTIONS"),
        record(3, 14, authority="h0.s0-shop.test"),
    ]
    one = fidelity(got=[*whole(), *more])
    assert one.extra_count == 3
    assert one.foreign == ("https://h0.s0-shop.test/99.gif", "https://h0.s0-shop.test/3.gif")
    assert one.preflights_asked_count == 1
    assert list(shortfalls(one)) == ["3 requests too many"]


def test_what_was_never_asked_for_is_named() -> None:
    one = fidelity(got=[record(0, 0), record(4, 1, body_bytes=90)])
    assert one.never_asked == (1, 2, 3)
    assert list(shortfalls(one)) == [
        "3 requests never asked for", "1 host never asked", "1 redirect not followed",
        "bodies weigh 95.0% of the model's",
    ]  # fmt: skip


def test_another_discoverer_counts_but_not_another_link_of_its_redirects() -> None:
    assert fidelity(told((None, 0, 1, 1, 0))).discoverers_ratio == 1.0
    one = fidelity(told((None, 0, 1, 0, 0)))
    assert one.discoverers_ratio == pytest.approx(2 / 3, abs=1e-4), "of three, for redirects ask by themselves"
    assert list(shortfalls(one)) == ["depth 2 instead of 3", "66.7% of discoverers are the model's"]


def test_a_browser_that_names_no_scripts_is_not_judged_by_them() -> None:
    heard = told()
    heard.names_scripts = False
    one = fidelity(heard)
    assert (one.discoverers_ratio, one.depth_seen) == (None, None)
    assert list(shortfalls(one)) == []


def test_a_browsers_words_become_places() -> None:
    def exchange(place: int, **more: Any) -> RecordedExchange:
        one = MODEL.resources[place]
        return RecordedExchange(
            url=make_url(MODEL, place), start_ms=1_000 + STARTS[place], kind=one.kind, status=one.status, **more
        )

    script = Initiator(kind="script", url=make_url(MODEL, 2), stack=(make_url(MODEL, 2),))
    recording = Recording(
        form="cdp",
        exchanges=[
            exchange(0),
            exchange(1, initiator=Initiator(kind="parser", url=make_url(MODEL, 0), line=0), redirect_to=make_url(MODEL, 2),
                     request_id="7"),
            exchange(2, request_id="7"),
            exchange(3, initiator=script),
            RecordedExchange(url="https://elsewhere.test/3.gif", start_ms=1_001.0, kind=Kind.IMAGE),
            exchange(3, initiator=script, is_preflight=True),
        ],
        loaded_ms=1_480.0,
        async_stacks=True,
    )  # fmt: skip
    heard = read_account(MODEL, recording)
    assert {place: one.parent for place, one in heard.asked.items()} == {0: None, 1: 0, 2: 1, 3: 2}
    assert heard.asked[3].start_ms - heard.asked[0].start_ms == STARTS[3]
    assert (heard.plt_ms, heard.names_scripts) == (480.0, True)


def test_a_request_that_was_to_fail_is_asked_for_when_the_browser_says_so() -> None:
    failing = msgspec.structs.replace(MODEL.resources[4], outcome=Outcome.FAILED, status=0)
    model = msgspec.structs.replace(MODEL, resources=(*MODEL.resources[:4], failing))
    got = read_edge_account(model, whole()[:4])
    assert measure_fidelity(model, "chromium", told(), got).never_asked == ()
    assert measure_fidelity(model, "chromium", BrowserAccount(), got).never_asked == (4,)
    twice = read_edge_account(model, [*whole(), record(4, 10)])
    assert measure_fidelity(model, "chromium", told(), twice).extra_count == 0, "a browser may ask again after a reset"


def test_facts_of_a_load_go_through_json() -> None:
    one = fidelity()
    assert msgspec.json.decode(msgspec.json.encode(one), type=Fidelity) == one
