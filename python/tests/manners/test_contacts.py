"""The list of all that would be contacted, and how resolvers are read for it."""

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.plan.manners import (
    HARD_CAPS,
    ContactReason,
    PlannedContacts,
    contacts,
    find_site,
    names_contacted,
    plain_resolver_url,
    resolver_endpoint,
    resolver_host,
)

INTENDED = PlannedContacts(
    urls=["https://www.shop.test/", "http://news.test/"],
    loads_of={"https://www.shop.test/": 9, "http://news.test/": 9},
    resolvers=[("198.18.8.1", 6), ("tls://198.18.8.1", 6), ("https://dns.quick.test/dns-query", 6)],
    system_resolver="udp://198.18.0.53",
    opt_out="https://lists.test/out.txt",
    batches_count=3,
)


def test_everybody_who_is_known_is_listed() -> None:
    found = contacts(INTENDED, HARD_CAPS)
    rows = [(one.reason.value, one.host, one.port, one.carriers, one.times_at_most) for one in found]
    assert rows == [
        ("opt_out", "lists.test", 443, ("tcp",), 3),
        ("page", "www.shop.test", 443, ("tcp", "quic"), 9),
        ("page", "news.test", 80, ("tcp",), 9),
        ("resolver", "198.18.8.1", 53, ("udp", "tcp"), None),
        ("resolver", "198.18.8.1", 853, ("tcp",), None),
        ("resolver", "dns.quick.test", 443, ("tcp",), None),
        ("bootstrap", "198.18.0.53", 53, ("udp", "tcp"), None),
        ("ping", "198.18.8.1", None, ("icmp",), 60),
        ("ping", "dns.quick.test", None, ("icmp",), 30),
    ]
    assert {one.per_hour_at_most for one in found if one.reason is ContactReason.PAGE} == {60}
    assert names_contacted(found) >= {"198.18.0.53", "lists.test"}


def test_nobody_is_asked_for_addresses() -> None:
    intended = PlannedContacts(urls=["a.test"], loads_of={}, resolvers=[("9.9.9.9", 1)], system_resolver="10.0.0.1")
    assert {one.host for one in contacts(intended, HARD_CAPS)} == {"a.test", "9.9.9.9"}


@pytest.mark.parametrize(
    ("opt_out", "is_asked"),
    [("https://lists.test/out.txt", True), ("https://192.0.2.7/out.txt", False), ("/home/me/out.txt", False)],
)
def test_the_system_is_asked_for_the_lists_server(opt_out, is_asked) -> None:
    intended = PlannedContacts(
        urls=["a.test"], loads_of={}, resolvers=[("9.9.9.9", 1)], system_resolver="10.0.0.1", opt_out=opt_out
    )
    assert ("10.0.0.1" in names_contacted(contacts(intended, HARD_CAPS))) is is_asked


@pytest.mark.parametrize(
    ("text", "transport", "host", "port", "url"),
    [
        ("9.9.9.9", "doudp", "9.9.9.9", 53, "udp://9.9.9.9:53"),
        ("9.9.9.9:5353", "doudp", "9.9.9.9", 5353, "udp://9.9.9.9:5353"),
        ("2620:fe::fe", "doudp", "2620:fe::fe", 53, "udp://[2620:fe::fe]:53"),
        ("[2620:fe::fe]:54", "doudp", "2620:fe::fe", 54, "udp://[2620:fe::fe]:54"),
        ("tcp://9.9.9.9", "dotcp", "9.9.9.9", 53, "tcp://9.9.9.9:53"),
        ("tls://dns.quad9.test", "dot", "dns.quad9.test", 853, "tls://dns.quad9.test:853"),
        ("https://dns.test/q", "doh", "dns.test", 443, "https://dns.test:443"),
        ("h3://dns.test", "doh3", "dns.test", 443, "h3://dns.test:443"),
        ("quic://dns.test:8853", "doq", "dns.test", 8853, "quic://dns.test:8853"),
    ],
)
def test_resolvers_are_read_as_the_core_reads_them(text: str, transport: str, host: str, port: int, url: str) -> None:
    found = resolver_endpoint(text)
    assert (found.dns_transport.value, found.host, found.port, found.url) == (transport, host, port, url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "dns.test",
        "sdns://AgcAAAA",
        "smtp://dns.test",
        "tls://",
        "udp://a:b",
        "tls://a%2Fb",
        "tls://a%ff",
        "tls://1.2.3.4.5",
        "tls://a..b",
    ],
)
def test_what_is_no_resolver_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="resolver"):
        resolver_endpoint(text)


