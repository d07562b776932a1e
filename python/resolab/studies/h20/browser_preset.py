"""Firefox with the settings of Hounsel et al. (WWW 2020).

For: data. "code": noise-lab/dns-measurement, src/docker/run.py. For a default unchanged by the study, the preset sets
the default of the study's Firefox, 67.0.1, if today's differs.
"""

from msgspec.structs import replace

from resolab.basics.records import HttpVersion
from resolab.browser.presets.shape import Addresses, Preset, Setting, preferences
from resolab.browser.settings import BrowserSettings, DohMethod, NameResolution


def _http2(settings: BrowserSettings, _addresses: Addresses) -> BrowserSettings:
    return replace(settings, http_version=HttpVersion.H2, h3_hosts=())


def _system_resolver(settings: BrowserSettings, _addresses: Addresses) -> BrowserSettings:
    if settings.doh is not None:
        return settings
    return replace(settings, name_resolution=NameResolution.GETADDRINFO)


def _post(settings: BrowserSettings, _addresses: Addresses) -> BrowserSettings:
    if settings.doh is None:
        return settings
    return replace(settings, doh=replace(settings.doh, method=DohMethod.POST))


PRESET = Preset(
    name="h20",
    citation="Hounsel et al., WWW 2020",
    browser="firefox",
    timeout_s=30.0,
    settings=(
        Setting("http2", "pages over HTTP/2, no HTTP/3", "Firefox 67 had no other (paper 3.1.1)", _http2),
        Setting(
            "system_resolver",
            "Do53 by the C library's getaddrinfo in a pool of threads, no HTTPS records",
            "paper 4.2",
            _system_resolver,
        ),
        Setting(
            "no_https_records",
            "over DoH, too, HTTPS records neither choose the protocol nor the scheme",
            "Firefox 67 asked for none (paper 3.1.1)",
            preferences({"network.dns.use_https_rr_as_altsvc": False, "network.dns.upgrade_with_https_rr": False}),
        ),
        Setting("doh_post", "DoH by POST", "default of Firefox 67 (the paper's reference 37)", _post),
        Setting(
            "trr_request_timeout",
            "a DoH query is given up after 1.5 s; in TRR mode 3, which they used, nothing takes over",
            "code",
            # One preference then, two today; the second is the one of mode 3, by default 30 s.
            preferences({"network.trr.request_timeout_ms": 1500, "network.trr.request_timeout_mode_trronly_ms": 1500}),
            wrong="on slow links a first query with its handshakes takes longer: part of the 37 % DNS errors of DoH on "
            "3G in their Table 1 is this limit, which Do53 and DoT did not have (inferred)",
        ),
        Setting(
            "trr_max_fails",
            "DoH is taken for broken after 5 failures",
            "code",
            preferences({"network.trr.max-fails": 5}),
        ),
        Setting(
            "speculation",
            "DNS prefetch, link prefetch and speculative connections as the defaults then had them",
            "paper 3.2.1",
            preferences(
                {
                    "network.dns.disablePrefetch": False,
                    "network.prefetch-next": True,
                    "network.http.speculative-parallel-limit": 6,
                }
            ),
            wrong="look-ups and connections begin before the request they are for: the phases of a HAR then show 0 ms "
            "(paper 3.1.2), so that they took DNS times from another tool afterwards, with the resolver's cache warm",
        ),
        Setting(
            "ipv6_lookups",
            "AAAA is asked beside A; by getaddrinfo only where the host has an IPv6 address",
            "default (paper 3.2.1)",
            preferences({"network.dns.disableIPv6": False}),
        ),
    ),
    not_reproduced=(
        "Firefox 67.0.1: the machine's stock Firefox is taken",
        "a container, and so a browser, for every load: here a fresh context, equally cold, in a browser that runs",
        "developer tools open at the network monitor, for the HAR: they open in a browser's first tab only",
        "Selenium and an extension that writes a HAR with its `onLoad`: here the remote protocol, and plt",
        "the retries, padding and idle time of their DoT stub: those are the stub's settings",
    ),
)
