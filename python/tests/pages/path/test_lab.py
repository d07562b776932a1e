"""The closed form of a page's structure behind a profile: round trips, transfers, and what a load event waits for."""

import msgspec
import pytest
from made_page_model import MARKUP, SCRIPT, document, model, request

from resolab.basics.records import DirectionProfile, LinkProfile
from resolab.pages.model import Discovery, Kind, ScriptMode
from resolab.pages.path import lab_load_ms, move_to_lab
from resolab.pages.path.lab import transfer_ms

PROFILE = LinkProfile(
    name="made", source="made", up=DirectionProfile(one_way_delay_ms=4), down=DirectionProfile(one_way_delay_ms=6)
)


def script(host: int, **more: object) -> object:
    return request(0, MARKUP, Kind.SCRIPT, host=host, script_mode=ScriptMode.ASYNC, **more)


def test_the_lab_s_round_trips_and_transfers_are_the_profile_s() -> None:
    page = model(document(wire_bytes=10_000, receive_ms=700, first_byte_ms=100), request(0, host=1), hosts=2)
    page = msgspec.structs.replace(
        page,
        hosts=(
            msgspec.structs.replace(page.hosts[0], round_trip_ms=30.0, protocols=("h3",)),
            msgspec.structs.replace(page.hosts[1], round_trip_ms=75.0),
        ),
    )
    fast = msgspec.structs.replace(PROFILE, down=DirectionProfile(one_way_delay_ms=6, rate_bps=8_000_000))
    lab = move_to_lab(page, fast)
    assert [one.round_trip_ms for one in lab.hosts] == [10, 55]
    assert lab.resources[0].receive_ms == 10, "10,000 bytes by 8 Mbit/s"
    first_byte_ms = lab.resources[0].first_byte_ms
    assert first_byte_ms is not None
    assert first_byte_ms + lab.resources[0].receive_ms == 800, "its end in the recording"
    # Look-up, TCP, TLS, request: then the image at once, a look-up at 10 ms and three round trips of 55.
    assert lab_load_ms(lab, fast) == pytest.approx(4 * 10 + 10 + 3 * 55)


@pytest.mark.parametrize(
    ("kind", "discovery", "is_waited_for"),
    [
        (Kind.XHR, SCRIPT, False),
        (Kind.FETCH, SCRIPT, False),
        (Kind.BEACON, SCRIPT, False),
        (Kind.FONT, SCRIPT, False),
        (Kind.IMAGE, SCRIPT, True),
        (Kind.FONT, Discovery.STYLESHEET, True),
    ],
)
def test_a_load_event_waits_for_what_is_used_and_for_others_only_to_be_asked_for(
    kind: Kind, discovery: Discovery, is_waited_for: bool
) -> None:
    asker = request(0, kind=Kind.STYLESHEET) if discovery is Discovery.STYLESHEET else script(0)
    page = model(document(), asker, request(1, discovery, kind, due_ms=25, server_time_ms=300))
    # Look-up, TCP, TLS, two requests; then due_ms, which a style sheet does not have, and the answer.
    asked_ms = 50 + (25 if discovery is SCRIPT else 0)
    assert lab_load_ms(move_to_lab(page, PROFILE), PROFILE) == asked_ms + (310 if is_waited_for else 0)
    led_on = msgspec.structs.replace(page, resources=(*page.resources, request(2, SCRIPT)))
    assert lab_load_ms(move_to_lab(led_on, PROFILE), PROFILE) == asked_ms + 310 + 10


def test_what_comes_in_flights_waits_a_round_trip_for_each() -> None:
    assert transfer_ms(14_480, 20, None) == 0
    assert transfer_ms(14_481, 20, None) == 20
    assert transfer_ms(43_440, 20, 1_000_000) == pytest.approx(20 + 347.52)
    assert transfer_ms(43_441, 20, None) == 40
