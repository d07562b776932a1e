"""The resolver's distance reaches its address and no other, beyond what a profile already has there."""

import ipaddress

import msgspec
import pytest

from resolab.basics.records import FarNetwork
from resolab.lab.distance import longest_rtt_ms, move_page, move_resolver, page_rtt_ms, resolver_rtt_ms
from resolab.lab.layout import PageOrigin, PageSite
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus, PageDistances
from resolab.plan.pages.serving import Serving

CORPUS = Corpus.from_project()


def far_of(profile):
    return {one.network: one.extra_one_way_delay_ms for one in profile.far or []}


def test_half_of_it_is_added_in_each_direction_at_one_address():
    profile = CORPUS.profile("4g-h20")
    moved = move_resolver(profile, 26.65)
    assert far_of(moved) == {"10.77.0.1/32": 13.325}
    assert (moved.up, moved.down, moved.mtu_bytes) == (profile.up, profile.down, profile.mtu_bytes)
    assert resolver_rtt_ms(moved) == 53.3 + 26.65
    assert move_resolver(profile, 0.0) is profile


def test_what_a_profile_has_far_away_stays_and_what_holds_the_resolver_is_added_to():
    default = CORPUS.profile("default-h20")
    moved = move_resolver(default, 25)
    assert far_of(moved) == {"10.77.1.0/24": 10, "10.77.0.1/32": 12.5}
    assert (resolver_rtt_ms(default), resolver_rtt_ms(moved), longest_rtt_ms(moved)) == (1, 26, 26)
    assert longest_rtt_ms(default) == 21
    wide = [FarNetwork(network="10.77.0.0/16", extra_one_way_delay_ms=3)]
    exact = [*wide, FarNetwork(network="10.77.0.1/32", extra_one_way_delay_ms=5)]
    for far, one_way_ms in ((wide, 13), (exact, 15)):
        found = far_of(move_resolver(msgspec.structs.replace(default, far=far), 20))
        assert found == {"10.77.0.0/16": 3, "10.77.0.1/32": one_way_ms}


def site_at(**extra_rtt_ms):
    """A page whose names, in order of their keywords, stand at addresses written with _ for a dot."""
    origins = [
        PageOrigin(host=f"h{number}.test", address=address[1:].replace("_", "."), folder=None,
               serving=Serving(extra_rtt_ms=extra_ms))
        for number, (address, extra_ms) in enumerate(extra_rtt_ms.items())
    ]  # fmt: skip
    return PageSite(page="x", origins=tuple(origins), path="/")


def test_a_pages_far_names_have_entries_of_their_own_and_the_others_none():
    profile = CORPUS.profile("4g-h20")
    assert move_page(profile, site_at(_10_77_1_1=0.0)) is profile
    site = site_at(_10_77_1_1=0.0, _10_77_1_2=12.5, _10_77_9_3=80)
    moved = move_page(profile, site)
    assert far_of(moved) == {"10.77.1.2/32": 6.25, "10.77.9.3/32": 40}
    assert longest_rtt_ms(moved) == 53.3 + 80
    assert page_rtt_ms(moved, site) == pytest.approx(53.3 + (12.5 + 80) / 3)
    assert resolver_rtt_ms(moved) == 53.3
    both = move_resolver(moved, 10)
    assert far_of(both) == far_of(moved) | {"10.77.0.1/32": 5}


def test_a_page_is_farther_away_beyond_where_the_profile_has_all_pages():
    default = CORPUS.profile("default-h20")
    far = far_of(move_page(default, site_at(_10_77_1_1=0.0, _10_77_1_2=12.5)))
    assert far == {"10.77.1.0/24": 10, "10.77.1.2/32": 16.25}
    # Of names at one address the nearest counts.
    shared = PageSite(page="x", origins=tuple(
        PageOrigin(host=f"h{ms}.test", address="10.77.1.4", folder=None, serving=Serving(extra_rtt_ms=ms)) for ms in (9, 4, 6)
    ), path="/")  # fmt: skip
    assert far_of(move_page(CORPUS.profile("4g-h20"), shared)) == {"10.77.1.4/32": 2}


def test_a_profile_that_has_the_first_network_far_away_has_all_addresses_of_pages_there():
    default = CORPUS.profile("default-h20")
    beyond = site_at(_10_77_1_253=0.0, _10_77_2_1=0.0, _10_77_255_254=0.0, _10_77_100_7=0.0)
    moved = move_page(default, beyond)
    assert page_rtt_ms(moved, beyond) == 21
    assert resolver_rtt_ms(moved) == 1
    networks = [ipaddress.IPv4Network(one) for one in far_of(moved)]
    assert sum(one.num_addresses for one in networks) == 255 * 256
    assert page_rtt_ms(move_page(CORPUS.profile("4g-h20"), beyond), beyond) == 53.3


def test_a_plan_can_have_all_servers_of_a_page_at_one_distance():
    def farther(distances: PageDistances) -> set[bool]:
        site = assign_sites(CORPUS, ["google-2021-10"], distances)["google-2021-10"]
        return {origin.serving.extra_rtt_ms > 0 for origin in site.origins}

    assert True in farther(PageDistances.RECORDED)
    assert farther(PageDistances.NONE) == {False}
