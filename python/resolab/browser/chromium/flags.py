"""Chromium's command line, made from the settings common to every browser.

For: pure construction of flags, each with the reason beside the flag; errors for settings impossible in Chromium.
Not for: files of the profile (`profile`) or the process (`process`).
"""

from pathlib import Path

from resolab.basics.errors import UnsupportedError
from resolab.basics.records import HttpVersion
from resolab.browser.settings import BrowserSettings, H3Discovery, NameResolution

NOWHERE, DIRECT = "http://127.0.0.1:1", "direct://"
"""The proxies of a browser allowed to ask for any name. The browser's own requests go to an absent proxy, the requests
of pages go out directly."""
QUIET_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    # Without it a failed page is loaded again and again by the error page.
    "--enable-automation",
    # A page that is measured is never treated as one in the background.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--remote-debugging-pipe",
)

DISABLED_FEATURES = (
    "AutofillServerCommunication",
    # The warm-up page must not live on beside the measured one.
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationGuideModelDownloading",
    "OptimizationHints",
    # These start renderers for parts of every new window, which take a second of processor beside the measured load.
    "PreloadTopChromeWebUI",
    "PrivacySandboxSettings4",
    # A renderer in reserve, started beside the measured load and never used: every load has a context of its own.
    "SpareRendererForSitePerProcess",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)


def command_line(binary: Path, settings: BrowserSettings, profile_folder: Path) -> list[str]:
    """Build the browser's argument vector, without prefix."""
    check_supported(settings)
    flags = [
        str(binary),
        *QUIET_FLAGS,
        # In a user namespace, and as root, it cannot be set up; the lab's own pages do no harm.
        *([] if settings.own_sandbox else ["--no-sandbox"]),
        f"--disable-features={','.join(_list_disabled_features(settings))}",
        f"--user-data-dir={profile_folder}",
        f"--window-size={settings.window_width_px},{settings.window_height_px}",
        f"--host-resolver-rules={_resolver_rules(settings)}",
        *_http_version_flags(settings),
    ]
    if settings.any_name:
        flags.append(f"--proxy-server={NOWHERE}")
    if settings.netlog_file is not None:
        flags.append(f"--log-net-log={settings.netlog_file}")
    if settings.key_log_file is not None:
        flags.append(f"--ssl-key-log-file={settings.key_log_file}")
    return [*flags, *settings.extra_flags, "about:blank"]


def check_supported(settings: BrowserSettings) -> None:
    """Raise `UnsupportedError` for settings impossible in this browser."""
    if settings.http_version is HttpVersion.H1 and settings.doh is not None:
        raise UnsupportedError("chromium cannot speak DoH with HTTP/2 off: its flag is for pages and resolver alike")


def _list_disabled_features(settings: BrowserSettings) -> list[str]:
    resolution = ["AsyncDns"] if settings.name_resolution is NameResolution.GETADDRINFO else []
    return [*DISABLED_FEATURES, *resolution]


def _http_version_flags(settings: BrowserSettings) -> list[str]:
    """Build the flags for pages' HTTP version. QUIC accepts a private authority only for origins in these flags.

    With port 1 the flag forces no use of QUIC.
    """
    doh3 = [f"{settings.doh.host}:443"] if settings.doh and settings.doh.http_version is HttpVersion.H3 else []
    if settings.http_version is HttpVersion.H3:
        port = 443 if settings.h3_discovery is H3Discovery.FORCED else 1
        origins = [*(f"{host}:{port}" for host in settings.h3_hosts), *doh3]
    else:
        origins = doh3
    flags = ["--disable-http2"] if settings.http_version is HttpVersion.H1 else []
    if origins:
        flags.append(f"--origin-to-force-quic-on={','.join(origins)}")
    elif settings.http_version is not HttpVersion.H3:
        flags.append("--disable-quic")
    return flags


def _resolver_rules(settings: BrowserSettings) -> str:
    names = [*settings.resolvable_names, *([settings.doh.host] if settings.doh else [])]
    return " , ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in names)])
