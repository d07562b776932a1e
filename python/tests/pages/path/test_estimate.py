"""The closed form of look-ups: hand-made trees whose slope can be counted, and properties of any tree."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_page_model import MARKUP, SCRIPT, SHEET, document, model, request

from resolab.basics.protocols import DNS_TRANSPORTS
from resolab.pages.model import Discovery, Kind, Outcome, PageModel, ScriptMode
from resolab.pages.path import AnnouncementMode, LoadEstimate, estimate, load_estimate, predict_lookups
from resolab.pages.path.instant import EstimatedInstant

FREE = {"connect_ms": 0.0, "round_trip_ms": 0.0}


def script(parent: int = 0, **more: Any) -> Any:
    return request(parent, MARKUP, Kind.SCRIPT, **{"script_mode": ScriptMode.ASYNC} | more)


CHAIN = model(
    document(server_time_ms=50),
    script(host=1, server_time_ms=20),
    request(1, SCRIPT, host=2, due_ms=5, server_time_ms=30),
    request(0, host=3, server_time_ms=60),
    request(0, host=3, server_time_ms=10),
    hosts=4,
)
"""Document, script, its request: 105 ms by three names; beside it two images of a fourth: 110 ms by two names."""


def test_the_slope_is_the_number_of_look_ups_of_the_longest_chain() -> None:
    assert load_estimate(CHAIN, **FREE) == LoadEstimate(load_ms=110, blocking_lookups_count=2, lookups_count=4)
    # As look-ups become dearer, the chain with more of them becomes the longest.
    assert load_estimate(CHAIN, lookup_ms=1, **FREE).load_ms == 112
    at_the_bend = load_estimate(CHAIN, lookup_ms=5, **FREE)
    assert (at_the_bend.load_ms, at_the_bend.blocking_lookups_count) == (120, 3)
    assert load_estimate(CHAIN, lookup_ms=100, **FREE).load_ms == 405


def test_a_name_is_looked_up_once_and_whoever_asks_meanwhile_waits_for_it() -> None:
    page = model(document(), script(host=1), request(0, host=1, place=1.0), request(1, SCRIPT, host=1), hosts=2)
    found = load_estimate(page, lookup_ms=40, **FREE)
    assert (found.load_ms, found.blocking_lookups_count, found.lookups_count) == (80, 2, 2)


def test_connecting_takes_its_handshakes_round_trips_by_version_unless_given() -> None:
    page = model(document(server_time_ms=7), round_trip_ms=10, protocols=("h2",))
    assert load_estimate(page).load_ms == 3 * 10 + 7, "TCP, TLS, request"
    h3 = model(document(server_time_ms=7), round_trip_ms=10, protocols=("h3",))
    assert load_estimate(h3).load_ms == 2 * 10 + 7
    assert load_estimate(h3, round_trip_ms=25).load_ms == 2 * 25 + 7
    assert load_estimate(h3, connect_ms=3).load_ms == 3 + 10 + 7


def test_a_host_without_a_round_trip_is_as_far_as_the_page_s_own() -> None:
    page = model(document(), request(0, host=1), hosts=2, round_trip_ms=10)
    page = msgspec.structs.replace(
        page, hosts=(page.hosts[0], msgspec.structs.replace(page.hosts[1], round_trip_ms=None))
    )
    assert load_estimate(page).load_ms == 60


def in_head(kind: Kind, *before: Any, **more: Any) -> PageModel:
    """Make a page whose head has scripts of 100 and 60 ms, and whose inline script asks for something of 80 ms."""
    sync = {"script_mode": ScriptMode.SYNC}
    scripts = [script(server_time_ms=100, **sync), script(server_time_ms=60, **sync)]
    asked = request(0, Discovery.INLINE_SCRIPT, kind, due_ms=10, server_time_ms=80, **more)
    return model(document(), *before, *scripts, asked)


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        (in_head(Kind.SCRIPT), 60 + 80),
        (in_head(Kind.IMAGE), 60 + 80),
        (in_head(Kind.STYLESHEET), 100),
        (in_head(Kind.SCRIPT, preload=True), 100),
        (in_head(Kind.SCRIPT, request(0, server_time_ms=1)), 100),
        (in_head(Kind.SCRIPT, script(server_time_ms=70, script_mode=ScriptMode.SYNC)), 70 + 80),
    ],
    ids=["script", "image", "urgent", "preloaded", "the body has begun", "three beside it"],
)
def test_in_a_document_s_head_what_is_not_urgent_is_sent_when_fewer_than_two_are_under_way(
    page: PageModel, expected: float
) -> None:
    assert load_estimate(page, **FREE).load_ms == expected


def test_nothing_is_held_back_any_more_when_the_scripts_in_the_head_have_run() -> None:
    sync = script(server_time_ms=30, script_mode=ScriptMode.SYNC)
    fonts = [request(0, Discovery.INLINE_SCRIPT, Kind.FONT, server_time_ms=500) for _ in range(2)]
    picture = request(0, Discovery.LATE, Kind.IMAGE, due_ms=5, server_time_ms=600)
    assert load_estimate(model(document(), sync, *fonts, picture), **FREE).load_ms == 30 + 600


def test_a_head_that_closes_lets_go_what_it_held_back_before_its_last_script_was_found() -> None:
    found = script(server_time_ms=20, script_mode=ScriptMode.SYNC)
    later = script(server_time_ms=10, script_mode=ScriptMode.SYNC, place=1.0)
    fonts = [request(0, Discovery.INLINE_SCRIPT, Kind.FONT, server_time_ms=500) for _ in range(2)]
    picture = request(0, Discovery.LATE, Kind.IMAGE, due_ms=5, server_time_ms=600)
    page = model(document(receive_ms=30), found, later, *fonts, picture)
    # The picture waits for a font until, at 30 ms, the last script is found: it has run at 40 ms, and the body begins.
    assert load_estimate(page, **FREE).load_ms == 40 + 600


@pytest.mark.parametrize("count", [100, 800])
def test_requests_that_wait_in_a_head_are_looked_at_in_proportion_to_their_number(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []
    may_begin = estimate._Walk._may_begin

    def counting(walk: estimate._Walk, place: int, start: EstimatedInstant) -> bool:
        looked_at.append(place)
        return may_begin(walk, place, start)

    monkeypatch.setattr(estimate._Walk, "_may_begin", counting)
    sync = script(server_time_ms=1e6, script_mode=ScriptMode.SYNC)
    pictures = [request(0, Discovery.INLINE_SCRIPT, server_time_ms=10, due_ms=1) for _ in range(count)]
    # One picture at a time beside the script.
    assert load_estimate(model(document(), sync, *pictures), **FREE).load_ms == 1e6
    assert len(looked_at) <= 4 * (count + 2)


def test_what_ends_as_a_request_is_let_go_holds_it_back_if_more_look_ups_led_to_it() -> None:
    def redirected(kind: Kind, host: int, server_time_ms: float = 0.0, receive_ms: float = 0.0) -> Any:
        return request(0, Discovery.REDIRECT, kind, host=host, server_time_ms=server_time_ms, receive_ms=receive_ms)

    page = model(
        document(),
        redirected(Kind.STYLESHEET, 1, 7, 18),
        redirected(Kind.STYLESHEET, 1, 51, 59),
        redirected(Kind.SCRIPT, 2, receive_ms=47),
        *(redirected(Kind.SCRIPT, 0, receive_ms=size) for size in (9, 0, 0)),
        request(0, MARKUP, Kind.STYLESHEET, script_mode=ScriptMode.SYNC, after_load=True),
        hosts=3,
        round_trip_ms=8.0,
    )
    # The head stays open, so two at a time: here a name's answer and the end of a request before come together.
    assert load_estimate(page, lookup_ms=31) == LoadEstimate(load_ms=245, blocking_lookups_count=3, lookups_count=3)


@pytest.mark.parametrize(
    ("discovery", "more", "expected"),
    [
        (Discovery.REDIRECT, {}, 50),
        (MARKUP, {"place": 0.25}, 50 + 25),
        (SHEET, {}, 50 + 100),
        (SCRIPT, {"due_ms": 7}, 50 + 100 + 7),
        (Discovery.INLINE_SCRIPT, {"due_ms": 7}, 50 + 7),
        (Discovery.LATE, {"due_ms": 200}, 50 + 200),
    ],
)
def test_what_leads_to_a_request_decides_when_it_begins(
    discovery: Discovery, more: dict[str, float], expected: float
) -> None:
    page = model(document(server_time_ms=50, receive_ms=100), request(0, discovery, server_time_ms=1_000, **more))
    assert load_estimate(page, **FREE).load_ms == expected + 1_000


def test_a_script_that_holds_the_parser_waits_for_what_stands_before_it() -> None:
    # The sheet's name costs a look-up, and the script's request waits for it though nobody named the sheet for it.
    sheet = request(0, MARKUP, Kind.STYLESHEET, host=1, server_time_ms=80, start_ms=1, first_byte_ms=90)
    sync = script(script_mode=ScriptMode.SYNC, server_time_ms=10, start_ms=1)
    child = request(2, SCRIPT, start_ms=100, due_ms=10)
    found = load_estimate(model(document(), sheet, sync, child, hosts=2), lookup_ms=3, **FREE)
    assert (found.load_ms, found.blocking_lookups_count) == (3 + 3 + 80 + 10, 2)
    busy = script(script_mode=ScriptMode.SYNC, server_time_ms=20, run_ms=200)
    page = model(document(), busy, sync, child)
    assert load_estimate(page, **FREE).load_ms == 20 + 200 + 10
    # In this recording the script asked while the sheet was under way: it did not hold it.
    early = msgspec.structs.replace(child, start_ms=50)
    assert load_estimate(model(document(), sheet, sync, early, hosts=2), lookup_ms=3, **FREE).load_ms == 3 + 3 + 80
    deferred = script(script_mode=ScriptMode.DEFER, server_time_ms=10)
    page = model(document(receive_ms=70), deferred, request(1, SCRIPT, start_ms=100, due_ms=10))
    assert load_estimate(page, **FREE).load_ms == 80


def test_what_failed_or_began_after_the_load_event_costs_nothing() -> None:
    page = model(
        document(server_time_ms=50),
        request(0, host=1, server_time_ms=900, after_load=True),
        request(1, SCRIPT, host=1, server_time_ms=900, after_load=True),
        request(0, host=2, server_time_ms=900, outcome=Outcome.FAILED),
        hosts=3,
    )
    assert load_estimate(page, lookup_ms=1, **FREE) == LoadEstimate(
        load_ms=51, blocking_lookups_count=1, lookups_count=1
    )


CHAIN_OF_NAMES = model(document(), script(host=1), request(1, SCRIPT, host=2), hosts=3)


@pytest.mark.parametrize("transport", DNS_TRANSPORTS)
def test_a_transport_costs_a_round_trip_each_look_up_and_its_handshakes_once(transport: str) -> None:
    cold = DNS_TRANSPORTS[transport].cold_round_trips  # type: ignore[index]
    found = predict_lookups(CHAIN_OF_NAMES, dns_transport=transport, resolver_rtt_ms=10)
    assert (found.lookup_ms, found.blocking_lookups_count, found.lookups_count) == ((cold + 2) * 10, 3, 3)
    warm = predict_lookups(CHAIN_OF_NAMES, dns_transport=transport, resolver_rtt_ms=10, connection_state="warm")
    assert warm.lookup_ms == 30


def test_early_data_saves_a_round_trip_of_the_first_look_up() -> None:
    found = predict_lookups(CHAIN_OF_NAMES, dns_transport="doq", resolver_rtt_ms=10, handshake_mode="zero_rtt")
    assert found.lookup_ms == 30


def test_of_pushed_answers_only_the_documents_takes_its_time() -> None:
    announced = AnnouncementMode.WITH_FIRST
    found = predict_lookups(CHAIN_OF_NAMES, dns_transport="doq", resolver_rtt_ms=10, announced=announced)
    assert (found.lookup_ms, found.blocking_lookups_count, found.lookups_count) == (20, 1, 3)


@pytest.mark.parametrize(
    ("announced", "server_time_ms", "recursion_ms", "lookup_ms", "blocking_count"),
    [
        (AnnouncementMode.NOT, 0, 0, 30, 3),
        (AnnouncementMode.WITH_FIRST, 0, 0, 10, 1),
        (AnnouncementMode.HTTPS_RECORD, 0, 0, 10, 1),
        (AnnouncementMode.SERVER_PUSH, 0, 0, 10, 1),
        # Hints that come with the document say nothing it does not; after that, all names are known.
        (AnnouncementMode.EARLY_HINTS, 0, 0, 20, 2),
        (AnnouncementMode.EARLY_HINTS, 4, 0, 16, 2),
        (AnnouncementMode.EARLY_HINTS, 10, 0, 10, 1),
        # An exchange of 35 ms, begun when the document's request leaves, a round trip of 20 ms before it is there.
        (AnnouncementMode.HTTPS_RECORD, 0, 25, 35 + 15, 2),
        (AnnouncementMode.SERVER_PUSH, 0, 25, 35, 1),
        (AnnouncementMode.EARLY_HINTS, 0, 25, 35 + 35, 2),
        (AnnouncementMode.EARLY_HINTS, 30, 25, 35 + 5, 2),
    ],
)
def test_announced_names_are_waited_for_as_long_as_they_are_later_than_the_document(
    announced: AnnouncementMode, server_time_ms: float, recursion_ms: float, lookup_ms: float, blocking_count: int
) -> None:
    page = model(document(server_time_ms=server_time_ms), script(host=1), request(1, SCRIPT, host=2), hosts=3)
    found = predict_lookups(
        page,
        dns_transport="doq",
        resolver_rtt_ms=10,
        connection_state="warm",
        connect_ms=0.0,
        round_trip_ms=20.0,
        announced=announced,
        recursion_ms=recursion_ms,
    )
    assert (found.lookup_ms, found.blocking_lookups_count) == (lookup_ms, blocking_count)


def test_names_that_the_resolver_has_to_find_take_their_time() -> None:
    lookup_ms = {
        misses: predict_lookups(
            CHAIN_OF_NAMES,
            dns_transport="doudp",
            resolver_rtt_ms=10,
            connect_ms=0.0,
            round_trip_ms=20.0,
            recursion_ms=25.0,
            misses=misses,
        ).lookup_ms
        for misses in (None, (), (1,), (0, 2))
    }
    assert lookup_ms == {None: 105, (): 30, (1,): 55, (0, 2): 80}


def test_a_redirect_announces_nothing() -> None:
    page = model(document(), request(0, Discovery.REDIRECT, host=1), script(1, host=2), hosts=3)
    told = {
        one: predict_lookups(
            page, dns_transport="doudp", resolver_rtt_ms=10, connect_ms=0.0, round_trip_ms=20.0, announced=one
        ).lookup_ms
        for one in AnnouncementMode
    }
    assert told[AnnouncementMode.NOT] == 30
    assert told[AnnouncementMode.SERVER_PUSH] == told[AnnouncementMode.HTTPS_RECORD] == 20
    assert told[AnnouncementMode.WITH_FIRST] == 10


@st.composite
def pages(draw: st.DrawFn) -> PageModel:
    """Draw a tree in whole milliseconds, so that sums are exact."""
    whole = st.integers(0, 60).map(float)
    others = [
        request(
            draw(st.integers(0, place - 1)),
            draw(st.sampled_from(list(Discovery)[1:])),
            draw(st.sampled_from(Kind)),
            host=draw(st.integers(0, 4)),
            script_mode=draw(st.none() | st.sampled_from(ScriptMode)),
            server_time_ms=draw(whole),
            receive_ms=draw(whole),
            due_ms=draw(st.none() | whole),
            place=draw(st.none() | st.sampled_from([0.0, 1.0])),
            start_ms=draw(whole),
            first_byte_ms=draw(st.none() | whole),
            after_load=draw(st.integers(0, 9)) == 0,
        )
        for place in range(1, draw(st.integers(1, 12)))
    ]
    return model(document(server_time_ms=draw(whole), receive_ms=draw(whole)), *others, hosts=5, round_trip_ms=8.0)


@settings(max_examples=200, deadline=None)
@given(pages(), st.integers(0, 40))
def test_a_load_grows_by_its_blocking_look_ups_and_never_by_more_than_all(page: PageModel, lookup_ms: int) -> None:
    free, now = load_estimate(page), load_estimate(page, lookup_ms=lookup_ms)
    assert 1 <= now.blocking_lookups_count <= now.lookups_count
    assert now.load_ms >= free.load_ms
    assert now.load_ms - free.load_ms <= lookup_ms * now.lookups_count
    # All instants are whole: nothing bends within a thousandth of a millisecond, and the slope holds.
    grown = load_estimate(page, lookup_ms=lookup_ms + 2**-10)
    assert grown.load_ms - now.load_ms == now.blocking_lookups_count * 2**-10
