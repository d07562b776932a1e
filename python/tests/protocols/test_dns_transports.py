import pytest

from resolab.basics.protocols import (
    DNS_TRANSPORTS,
    OVER_HTTP,
    OVER_TCP,
    WITHOUT_CONNECTION,
    WITHOUT_HANDSHAKE,
    WITHOUT_HTTP,
    Carrier,
    find_facts,
    has_handshake,
    transport_label,
    transport_position,
)
from resolab.basics.records import DnsTransport, HttpVersion


def test_the_order_is_that_of_the_enum() -> None:
    assert list(DNS_TRANSPORTS) == list(DnsTransport)
    assert sorted(["doq", "dot", "doudp"], key=transport_position) == ["doudp", "dot", "doq"]


def test_each_list_follows_from_the_table() -> None:
    assert WITHOUT_CONNECTION == ("doudp",)
    assert WITHOUT_HANDSHAKE == ("doudp", "dotcp")
    assert OVER_TCP == ("dotcp", "dot", "doh")
    assert OVER_HTTP == ("doh", "doh3")
    assert WITHOUT_HTTP == ("doudp", "dotcp", "dot", "doq")
    assert [one for one, facts in DNS_TRANSPORTS.items() if facts.carrier is Carrier.QUIC] == ["doh3", "doq"]
    assert [facts.label for facts in DNS_TRANSPORTS.values()] == ["DoUDP", "DoTCP", "DoT", "DoH", "DoH3", "DoQ"]


def test_a_transport_is_asked_for_by_its_word_or_its_name() -> None:
    assert find_facts("doh3") is find_facts(DnsTransport.DOH3)
    assert find_facts("doh3").http_version is HttpVersion.H3
    assert transport_label("doq") == "DoQ"
    assert has_handshake("dot")
    assert not has_handshake("dotcp")
    with pytest.raises(ValueError, match="'dox' is not a valid DnsTransport"):
        find_facts("dox")


def test_urls_are_made_of_the_name_where_a_certificate_is_checked() -> None:
    urls = {str(one): facts.url(name="dns.test", address="10.0.0.1") for one, facts in DNS_TRANSPORTS.items()}
    assert urls == {
        "doudp": "udp://10.0.0.1",
        "dotcp": "tcp://10.0.0.1",
        "dot": "tls://dns.test",
        "doh": "https://dns.test/dns-query",
        "doh3": "h3://dns.test/dns-query",
        "doq": "quic://dns.test",
    }
