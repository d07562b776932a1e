"""Hosts and URLs that are the same however they are written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolab.extras.recordings.values import read_host, resolve_target, same_url


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("https://münchen.test/", "xn--mnchen-3ya.test"),
        ("https://MÜNCHEN.Test./", "xn--mnchen-3ya.test"),
        ("https://mu\u0308nchen.test/", "xn--mnchen-3ya.test"),
        ("https://xn--mnchen-3ya.test:8443/", "xn--mnchen-3ya.test"),
        ("https://example。test/", "example.test"),
        ("https://faß.de/", "xn--fa-hia.de"),
        ("https://straße.example/", "xn--strae-oqa.example"),
        ("https://ΒΌΛΟΣ.test/", "xn--nxasmq6b.test"),
        ("https://βόλος.test/", "xn--nxasmm1c.test"),
        ("https://💩.la/", "xn--ls8h.la"),
        ("https://a\u00adb.test/", "ab.test"),
        ("https://a_b.shop.test/", "a_b.shop.test"),
        ("https://[2001:db8::1]:8443/", "2001:db8::1"),
        ("https://192.0.2.7/", "192.0.2.7"),
        ("https:///a", None),
        ("https://./a", None),
        ("ftp://a.test/", None),
        ("https://[::/", None),
        ("https://\uff3bx/", None),
        ("https://a\uff0fb.test/", None),
    ],
)
def test_a_host_has_one_name(written: str, host: str | None) -> None:
    """RFC 5890 section 2.3.2.1: a U-label and its A-label are one name."""
    assert read_host(written) == host


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://münchen.test", "https://xn--mnchen-3ya.test/#top"),
        ("https://ΒΌΛΟΣ.test:443/", "https://xn--nxasmq6b.test/"),
        ("HTTPS://A.test:443/x", "https://a.test/x"),
        ("http://a.test:80/x", "http://a.test/x"),
        ("https://[2001:db8::1]:443/x", "https://[2001:DB8::1]/x"),
    ],
)
def test_equal_urls_are_equal_texts(one: str, other: str) -> None:
    """RFC 3986 section 6.2."""
    assert same_url(one) == same_url(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("https://a.test:80/", "https://a.test/"), ("https://a.test/x", "https://a.test/X"), ("https://a.test:4443/", "https://a.test:443/")],
)  # fmt: skip
def test_other_urls_are_not(one: str, other: str) -> None:
    assert same_url(one) != same_url(other)


HOSTS = st.text(st.sampled_from("ab.[]@\uff0e\u3002\uff3b\uff20\uff1a\u00fc\u00df%-_ \U0001f4a9\ud800"), max_size=9)


@settings(max_examples=600, deadline=None)
@given(HOSTS, st.sampled_from(["", ":443", ":80", ":x", "/", "?", "#"]))
def test_what_has_a_host_keeps_it(host: str, behind: str) -> None:
    url = f"https://{host}{behind}"
    name = read_host(url)
    if name is not None:
        assert read_host(same_url(url)) == name
        assert same_url(same_url(url)) == same_url(url)
        assert read_host(f"https://{name}/") == name or ":" in name


@pytest.mark.parametrize("location", ["https://[", "//[", "\ud800"])
def test_a_redirect_to_no_url_leads_nowhere(location: str) -> None:
    assert resolve_target("https://a.test/", location) in {location, f"https://a.test/{location}"}
