"""What one browser process is started with, and the command line that says so.

For: pure construction of flags; each flag's reason stands beside it.
Not for: files of the profile (`profile`) or the process (`process`).
"""

from pathlib import Path
from urllib.parse import urlsplit

import msgspec

QUIET_FLAGS = (
    "--headless",
    "--disable-gpu",
    # In a user namespace, and as root, Chromium's own sandbox cannot be set up; it only ever loads the lab's pages.
    "--no-sandbox",
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
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)


class ChromiumSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Fixed for the life of one browser process."""

    resolvable_names: tuple[str, ...]
    """Names and addresses the browser may ask for (`*.resolab.test`, `127.0.0.1`); everything else fails at once,
    unasked, so that no background request leaves the lab."""
    forced_h3_origins: tuple[str, ...] = ()
    """`host:port` of origins spoken to over HTTP/3 from the first request, without a race against TCP. QUIC accepts a
    private authority only for origins named here (or for a DoH server named here, which then is DoH over HTTP/3)."""
    doh_template: str | None = None
    """DoH in secure mode, e.g. `https://dns.resolab.test/dns-query` (POST); `None`: Do53 to the host's nameserver. The
    server's name must be in the hosts file of the browser's mount namespace: then nothing is asked over Do53."""
    ca_file: Path | None = None
    """Authority (PEM) the browser trusts; certificates are checked against it."""
    scratch_folder: Path | None = None
    """Where the throw-away profile is made; `None`: the system's place for temporary files."""
    binary: Path | None = None
    """`None`: the machine's stock Chromium."""
    window_width_px: int = 1280
    window_height_px: int = 720
    extra_flags: tuple[str, ...] = ()

    @property
    def doh_host(self) -> str | None:
        """Name of the DoH server."""
        return urlsplit(self.doh_template).hostname if self.doh_template else None


def command_line(binary: Path, settings: ChromiumSettings, profile_folder: Path) -> list[str]:
    """Build the browser's argument vector, without prefix."""
    flags = [
        str(binary),
        *QUIET_FLAGS,
        f"--disable-features={','.join(DISABLED_FEATURES)}",
        f"--user-data-dir={profile_folder}",
        f"--window-size={settings.window_width_px},{settings.window_height_px}",
        f"--host-resolver-rules={_resolver_rules(settings)}",
    ]
    if settings.forced_h3_origins:
        flags.append(f"--origin-to-force-quic-on={','.join(settings.forced_h3_origins)}")
    return [*flags, *settings.extra_flags, "about:blank"]


def _resolver_rules(settings: ChromiumSettings) -> str:
    names = [*settings.resolvable_names, *([settings.doh_host] if settings.doh_host else [])]
    return " , ".join(["MAP * ~NOTFOUND", *(f"EXCLUDE {name}" for name in names)])