@pytest.mark.parametrize(
    ("host", "spellings"),
    [
        ("dns.test", ["HTTPS://DNS.Test/q", "https://dns.test:443/q", "https://dns.test./q", "tls://dns%2Etest", "quic://d%6Es.test"]),
        ("xn--mnchen-3ya.test", ["tls://münchen.test", "tls://MÜNCHEN.test.", "https://m%C3%BCnchen.test/", "udp://xn--MNCHEN-3ya.test"]),
        ("xn--strae-oqa.test", ["h3://straße.test", "tcp://xn--strae-oqa.test"]),
        ("9.9.9.9", ["9.9.9.9", "[9.9.9.9]", "udp://9.9.9.9.", "tls://0x9.9.2313", "https://151587081", "::ffff:9.9.9.9", "tls://[::ffff:909:909]"]),
        ("fe80::1%eth0", ["fe80::1%eth0", "[FE80:0::1%eth0]", "udp://[fe80::1%25eth0]", "tls://[fe80::1%eth0]:853"]),
    ],
)  # fmt: skip
def test_a_resolver_has_one_cap_in_whatever_spelling(host: str, spellings: list[str]) -> None:
    assert {resolver_host(one) for one in spellings} == {host}


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("HTTPS://DNS.Test.:443/%7eq/%2f?a=%41", "https://dns.test/~q/%2F?a=A"),
        ("https://dns.test", "https://dns.test/dns-query"),
        ("h3://dns.test/?a=b", "h3://dns.test/dns-query?a=b"),
        ("https://dns.test//Q{?dns}", "https://dns.test//Q"),
        ("https://dns.test/?a=b{&dns}", "https://dns.test/dns-query?a=b"),
        ("tls://münchen.test:8853/", "tls://xn--mnchen-3ya.test:8853"),
        ("quic://[2001:DB8::1]:853", "quic://[2001:db8::1]"),
        ("https://me@dns.test/#x", "https://me@dns.test/dns-query#x"),
        ("tls://dns.test/x", "tls://dns.test/x"),
    ],
)
def test_a_resolvers_url_has_one_spelling(url: str, plain: str) -> None:
    assert plain_resolver_url(url) == plain
    assert plain_resolver_url(plain) == plain
    assert resolver_endpoint(url) == resolver_endpoint(plain)


@pytest.mark.parametrize("text", ["sdns://AgcAAAA", "SDNS://AgcAAAA"])
def test_a_stamp_is_refused_in_words(text: str) -> None:
    with pytest.raises(ConfigurationError, match="a stamp cannot be used here; give the URL of its resolver"):
        resolver_endpoint(text)


def test_the_ledger_counts_by_host() -> None:
    assert resolver_host("tls://9.9.9.9") == resolver_host("https://9.9.9.9/dns-query") == "9.9.9.9"


@pytest.mark.parametrize(
    ("url", "site"),
    [
        ("https://www.shop.co.uk/x?y", "shop.co.uk"),
        ("http://a.b.shop.test:8080/", "shop.test"),
        ("shop.test", "shop.test"),
        ("https://198.19.0.1/", "198.19.0.1"),
        ("https://[2001:db8::1]:8443/", "2001:db8::1"),
        ("https://BÜCHER.test/", "xn--bcher-kva.test"),
        ("https://www.straße.test/", "xn--strae-oqa.test"),
        ("ΒΌΛΟΣ.test", "xn--nxasmq6b.test"),
        ("https://EXAMPLE.org:443/", "example.org"),
        ("https://127.1/", "127.0.0.1"),
        ("https://0x7f000001./", "127.0.0.1"),
        ("https://www.example.org./", "example.org"),
        ("https://192\u3002168\u30020\u30021/", "192.168.0.1"),
        ("https://[2001:DB8:0:0::1]/", "2001:db8::1"),
    ],
)
def test_a_site_is_a_registrable_domain(url: str, site: str) -> None:
    assert find_site(url) == site


@pytest.mark.parametrize(
    "url",
    [
        "", "https:///path", "https://[::1/", "https://victim.test\\.other.test/", "https://%31%30.0.0.1/", "https://a b.test/",
        "https://a.test\x00b/", "https://a_{}.test/",
        "a..test", "https://256.1.1.1/", f"{'a' * 64}.test", "a\uff0fb.test",
    ],
)  # fmt: skip
def test_a_url_without_a_host_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="no host"):
        find_site(url)
