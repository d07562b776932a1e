"""The closed forms of what a query and a page load wait for the link."""

from dataclasses import replace

import numpy as np
import pytest

from resolab.basics.records import (
    DirectionProfile,
    DnsTransport,
    HandshakeMode,
    HttpVersion,
    LinkProfile,
    PolicerSettings,
)
from resolab.campaign.page_time import (
    AccessLink,
    PageSize,
    clone_link_s,
    estimate_most_losses,
    load_link_s,
    most_losses,
    query_link_s,
)
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus

CORPUS = Corpus.from_project()
IDEAL = AccessLink(rtt_s=0.1, resolver_rtt_s=0.03, rate_bps=float("inf"), down_loss_ratio=0.0, exchange_loss_ratio=0.0)
DOCUMENT = PageSize(body_bytes=1_000, requests_count=1, names_count=1)
FULL = {
    "dns_transport": DnsTransport.DOUDP,
    "dns_handshake_mode": HandshakeMode.FULL,
    "warm_dns": False,
    "http_version": HttpVersion.H3,
    "handshake_mode": HandshakeMode.FULL,
}


def test_a_pages_size_is_that_of_its_files_requests_and_names() -> None:
    sizes = {page: PageSize.from_page(site) for page, site in assign_sites(CORPUS, ["example", "names-12"]).items()}
    assert sizes["example"] == PageSize(body_bytes=1_256, requests_count=1, names_count=1)
    assert sizes["names-12"] == PageSize(body_bytes=320_750, requests_count=40, names_count=12)


@pytest.mark.parametrize(
    ("changes", "resolver_round_trips", "page_round_trips"),
    [
        ({}, 1, 2),
        ({"dns_transport": DnsTransport.DOH}, 3, 2),
        ({"dns_transport": DnsTransport.DOQ, "dns_handshake_mode": HandshakeMode.ZERO_RTT}, 1, 2),
        ({"dns_transport": DnsTransport.DOT, "warm_dns": True}, 1, 2),
        ({"dns_transport": None}, 0, 2),
        ({"handshake_mode": HandshakeMode.ZERO_RTT}, 1, 1),
        ({"http_version": HttpVersion.H2}, 1, 3),
    ],
)
def test_a_document_takes_its_round_trips(
    changes: dict[str, object], resolver_round_trips: int, page_round_trips: int
) -> None:
    taken_s = load_link_s(DOCUMENT, IDEAL, **(FULL | changes))  # type: ignore[arg-type]
    assert taken_s == pytest.approx(resolver_round_trips * 0.03 + page_round_trips * 0.1)


def test_a_clone_takes_what_its_graph_says_and_no_less_than_its_bytes() -> None:
    size = PageSize(body_bytes=1_000_000, requests_count=40, names_count=10)
    over = {"dns_transport": DnsTransport.DOUDP, "warm_dns": False}
    assert clone_link_s(size, IDEAL, 5.0, **over) == 5.0  # type: ignore[arg-type]
    # Opening the connection to the resolver, once, and nothing where it stands.
    assert clone_link_s(size, IDEAL, 5.0, dns_transport=DnsTransport.DOT, warm_dns=False) == pytest.approx(5.06)
    assert clone_link_s(size, IDEAL, 5.0, dns_transport=DnsTransport.DOT, warm_dns=True) == 5.0
    slow = replace(IDEAL, rate_bps=1e6)
    assert clone_link_s(size, slow, 5.0, **over) == pytest.approx(1_125_000 * 8 / 1e6)  # type: ignore[arg-type]


def test_further_requests_names_and_bytes_take_round_trips_of_their_own() -> None:
    def round_trips(**size: int) -> float:
        found = load_link_s(replace(DOCUMENT, **size), replace(IDEAL, resolver_rtt_s=0.1), **FULL)  # type: ignore[arg-type]
        return round(found / 0.1, 6)

    assert round_trips() == 3
    assert round_trips(requests_count=5) == 4
    # A look-up and a connection more.
    assert round_trips(requests_count=5, names_count=4) == 6
    # 14.6 kB in the first round trip, 29.2 in the second, 58.4 in the third.
    assert round_trips(body_bytes=14_600) == 3
    assert round_trips(body_bytes=14_600 * 3) == 4
    assert round_trips(body_bytes=14_600 * 7) == 5
    assert 4 < round_trips(body_bytes=14_600 * 5) < 5


