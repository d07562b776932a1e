"""The resolver's distance reaches its address and no other, beyond what a profile already has there."""

import msgspec

from resolab.plan import Corpus
from resolab.records import FarNetwork
from resolab.testbed.distance import longest_rtt_ms, resolver_rtt_ms, with_resolver_at

CORPUS = Corpus.of_project()


def far_of(profile):
    return {one.network: one.extra_one_way_delay_ms for one in profile.far or []}


def test_half_of_it_is_added_in_each_direction_at_one_address():
    profile = CORPUS.profile("4g-h20")
    moved = with_resolver_at(profile, 26.65)
    assert far_of(moved) == {"10.77.0.1/32": 13.325}
    assert (moved.up, moved.down, moved.mtu_bytes) == (profile.up, profile.down, profile.mtu_bytes)
    assert resolver_rtt_ms(moved) == 53.3 + 26.65
    assert with_resolver_at(profile, 0.0) is profile


def test_what_a_profile_has_far_away_stays_and_what_holds_the_resolver_is_added_to():
    default = CORPUS.profile("default-h20")
    moved = with_resolver_at(default, 25)
    assert far_of(moved) == {"10.77.1.0/24": 10, "10.77.0.1/32": 12.5}
    assert (resolver_rtt_ms(default), resolver_rtt_ms(moved), longest_rtt_ms(moved)) == (1, 26, 26)
    assert longest_rtt_ms(default) == 21
    wide = [FarNetwork(network="10.77.0.0/16", extra_one_way_delay_ms=3)]
    exact = [*wide, FarNetwork(network="10.77.0.1/32", extra_one_way_delay_ms=5)]
    for far, one_way_ms in ((wide, 13), (exact, 15)):
        found = far_of(with_resolver_at(msgspec.structs.replace(default, far=far), 20))
        assert found == {"10.77.0.0/16": 3, "10.77.0.1/32": one_way_ms}
