"""A trial's records as instants by place: what the browser told, what only the server did, and folded redirects."""

from typing import Any

import msgspec
import pytest
from made_page_model import SCRIPT, document, model, request
from recorded_trial import HOST, edge_request, page_load, records, resource, trial

from resolab.basics.records import (
    EdgeRequestRecord,
    PageFailure,
    PageLoadRecord,
    ResourceRecord,
    TrialEndRecord,
    TrialFlag,
)
from resolab.pages.clone.names import host_name, make_path, make_url
from resolab.pages.model import Discovery, Kind, PageModel
from resolab.pages.path import InstantSource, PhaseKind, critical_path, find_failure, read_instants

FRAME, INSIDE = 3, 4
PAGE = model(
    document(),
    request(0, kind=Kind.SCRIPT, host=1, status=302),
    request(1, Discovery.REDIRECT, Kind.SCRIPT, host=2),
    request(0, kind=Kind.DOCUMENT, host=2),
    request(3, kind=Kind.IMAGE, host=1),
    request(2, SCRIPT, host=0),
    hosts=3,
)
BEGAN_NS = 4_266_500_000
"""navigationStart of `recorded_trial.page_load` on its trial's own clock."""


def seen(place: int, start: float, *instants: float, page: PageModel = PAGE) -> ResourceRecord:
    return msgspec.structs.replace(
        resource("/", "img", start, *instants), url=make_url(page, place), next_hop_protocol="h2"
    )


def served(place: int, at_ms: float, sent_ms: float, **more: Any) -> EdgeRequestRecord:
    one = edge_request(make_path(PAGE, place), 1, BEGAN_NS + round(at_ms * 1e6), 9, first_body_byte_ns=BEGAN_NS + round(sent_ms * 1e6) - 1_000_000, response_sent_ns=BEGAN_NS + round(sent_ms * 1e6))  # fmt: skip
    return msgspec.structs.replace(one, authority=host_name(PAGE, PAGE.resources[place].host), **more)


LOAD = msgspec.structs.replace(page_load(), plt_ms=500.0)
DOCUMENT = seen(0, 0, 0, 10, 10, 30, 30, 60, 70)


def test_instants_are_the_browser_s_by_place() -> None:
    found = read_instants(
        PAGE, [trial(), page_load(measured=False), LOAD, DOCUMENT, seen(5, 80, 80, 80, 80, 80, 81, 99, 100)]
    )
    assert found is not None
    assert (found.load_ms, list(found.requests)) == (500.0, [0, 5])
    one = found.requests[0]
    assert (one.dns_end_ms, one.connect_end_ms, one.response_end_ms, one.protocol) == (10, 30, 70, "h2")
    assert one.teller is InstantSource.BROWSER


def test_firefox_s_look_up_begins_with_its_request_and_is_a_host_s_first() -> None:
    load = msgspec.structs.replace(LOAD, browser="firefox")
    first = seen(5, 80, 120, 120.1, 120.1, 140, 140, 170, 180)
    again = seen(0, 0, 30, 30.1, 30.1, 50, 50, 60, 70)
    warm = seen(3, 100, 100, 100, 100, 100, 101, 150, 160)
    found = read_instants(PAGE, [trial(), load, first, again, warm])
    assert found is not None
    assert {place: one.dns_start_ms for place, one in found.requests.items()} == {0: 0, 3: 100, 5: 120}
    assert read_instants(PAGE, [trial(), LOAD, again]).requests[0].dns_start_ms == 30  # type: ignore[union-attr]


