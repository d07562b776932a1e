"""What one browser process is set to for its whole life, the same words for every browser.

For: data only; which of them a browser cannot do is said by `unsupported` of its own module. Not for: command lines,
preferences and profiles, which are each browser's.
"""

from pathlib import Path

import msgspec

from resolab.records import BrowserName, DohMethod, H3Discovery, HttpVersion, NameResolution

__all__ = ["BrowserName", "BrowserSettings", "DohMethod", "DohSettings", "H3Discovery", "HttpVersion", "NameResolution"]


class DohSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The browser's own DoH, without falling back to anything else."""

    host: str
    address: str
    """Where `host` is, so that nothing is asked over Do53 first."""
    http_version: HttpVersion = HttpVersion.H2
    """h2 or h3, the latter from the first query on."""
    method: DohMethod | None = None
    """`None`: as the browser does it by itself."""
    path: str = "/dns-query"

    @property
    def url(self) -> str:
        """The server's URL without a query."""
        return f"https://{self.host}{self.path}"


ANY_NAME = "*"


class BrowserSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Fixed for the life of one browser process."""

    resolvable_names: tuple[str, ...]
    """Names and addresses the browser may ask for (`*.resolab.test`, `127.0.0.1`); everything else shall fail unasked,
    so that no background request leaves the lab. `*`: whatever a page asks for, and nothing that the
    browser asks for by itself."""
    http_version: HttpVersion = HttpVersion.H3
    """Of pages. h1 and h2: HTTP/3 is off towards pages."""
    h3_discovery: H3Discovery = H3Discovery.FORCED
    h3_hosts: tuple[str, ...] = ()
    """Hosts of pages spoken to over HTTP/3 on port 443 when it is forced."""
    name_resolution: NameResolution = NameResolution.BUILT_IN
    doh: DohSettings | None = None
    """`None`: Do53 to the host's name server."""
    ca_file: Path | None = None
    """Authority (PEM) the browser trusts; certificates are checked against it."""
    scratch_folder: Path | None = None
    """Where the throw-away profile is made; `None`: the system's place for temporary files."""
    netlog_file: Path | None = None
    """Where the browser's own log of its network stack goes, if it has one."""
    netlog_for_judging: bool = False
    """Firefox: only what tells handshakes and look-ups, each line written at once; else everything, for people."""
    key_log_file: Path | None = None
    """Where the browser appends the secrets of its TLS connections (NSS key log)."""
    screenshot_folder: Path | None = None
    """Where a failed load's screenshot goes."""
    binary: Path | None = None
    """`None`: the machine's stock browser."""
    own_sandbox: bool = False
    """Whether Chromium locks its pages' processes up: for pages of others. As root it cannot."""
    window_width_px: int = 1280
    window_height_px: int = 720
    extra_flags: tuple[str, ...] = ()
    """Added to the command line."""
    extra_preferences: dict[str, bool | int | str] = {}
    """Added to the profile, where the browser has preferences by name."""

    @property
    def any_name(self) -> bool:
        """Whether pages may ask for whatever they want; the browser itself then asks for nothing."""
        return ANY_NAME in self.resolvable_names
