from resolab.basics.records import DirectionProfile, LinkProfile
from resolab.plan import access_rtt_ms


def test_the_round_trip_is_both_delays_which_may_differ() -> None:
    link = LinkProfile(
        name="dsl",
        source="made",
        up=DirectionProfile(one_way_delay_ms=12.5),
        down=DirectionProfile(one_way_delay_ms=8.0),
    )
    assert access_rtt_ms(link) == 20.5
