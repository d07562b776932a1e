"""The settings of one browser process for its whole life, in the same words for every browser.

For: data only; each browser's own module raises errors for its impossible settings. Not for: command lines, preferences
and profiles, built by each browser's module.
"""

from pathlib import Path

import msgspec

from resolab.basics.records import BrowserKind, DohMethod, H3Discovery, HttpVersion, NameResolution

__all__ = ["BrowserKind", "BrowserSettings", "DohMethod", "DohSettings", "H3Discovery", "HttpVersion", "NameResolution"]


class DohSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of the browser's own DoH, without a fallback to another transport."""

    host: str
    address: str
    """The address of `host`, to avoid a first query over Do53."""
    http_version: HttpVersion = HttpVersion.H2
    """h2 or h3, the latter from the first query on."""
    method: DohMethod | None = None
    """The HTTP method of DoH; `None`: the browser's default."""
    path: str = "/dns-query"

    @property
    def url(self) -> str:
        """The server's URL without a query."""
        return f"https://{self.host}{self.path}"


ANY_NAME = "*"


class BrowserSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings fixed for the life of one browser process."""

    resolvable_names: tuple[str, ...]
    """Names and addresses allowed to the browser (`*.resolab.test`, `127.0.0.1`). Everything else shall fail without a
    query, so no background request leaves the lab. `*`: every request of a page, and no request of the browser
    itself."""
    http_version: HttpVersion = HttpVersion.H3
    """The HTTP version for pages. With h1 and h2, HTTP/3 is off for pages."""
    h3_discovery: H3Discovery = H3Discovery.FORCED
    h3_hosts: tuple[str, ...] = ()
    """Hosts of pages with forced HTTP/3 on port 443."""
    name_resolution: NameResolution = NameResolution.BUILT_IN
    doh: DohSettings | None = None
    """`None`: Do53 to the host's name server."""
    ca_file: Path | None = None
    """The authority (PEM) trusted by the browser; the browser checks certificates against the authority."""
    scratch_folder: Path | None = None
    """The folder for the throw-away profile; `None`: the system's folder for temporary files."""
    netlog_file: Path | None = None
    """The path of the browser's own log of its network stack, for browsers with a log."""
    netlog_for_judging: bool = False
    """Firefox: log only handshakes and look-ups, each line written at once. When false, log everything, for people."""
    key_log_file: Path | None = None
    """The file for the secrets of the browser's TLS connections (NSS key log); the browser appends."""
    screenshot_folder: Path | None = None
    """The folder for a failed load's screenshot."""
    binary: Path | None = None
    """`None`: the machine's stock browser."""
    own_sandbox: bool = False
    """True when Chromium confines its pages' processes in its sandbox, for foreign pages. Impossible as root."""
    window_width_px: int = 1280
    window_height_px: int = 720
    extra_flags: tuple[str, ...] = ()
    """Added to the command line."""
    extra_preferences: dict[str, bool | int | str] = {}
    """Added to the profile, where the browser has preferences by name."""

    @property
    def any_name(self) -> bool:
        """Return True when pages may request any name; the browser itself then requests nothing."""
        return ANY_NAME in self.resolvable_names
