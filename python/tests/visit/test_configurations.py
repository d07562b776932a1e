"""Words of the command line as configurations, and as a live plan."""

import pytest

from resolab.basics.errors import ConfigurationError, UsageError
from resolab.basics.records import BrowserKind, DnsTransport
from resolab.extras.visit import VisitRequest, configurations, find_conditions, order, page_url, write_plan


def test_an_address_is_asked_over_every_transport_and_a_url_over_its_own() -> None:
    found = configurations(["local", "198.18.1.1", "tls://dns.quick.test"], [DnsTransport.DOUDP, DnsTransport.DOH])
    assert [(one.name, one.words, one.dns_transport.value, one.url, one.host) for one in found] == [
        ("local", "local", "doudp", "system", ""),
        ("198_18_1_1", "198.18.1.1", "doudp", "udp://198.18.1.1:53", "198.18.1.1"),
        ("198_18_1_1", "198.18.1.1", "doh", "https://198.18.1.1/dns-query", "198.18.1.1"),
        ("dns_quick_test", "dns.quick.test", "dot", "tls://dns.quick.test", "dns.quick.test"),
    ]
    assert [one.label for one in found][1:3] == ["198.18.1.1 DoUDP", "198.18.1.1 DoH"]


def test_an_address_alone_is_asked_over_udp() -> None:
    (found,) = configurations(["2001:db8::1"], [])
    assert (found.dns_transport, found.url, found.is_address) == (DnsTransport.DOUDP, "udp://[2001:db8::1]:53", True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name them with -r"),
        (["198.18.1.1", "udp://198.18.1.1:53"], "are the same over doudp"),
        (["local", "system"], "give each once"),
        (["https://dns.test/q", "https://dns.test:443/q"], "are the same over doh"),
        (["https://dns.test", "HTTPS://DNS.test./dns%2Dquery{?dns}"], "are the same over doh"),
        (["tls://münchen.test", "tls://xn--mnchen-3ya.test:853"], "are the same over dot"),
        (["fe80::1%eth0", "udp://[fe80::1%25eth0]"], "are the same over doudp"),
        (["198.18.1.1:5353"], "write it as a URL"),
    ],
)
def test_what_cannot_be_compared_is_refused(words: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        configurations(words, [DnsTransport.DOUDP, DnsTransport.DOT])


def test_what_is_no_resolver_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="resolver"):
        configurations(["sdns://AgcAAAA"], [])


def test_a_visit_is_a_live_plan() -> None:
    compared = configurations(
        ["local", "https://dns.quick.test/a", "https://dns.quick.test/b", "quic://198.18.1.1:8853"], []
    )
    asked = VisitRequest(
        urls=[page_url("a.test"), page_url("http://b.test/x?y=1")],
        compared=compared,
        browser=BrowserKind.CHROMIUM,
        operator_url="https://lab.uni.test/",
        opt_out="https://lab.uni.test/out",
        seed=5,
        timeout_s=12.5,
    )
    plan = write_plan(asked)
    assert plan.live is not None
    assert (plan.seed, plan.limits.page_timeout_s, plan.live.opt_out) == (5, 12.5, "https://lab.uni.test/out")
    assert len(plan.conditions()) == 8
    visits = order(asked.urls, compared, loads_count=2, seed=5)
    found = find_conditions(plan, visits)
    assert len({one.id for one in found.values()}) == 8
    for visit, condition in found.items():
        assert condition.browser_kind is BrowserKind.CHROMIUM
        assert condition.dns_transport is visit.configuration.dns_transport
        assert plan.live.sites[condition.page].url == visit.url
        endpoint = plan.live.resolvers[condition.resolver].endpoints[condition.dns_transport]
        assert endpoint.host == visit.configuration.host


def test_pages_are_https_unless_said() -> None:
    assert page_url("a.test") == "https://a.test/"
    assert page_url("a.test/b") == "https://a.test/b"
    assert page_url("http://a.test") == "http://a.test/"


@pytest.mark.parametrize(
    "text",
    [
        "EXAMPLE.test", "https://example.test", "HTTPS://Example.Test:443/", "example.test.", "example\u3002test",
        "https://example.test?", "example.test#",
    ],
)  # fmt: skip
def test_one_page_is_one_however_it_is_written(text: str) -> None:
    assert page_url(text) == "https://example.test/"


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.test/A?B=c", "https://example.test/A?B=c"),
        ("http://example.test:443/", "http://example.test:443/"),
        ("m\u00fcnchen.test", "https://xn--mnchen-3ya.test/"),
        ("[2001:DB8:0::1]:8443", "https://[2001:db8::1]:8443/"),
        ("https://a@b.test/", "https://a@b.test/"),
    ],
)
def test_what_is_another_page_stays_one(text: str, url: str) -> None:
    assert page_url(text) == url


def test_an_escape_that_is_not_needed_makes_no_other_page() -> None:
    assert page_url("example.test/%7ea%2f?%41=%26") == "https://example.test/~a%2F?A=%26"
