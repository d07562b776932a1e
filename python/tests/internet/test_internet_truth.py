"""The closed form of look-ups, against sums done by hand from the box's distances."""

import pytest
from made_box import a_layout

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport
from resolab.extras.internet.truth import (
    ResolverKnowledge,
    compute_truth_of_servers,
    every_truth,
    find_chain,
    is_within,
    knowledge_behind,
    servers_asked,
    truth,
)

CALIBRE_EXTRA_MS = 4.347
"""Of its document's host, in its page model."""
NAME = "h0.s0-calibre-2020-07.test"


def zone_server() -> str:
    return next(zone.server for zone in a_layout().zones if zone.origin == "s0-calibre-2020-07.test")


def of(resolver, transport, knowledge, connection="cold"):
    layout = a_layout()
    return truth(layout, layout.resolver(resolver), transport, NAME, connection=connection, knowledge=knowledge)


def test_distances_add_up():
    layout = a_layout()
    # 2 ms and 9 ms to the exchange, there and back.
    assert layout.rtt_ms("home", layout.resolver("knot").address) == 22
    assert layout.rtt_ms("knot", layout.server_address("root")) == 48
    # A site may be farther than its host, which is at 2 ms and 3 ms.
    calibre, google = (site.origins[0].address for site in layout.sites[:2])
    assert layout.rtt_ms("home", calibre) == pytest.approx(10 + CALIBRE_EXTRA_MS)
    assert layout.rtt_ms("home", google) == 10
    with pytest.raises(LookupError):
        layout.rtt_ms("home", "198.18.250.1")


@pytest.mark.parametrize(
    ("transport", "cold", "warm"),
    [("doudp", 1, 1), ("dotcp", 2, 1), ("dot", 3, 1), ("doh", 3, 1), ("doh3", 2, 1), ("doq", 2, 1)],
)
def test_a_hit_is_round_trips_to_the_resolver_alone(transport, cold, warm):
    assert of("quick", DnsTransport(transport), ResolverKnowledge.ANSWER).total_ms == cold * 16
    assert of("quick", DnsTransport(transport), ResolverKnowledge.ANSWER, "warm").total_ms == warm * 16


def test_a_miss_adds_a_round_trip_for_each_server_asked():
    layout = a_layout()
    rtt_ms = [layout.rtt_ms("knot", layout.server_address(one)) for one in ("root", "tld-test", zone_server())]
    for known, knowledge in enumerate([ResolverKnowledge.ROOT, ResolverKnowledge.TOP, ResolverKnowledge.ZONE]):
        assert of("knot", DnsTransport.DOH, knowledge).total_ms == 3 * 22 + sum(rtt_ms[known:])


def test_what_was_asked_tells_what_was_known():
    layout = a_layout()
    assert find_chain(layout, NAME) == ["root", "tld-test", zone_server()]
    for knowledge in ResolverKnowledge:
        assert knowledge_behind(layout, NAME, servers_asked(layout, NAME, knowledge)) is knowledge
    assert knowledge_behind(layout, NAME, ["root"]) is None
    assert knowledge_behind(layout, NAME, [zone_server(), zone_server()]) is None


def test_a_name_no_zone_of_its_own_has_ends_at_the_top_domain():
    layout = a_layout()
    assert find_chain(layout, "www.no-such-name.test.") == ["root", "tld-test"]
    assert servers_asked(layout, "www.no-such-name.test", ResolverKnowledge.TOP) == ("tld-test",)
    assert find_chain(layout, "prime.invalid") == ["root"]


@pytest.mark.parametrize("name", ["www.lame-zone.test", "www.servfail-zone.test", "www.silent-zone.test"])
def test_a_name_nobody_serves_has_no_truth(name):
    with pytest.raises(ConfigurationError, match="nobody serves"):
        find_chain(a_layout(), name)


def test_a_server_waits_for_its_tickets_unless_the_recursion_takes_longer():
    layout = a_layout()
    unbound = layout.resolver("unbound")

    def wait_ms(transport, connection, asked):
        keys = {"connection": connection, "knowledge": ResolverKnowledge.ANSWER, "asked": asked}
        return compute_truth_of_servers(layout, unbound, transport, NAME, **keys).ticket_wait_ms

    assert wait_ms(DnsTransport.DOT, "cold", []) == 12 + 44
    assert wait_ms(DnsTransport.DOT, "cold", ["auth-a"]) == 12 + 44 - 24
    assert wait_ms(DnsTransport.DOT, "cold", ["auth-c"]) == 0
    assert wait_ms(DnsTransport.DOT, "warm", []) == 0
    assert wait_ms(DnsTransport.DOH, "cold", []) == 0


def test_within_is_two_milliseconds_and_two_percent():
    assert is_within(103.9, 100)
    assert is_within(96.1, 100)
    assert not is_within(104.1, 100)
    assert not is_within(95.9, 100)


def test_every_offered_way_has_a_truth():
    layout = a_layout()
    told = {(one.resolver, one.dns_transport) for one in every_truth(layout, [NAME])}
    assert told == {(one.name, transport) for one in layout.resolvers for transport in one.transports}