def test_what_the_browser_left_out_is_the_server_s_on_the_browser_s_clock() -> None:
    kept = [
        trial(),
        LOAD,
        DOCUMENT,
        served(0, 40, 50),
        served(INSIDE, 200, 260),
        served(FRAME, 150, 170, method="OPTIONS"),
    ]
    found = read_instants(PAGE, kept, round_trip_ms=20)
    assert found is not None
    assert list(found.requests) == [0, INSIDE]
    one = found.requests[INSIDE]
    assert (one.teller, one.start_ms, one.request_start_ms) == (InstantSource.SERVER, 190, 190)
    assert (one.response_start_ms, one.response_end_ms) == (269, 270)
    assert found.requests[0].teller is InstantSource.BROWSER
    path = critical_path(PAGE, found, {1: 20})
    assert path.links[-1].parts_ns == {
        PhaseKind.UNTOLD: 120_000_000, PhaseKind.ROUND_TRIP: 20_000_000, PhaseKind.SERVER: 59_000_000, PhaseKind.TRANSFER: 1_000_000,
    }  # fmt: skip
    assert path.server_told_count == 1


def test_requests_of_the_warm_up_are_none_of_the_load() -> None:
    found = read_instants(PAGE, [trial(), LOAD, DOCUMENT, served(INSIDE, -300, -260)])
    assert found is not None
    assert list(found.requests) == [0]


def test_a_chain_of_redirects_told_as_one_has_its_last_request_s_phases() -> None:
    # Resource Timing: startTime is the first request's, every phase the last one's.
    folded = seen(1, 100, 150, 165, 165, 185, 186, 220, 230)
    found = read_instants(PAGE, [trial(), LOAD, DOCUMENT, folded, seen(5, 240, 240, 240, 240, 240, 241, 290, 300)])
    assert found is not None
    first, last = found.requests[1], found.requests[2]
    assert (first.start_ms, first.response_end_ms, first.dns_start_ms) == (100, 150, None)
    assert (last.start_ms, last.dns_start_ms, last.dns_end_ms, last.response_end_ms) == (150, 150, 165, 230)
    path = critical_path(PAGE, found)
    assert [link.place for link in path.links] == [0, 1, 2, 5]
    assert path.links[1].parts_ns == {PhaseKind.BROWSER: 30_000_000, PhaseKind.UNTOLD: 50_000_000}
    assert path.blocking_hosts == (0, 2)


def test_a_document_that_was_redirected_is_told_by_its_last_address() -> None:
    page = model(document(status=301), request(0, Discovery.REDIRECT, Kind.DOCUMENT, host=1), hosts=2)
    found = read_instants(page, [trial(), LOAD, seen(1, 0, 40, 50, 50, 70, 71, 90, 95, page=page)])
    assert found is not None
    assert [(place, one.start_ms, one.response_end_ms) for place, one in found.requests.items()] == [
        (0, 0, 40), (1, 40, 95),
    ]  # fmt: skip


def test_loads_without_an_end_and_pages_without_a_model_have_no_path() -> None:
    failed = page_load(failure=PageFailure.PAGE_TIMEOUT)
    assert read_instants(PAGE, [trial(), failed, DOCUMENT]) is None
    ordinary = records()
    assert any(isinstance(one, PageLoadRecord) and one.plt_ms for one in ordinary)
    assert HOST in str(ordinary)
    assert read_instants(PAGE, ordinary) is None


@pytest.mark.parametrize("failure", list(PageFailure))
def test_a_failed_load_with_a_load_event_has_no_path(failure: PageFailure) -> None:
    """A load that lacks a part of its page has its load event sooner for it."""
    failed = msgspec.structs.replace(LOAD, failure=failure)
    assert read_instants(PAGE, [trial(), LOAD, DOCUMENT]) is not None
    assert read_instants(PAGE, [trial(), failed, DOCUMENT]) is None
    assert find_failure([trial(), failed]) == failure


def test_before_format_1_8_the_flag_says_that_a_load_is_incomplete() -> None:
    end = TrialEndRecord(trial_id="b000-t000", monotonic_ns=9, flags=[TrialFlag.RESOURCES_MISSING])
    assert find_failure([trial(), LOAD, DOCUMENT, end]) == PageFailure.INCOMPLETE
    assert read_instants(PAGE, [trial(), LOAD, DOCUMENT, end]) is None
    other = msgspec.structs.replace(end, flags=[TrialFlag.LATENESS_EXCEEDED])
    assert find_failure([trial(), LOAD, DOCUMENT, other]) is None
