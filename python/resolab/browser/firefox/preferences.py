"""Firefox's preferences, made from the settings common to every browser.

For: pure construction, with the reason beside each preference; errors for settings impossible in Firefox. Not for:
files of the profile (`profile`), or the forbidden names, refused by the agent (`agent.js`).
"""

import json
from collections.abc import Mapping

from resolab.basics.errors import UnsupportedError
from resolab.basics.records import HttpVersion
from resolab.browser.firefox.silence import SILENT, Preference
from resolab.browser.settings import BrowserSettings, DohMethod, DohSettings, H3Discovery, NameResolution

TRR_ONLY, TRR_OFF = 3, 5

MEASURED: dict[str, Preference] = {
    # Any free port; Firefox writes it into its profile.
    "marionette.port": 0,
    # Look-up and connection shall fall into the navigation and not before it.
    "network.dns.disablePrefetch": True,
    "network.http.speculative-parallel-limit": 0,
    # The lab's links carry IPv4.
    "network.dns.disableIPv6": True,
    # A private authority is no reason against HTTP/3.
    "network.http.http3.disable_when_third_party_roots_found": False,
    # Instants as the browser's clock has them: neither rounded to 1 ms nor to 20 us, nor jittered.
    "privacy.reduceTimerPrecision": False,
    "privacy.reduceTimerPrecision.unconditional": False,
    # The warm-up page must not live on beside the measured one: neither its document nor its process.
    "browser.sessionhistory.max_total_viewers": 0,
    "dom.ipc.disableContentProcessReuse": True,
    "dom.ipc.keepProcessesAlive.webIsolated.max": 0,
    # An endless script runs into the load's own limit and is ended there.
    "dom.ipc.reportProcessHangs": False,
    "dom.max_script_run_time": 0,
    # The preferences of browser tests would change more than is said here.
    "remote.prefs.recommended": False,
    # A measured page is never treated as one in the background, however the machine is.
    "dom.min_background_timeout_value": 4,
    "dom.timeout.enable_budget_timer_throttling": False,
    "widget.windows.window_occlusion_tracking.enabled": False,
    # Nothing is kept for a next start, and nothing asked at the end of this one.
    "browser.sessionstore.resume_from_crash": False,
    "browser.tabs.unloadOnLowMemory": False,
    "browser.tabs.warnOnClose": False,
    "browser.warnOnQuit": False,
    "toolkit.startup.max_resumed_crashes": -1,
    # The answer to a status other than 2xx stands as the server sent it.
    "browser.http.blank_page_with_error_response.enabled": True,
    "browser.download.panel.shown": True,
    "browser.download.useDownloadDir": True,
}


def preferences(settings: BrowserSettings) -> dict[str, Preference]:
    """Build all preferences of the profile."""
    check_supported(settings)
    return {
        **SILENT,
        **MEASURED,
        **_http_version(settings),
        **(_own_doh(settings.doh) if settings.doh else _do53(settings.name_resolution)),
        **settings.extra_preferences,
    }


def user_js(values: Mapping[str, Preference]) -> str:
    """Write preferences as the file read by Firefox at its start."""
    return "".join(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in sorted(values.items()))


def check_supported(settings: BrowserSettings) -> None:
    """Raise `UnsupportedError` for settings impossible in this browser."""
    h1_with_doh_over_h2 = (
        settings.http_version is HttpVersion.H1 and settings.doh and settings.doh.http_version is not HttpVersion.H1
    )
    if h1_with_doh_over_h2:
        raise UnsupportedError("firefox cannot speak DoH over h2 or h3 with HTTP/2 off: one preference is for both")
    if settings.doh and settings.doh.http_version is HttpVersion.H1:
        raise UnsupportedError("firefox cannot speak DoH over HTTP/1.1: it asks for h2 or h3 only")
    if settings.doh and settings.name_resolution is NameResolution.GETADDRINFO:
        raise UnsupportedError("firefox cannot resolve by getaddrinfo and by its own DoH: leave one out")


def _http_version(settings: BrowserSettings) -> dict[str, Preference]:
    if settings.http_version is HttpVersion.H3:
        return _h3_discovery(settings)
    return {
        "network.http.http3.enable": _doh3(settings),
        "network.http.altsvc.enabled": _doh3(settings),
        "network.http.http2.enabled": settings.http_version is HttpVersion.H2,
        "network.dns.use_https_rr_as_altsvc": False,
    }


def _doh3(settings: BrowserSettings) -> bool:
    """Return True for DoH over HTTP/3. The switches for pages also enable DoH's HTTP/3.

    The agent then blocks all Alt-Svc fields of pages.
    """
    return settings.doh is not None and settings.doh.http_version is HttpVersion.H3


def _h3_discovery(settings: BrowserSettings) -> dict[str, Preference]:
    if settings.h3_discovery is H3Discovery.ALT_SVC:
        return {"network.dns.use_https_rr_as_altsvc": False}
    if settings.h3_discovery is H3Discovery.HTTPS_RECORD:
        return {"network.http.altsvc.enabled": _doh3(settings)}
    return {
        # With both, HTTP/3 is neither raced against TCP nor against the arrival of the HTTPS record.
        "network.http.happy_eyeballs_enabled": False,
        "network.dns.force_use_https_rr": True,
        "network.http.http3.alt-svc-mapping-for-testing": ",".join(f"{host};h3=:443" for host in settings.h3_hosts),
    }


def _do53(resolution: NameResolution) -> dict[str, Preference]:
    """Build the preferences for Do53. Firefox asks for addresses by getaddrinfo either way.

    Firefox's own part over Do53 are the HTTPS records.
    """
    return {
        "network.trr.mode": TRR_OFF,
        "network.dns.native_https_query": resolution is NameResolution.BUILT_IN,
    }


def _own_doh(doh: DohSettings) -> dict[str, Preference]:
    return {
        "network.trr.mode": TRR_ONLY,
        "network.trr.uri": doh.url,
        "network.trr.custom_uri": doh.url,
        # Else the server's name is asked over Do53.
        "network.trr.bootstrapAddr": doh.address,
        # Else private addresses are not believed.
        "network.trr.allow-rfc1918": True,
        "network.trr.wait-for-portal": False,
        "network.trr.confirmationNS": "skip",
        "network.trr.force_http3_first": doh.http_version is HttpVersion.H3,
        "network.trr.useGET": doh.method is not DohMethod.POST,
    }