def test_bytes_take_their_time_on_a_slow_link_and_its_window_is_soon_full() -> None:
    slow = replace(IDEAL, rate_bps=1e6)
    heavy = PageSize(body_bytes=1_000_000, requests_count=1, names_count=1)
    waits_s = load_link_s(heavy, slow, **FULL)  # type: ignore[arg-type]
    assert waits_s == pytest.approx(0.03 + 2 * 0.1 + (1_080_000 + 4_500) * 8 / 1e6, abs=1e-6)


def test_a_query_and_the_ones_on_its_connection() -> None:
    assert query_link_s(DnsTransport.DOH, IDEAL, names_count=1) == pytest.approx(3 * 0.03)
    assert query_link_s(DnsTransport.DOH, IDEAL, names_count=9) == pytest.approx(11 * 0.03)
    assert query_link_s(DnsTransport.DOUDP, IDEAL, names_count=9) == pytest.approx(9 * 0.03)


def test_lost_queries_wait_for_the_c_librarys_timeout() -> None:
    lossy = replace(IDEAL, down_loss_ratio=0.02, exchange_loss_ratio=0.04)
    clean, lost = (query_link_s(DnsTransport.DOUDP, link, names_count=9) for link in (IDEAL, lossy))
    assert lost - clean == pytest.approx(9 * 5 * 0.04 / 0.96, rel=0.03)
    many, few = (
        load_link_s(PageSize(1_000, 40, names), lossy, **FULL)  # type: ignore[arg-type]
        - load_link_s(PageSize(1_000, 40, names), IDEAL, **FULL)  # type: ignore[arg-type]
        for names in (12, 2)
    )
    assert many > 1.5 + few


def test_the_unluckiest_of_many_is_as_simulated() -> None:
    rng = np.random.default_rng(1)
    assert estimate_most_losses(1, 0.25) == pytest.approx(1 / 3, rel=0.01)
    assert estimate_most_losses(30, 0.0) == most_losses(30, 0.0) == 0
    failures = rng.geometric(0.8, (200_000, 12)) - 1
    assert estimate_most_losses(12, 0.2) == pytest.approx(failures.max(axis=1).mean(), rel=0.02)
    assert most_losses(1, 0.7) == pytest.approx(0.7, rel=0.01)
    for mean in (0.4, 60.0, 900.0):
        losses = rng.poisson(mean, (20_000, 12))
        assert most_losses(12, mean) == pytest.approx(losses.max(axis=1).mean(), rel=0.02)


def test_a_link_that_loses_everything_has_an_end() -> None:
    assert estimate_most_losses(3, 1.0) == float("inf")
    assert most_losses(3, 1e9) == 1e9


def test_a_policed_link_takes_its_rate_beyond_the_burst() -> None:
    way = DirectionProfile(one_way_delay_ms=50.0)
    policed = DirectionProfile(
        one_way_delay_ms=50.0, policer=PolicerSettings(rate_bps=1e6, burst_bytes=10**6), loss_ratio=0.0
    )
    profile = LinkProfile(name="x", source="test", up=way, down=policed)
    link = AccessLink.from_profile(profile, rtt_s=0.1, resolver_rtt_s=0.03)
    assert (link.rate_bps, link.burst_bytes) == (1e6, 1e6)
    unlimited = replace(IDEAL, rate_bps=1e15)
    small = PageSize(body_bytes=5_000, requests_count=1, names_count=1)
    assert load_link_s(small, link, **FULL) == pytest.approx(load_link_s(small, unlimited, **FULL))
    heavy = PageSize(body_bytes=5_000_000, requests_count=1, names_count=1)
    without_burst = load_link_s(heavy, replace(link, burst_bytes=0.0), **FULL)
    assert without_burst - load_link_s(heavy, link, **FULL) == pytest.approx(8.0)
