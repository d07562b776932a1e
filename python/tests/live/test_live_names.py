"""What is kept of a load's requests: names, servers, and URLs without what is nobody's business."""

from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserKind, DnsTransport
from resolab.browser import NetworkRequest, PageLoad
from resolab.trials.live.authority import further_authority
from resolab.trials.live.names import list_names, list_servers, look_up_spans, look_ups_expected, metadata_url
from resolab.trials.live.user_agents import user_agent, version_number


def request(url: str, address: str | None = None, *, from_cache: bool = False) -> NetworkRequest:
    return NetworkRequest(
        url=url, resource_type="x", method="GET", start_ms=0, remote_address=address, from_cache=from_cache
    )


LOAD = PageLoad(
    url="https://A.test/", measured=True, limit_ms=1,
    network=[
        request("https://a.test/", "10.0.0.1:443"), request("https://cdn.test/x?token=1", "10.0.0.2:443"),
        request("https://cdn.test/y", "10.0.0.2:443"), request("data:image/png;base64,AA"),
        request("https://198.18.0.1/z", "198.18.0.1:443"), request("https://dead.test/"),
        request("https://cached.test/", "10.0.0.3:443", from_cache=True),
    ],
)  # fmt: skip


def test_every_name_once_the_documents_first_failed_ones_too() -> None:
    assert list_names(LOAD) == ["a.test", "cdn.test", "dead.test", "cached.test"]
    assert list_servers(LOAD) == ["a.test=10.0.0.1:443", "cdn.test=10.0.0.2:443", "198.18.0.1=198.18.0.1:443"]


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("https://u:p@a.test:8443/x/y?q=1#f", "https://a.test:8443/x/y"),
        ("data:text/html,secret", "data:"),
        ("https://[bad", ""),
    ],
)
def test_urls_lose_what_was_said(url: str, kept: str) -> None:
    assert metadata_url(url) == kept


def test_browsers_ask_for_v6_only_where_there_is_a_way() -> None:
    def asked(browser: BrowserKind, transport: DnsTransport, *, ipv6: bool = False) -> list[str]:
        look_ups = look_ups_expected(["a.test"], ipv6=ipv6, browser=browser, dns_transport=transport)
        return [qtype for name, qtype in look_ups if name == "a.test"]

    assert asked(BrowserKind.FIREFOX, DnsTransport.DOUDP) == ["A"]
    assert asked(BrowserKind.FIREFOX, DnsTransport.DOUDP, ipv6=True) == ["A", "AAAA"]
    assert asked(BrowserKind.FIREFOX, DnsTransport.DOH) == ["A", "AAAA"]
    assert asked(BrowserKind.CHROMIUM, DnsTransport.DOH) == ["A"]


def test_user_agents_say_who_measures_and_hide_nothing() -> None:
    told = {
        one: user_agent(one, "153.7.0", "https://study.resolab.test/")
        for one in (BrowserKind.CHROMIUM, BrowserKind.FIREFOX)
    }
    assert all(" resolab/" in text and text.endswith("(+https://study.resolab.test/)") for text in told.values())
    assert "HeadlessChrome/153.0.0.0" in told[BrowserKind.CHROMIUM]
    assert "rv:153.0) Gecko/20100101 Firefox/153.0 " in told[BrowserKind.FIREFOX]
    assert version_number("Mozilla Firefox 153.7.0esr") == "153.7.0esr"


def test_a_further_authority_is_read_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESOLAB_AUTHORITY", raising=False)
    assert further_authority(tmp_path) is None
    (tmp_path / "no.pem").write_text("no certificate")
    monkeypatch.setenv("RESOLAB_AUTHORITY", str(tmp_path / "no.pem"))
    with pytest.raises(ConfigurationError, match=r"could not read the authority RESOLAB_AUTHORITY="):
        further_authority(tmp_path)


def test_look_ups_are_within_what_the_browser_tells() -> None:
    def asked(url: str, begin_ms: float | None, end_ms: float | None) -> NetworkRequest:
        return NetworkRequest(
            url=url, resource_type="x", method="GET", start_ms=0, dns_start_ms=begin_ms, dns_end_ms=end_ms
        )

    requests = [
        asked("https://a.test/", 5, 9), asked("https://a.test/again", 700, 710), asked("https://b.test/", None, None),
    ]  # fmt: skip
    load = PageLoad(url="https://a.test/", measured=True, limit_ms=1, network=requests)
    assert look_up_spans(load) == {"a.test": (5, 710)}
