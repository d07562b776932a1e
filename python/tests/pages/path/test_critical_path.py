"""What a load waited for: chains and parts of hand-made loads, and the sum of the parts of any load."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_page_model import MARKUP, SCRIPT, SHEET, document, load, model, request, told

from resolab.pages.model import Discovery, Kind, PageModel, ScriptMode
from resolab.pages.path import (
    CriticalPath,
    InstantSource,
    LoadTimeline,
    PhaseKind,
    RequestInstants,
    critical_path,
    find_round_trips,
)

MS = 1_000_000


def parts(path: CriticalPath) -> dict[str, float]:
    return {part.value: spent / MS for part, spent in path.parts_ns.items()}


def places(path: CriticalPath) -> list[int]:
    return [link.place for link in path.links]


def test_a_chain_is_divided_into_its_parts_and_what_came_after_it() -> None:
    page = model(document(), request(0, kind=Kind.SCRIPT, host=1), request(1, SCRIPT, host=2), hosts=3)
    path = critical_path(
        page,
        load(
            400.0,
            told(0, queue=5, dns=20, tcp=10, tls=15, wait=30, receive=20),  # ends at 100
            told(110, dns=30, tcp=10, tls=10, wait=40),  # ends at 200
            told(250, dns=7, tcp=10, tls=10, wait=50, receive=23),  # ends at 350
        ),
        {0: 10.0, 1: 10.0, 2: 12.0},
    )
    assert places(path) == [0, 1, 2]
    assert parts(path) == {
        "browser": 5 + 10 + 50 + 50, "dns": 57, "connect": 30, "handshake": 35,
        "round_trip": 32, "server": 20 + 30 + 38, "transfer": 43,
    }  # fmt: skip
    assert path.blocking_hosts == path.lookup_hosts == (0, 1, 2)
    assert path.share_ratio(PhaseKind.DNS) == pytest.approx(57 / 400)
    assert path.untold_count == path.server_told_count == 0


def test_look_ups_beside_the_chain_block_nothing() -> None:
    page = model(document(), request(0, host=1), request(0, host=2), hosts=3)
    path = critical_path(
        page, load(300.0, told(0, dns=9, wait=50), told(60, dns=40, wait=20), told(60, dns=5, wait=200))
    )
    assert places(path) == [0, 2]
    assert (path.blocking_hosts, path.lookup_hosts) == ((0, 2), (0, 1, 2))
    late = load(300.0, told(0, dns=9, wait=50), told(310, dns=40, wait=20), told(60, dns=5, wait=200))
    assert critical_path(page, late).lookup_hosts == (0, 2), "the load event did not know of the third"


def test_a_document_counts_only_until_it_led_on() -> None:
    page = model(document(), request(0))
    # The image is found 30 ms after the document's first byte; the rest of the document was waited for by nobody.
    path = critical_path(page, load(300.0, told(0, wait=50, receive=500), told(80, wait=200)))
    assert [link.parts_ns for link in path.links] == [
        {PhaseKind.SERVER: 50 * MS, PhaseKind.TRANSFER: 30 * MS}, {PhaseKind.SERVER: 200 * MS},
    ]  # fmt: skip
    assert parts(path)["browser"] == 20


def script(mode: ScriptMode, **more: object) -> object:
    return request(0, MARKUP, Kind.SCRIPT, script_mode=mode, **more)


@pytest.mark.parametrize(
    ("mode", "expected", "held_up"),
    [(ScriptMode.SYNC, [0, 1, 3], [False, True, False]), (ScriptMode.ASYNC, [0, 2, 3], [False, False, False])],
)
def test_a_script_that_held_the_parser_waited_for_the_sheet_before_it(
    mode: ScriptMode, expected: list[int], held_up: list[bool]
) -> None:
    sheet = request(0, MARKUP, Kind.STYLESHEET, start_ms=10, first_byte_ms=100)
    page = model(document(), sheet, script(mode, start_ms=10, first_byte_ms=50), request(2, SCRIPT, start_ms=120))  # type: ignore[arg-type]
    path = critical_path(page, load(300, told(0, wait=10), told(10, wait=190), told(10, wait=60), told(210, wait=50)))
    assert places(path) == expected
    assert [link.held_up for link in path.links] == held_up


def test_a_sheet_that_came_later_in_this_load_than_the_script_s_request_held_nothing() -> None:
    sheet = request(0, MARKUP, Kind.STYLESHEET, start_ms=10, first_byte_ms=100)
    page = model(document(), sheet, script(ScriptMode.SYNC, start_ms=10, first_byte_ms=50), request(2, SCRIPT, start_ms=120))  # type: ignore[arg-type]  # fmt: skip
    path = critical_path(page, load(300, told(0, wait=10), told(10, wait=230), told(10, wait=60), told(210, wait=50)))
    assert places(path) == [0, 2, 3]


def held_page() -> PageModel:
    """Make a page whose script waited for a sheet, and asked for a picture."""
    sheet = request(0, MARKUP, Kind.STYLESHEET, start_ms=10, first_byte_ms=100)
    held = script(ScriptMode.SYNC, start_ms=10, first_byte_ms=50)
    return model(document(), sheet, held, request(2, SCRIPT, start_ms=120))  # type: ignore[arg-type]


def test_a_script_that_a_rounded_clock_has_end_after_what_it_asked_for_still_led_to_it() -> None:
    sheet, asked = told(10, wait=100), told(210, wait=50)
    late = told(10, wait=200.05)  # ends 50 µs after the picture's start, long after the sheet
    path = critical_path(held_page(), load(300, told(0, wait=10), sheet, late, asked))
    assert places(path) == [0, 2, 3]
    assert not any(link.held_up for link in path.links)


def test_what_held_a_script_up_is_known_where_nobody_told_of_the_script() -> None:
    page, sheet, asked = held_page(), told(10, wait=190), told(210, wait=50)
    path = critical_path(page, load(300, told(0, wait=10), sheet, None, asked))
    assert places(path) == [0, 1, 3]
    assert [link.held_up for link in path.links] == [False, True, False]
    # A document that still arrives led to the script before that: the sheet was there later than its beginning.
    path = critical_path(page, load(300, told(0, wait=10, receive=230), sheet, None, asked))
    assert places(path) == [0, 1, 3]
    # Without anything told that held it up, there is what led to it alone.
    path = critical_path(page, load(300, told(0, wait=10), None, None, asked))
    assert places(path) == [0, 3]


def test_a_deferred_script_waited_for_its_document() -> None:
    page = model(document(first_byte_ms=0, receive_ms=90), script(ScriptMode.DEFER), request(1, SCRIPT, start_ms=100))  # type: ignore[arg-type]
    path = critical_path(page, load(300, told(0, wait=10, receive=150), told(20, wait=60), told(170, wait=50)))
    assert places(path) == [0, 2]
    assert path.links[0].held_up
    assert parts(path) == {"server": 60, "transfer": 150, "browser": 90}


def test_over_h3_all_of_connecting_is_the_handshake_and_early_data_ends_it() -> None:
    h3 = RequestInstants(
        start_ms=0, dns_start_ms=0, dns_end_ms=10, connect_start_ms=10, secure_start_ms=10, connect_end_ms=60,
        request_start_ms=60, response_start_ms=100, response_end_ms=110, protocol="h3",
    )  # fmt: skip
    assert parts(critical_path(model(document()), load(110, h3))) == {
        "dns": 10, "handshake": 50, "server": 40, "transfer": 10,
    }  # fmt: skip
    early = msgspec.structs.replace(h3, request_start_ms=15)
    assert parts(critical_path(model(document()), load(110, early))) == {
        "dns": 10, "handshake": 5, "server": 85, "transfer": 10,
    }  # fmt: skip


def test_who_waited_for_a_connection_others_opened_waited_for_its_look_up() -> None:
    page = model(document(), request(0, host=1), request(0, host=1), hosts=2)
    opener = told(100, dns=30, tcp=20, tls=20, wait=30)
    waiter = told(110, queue=60, wait=130)
    path = critical_path(page, load(300, told(0, wait=90), opener, waiter))
    assert places(path) == [0, 2]
    assert path.links[1].parts_ns == {
        PhaseKind.BROWSER: 20 * MS, PhaseKind.DNS: 20 * MS, PhaseKind.CONNECT: 20 * MS, PhaseKind.HANDSHAKE: 20 * MS, PhaseKind.SERVER: 130 * MS,
    }  # fmt: skip
    assert path.blocking_hosts == (1,)
    # Over HTTP/1.1 it may have waited for a connection that was busy.
    path = critical_path(page, load(300, told(0, wait=90), opener, msgspec.structs.replace(waiter, protocol="h1")))
    assert path.links[1].parts_ns == {PhaseKind.BROWSER: 80 * MS, PhaseKind.SERVER: 130 * MS}
    assert path.blocking_hosts == ()


def test_what_nobody_told_is_called_so() -> None:
    page = model(document(), request(0), request(1, Discovery.REDIRECT), request(2, SHEET), request(0, after_load=True))
    silent = RequestInstants(start_ms=100, response_end_ms=180)
    served = RequestInstants(
        start_ms=230, request_start_ms=230, response_start_ms=250, response_end_ms=260, teller=InstantSource.SERVER
    )
    path = critical_path(page, load(300, told(0, wait=90), silent, None, served))
    assert places(path) == [0, 1, 3], "over the one that is missing"
    assert parts(path) == {"server": 90 + 20, "transfer": 10, "browser": 10 + 40, "untold": 80 + 50}
    assert (path.untold_count, path.server_told_count) == (1, 1)


def test_a_load_of_which_nothing_is_known_is_the_browser_s() -> None:
    path = critical_path(model(document()), load(50, told(0, wait=90)))
    assert (path.links, parts(path)) == ((), {"browser": 50})


def test_round_trips_are_those_of_the_shortest_handshakes() -> None:
    page = model(document(), request(0), request(0, host=1), request(0, host=2), hosts=3)
    once = load(900, told(0, tcp=30, tls=50), told(0, tcp=25), told(0, tcp=0, tls=40, protocol="h3"), told(0))
    assert find_round_trips(page, once) == {0: 25, 1: 40}
    early = RequestInstants(
        start_ms=0, connect_start_ms=0, request_start_ms=1, connect_end_ms=40, response_end_ms=60, protocol="h3"
    )
    assert find_round_trips(page, load(900, early)) == {}, "early data leaves before the handshake says anything"


@st.composite
def pages(draw: st.DrawFn) -> tuple[PageModel, LoadTimeline]:
    """Draw any tree and any load of it, instants out of order and missing ones among them."""
    count = draw(st.integers(1, 12))
    others = [
        request(
            draw(st.integers(0, place - 1)),
            draw(st.sampled_from(list(Discovery)[1:])),
            draw(st.sampled_from(Kind)),
            host=draw(st.integers(0, 3)),
            script_mode=draw(st.none() | st.sampled_from(ScriptMode)),
            start_ms=draw(st.floats(0, 100)),
            first_byte_ms=draw(st.none() | st.floats(0, 200)),
        )
        for place in range(1, count)
    ]
    instant = st.none() | st.floats(0, 1_000)
    names = [name for name in RequestInstants.__struct_fields__ if name.endswith("_ms") and name != "start_ms"]
    requests = {
        place: RequestInstants(
            start_ms=draw(st.floats(0, 1_000)), protocol=draw(st.sampled_from([None, "h1", "h2", "h3"])),
            teller=draw(st.sampled_from(InstantSource)), **{name: draw(instant) for name in names},
        )
        for place in range(count)
        if draw(st.booleans())
    }  # fmt: skip
    return model(document(), *others, hosts=4), LoadTimeline(load_ms=draw(st.floats(0, 1_200)), requests=requests)


@settings(max_examples=200, deadline=None)
@given(pages(), st.floats(0, 50))
def test_parts_sum_up_to_the_load_time_exactly_whatever_was_recorded(
    drawn: tuple[PageModel, LoadTimeline], round_trip_ms: float
) -> None:
    page, once = drawn
    path = critical_path(page, once, dict.fromkeys(range(4), round_trip_ms))
    assert sum(path.parts_ns.values()) == path.load_ns == round(once.load_ms * MS)
    of_links = sum(spent for link in path.links for spent in link.parts_ns.values())
    assert of_links <= path.load_ns, "the rest came after the last link"
    assert all(spent > 0 for link in path.links for spent in link.parts_ns.values())
    assert places(path) == sorted(set(places(path))), "discoverers stand before what they discovered"
    assert set(path.blocking_hosts) <= set(path.lookup_hosts)
    assert set(places(path)) <= set(once.requests)
