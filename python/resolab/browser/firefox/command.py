"""Firefox's command line and environment.

For: pure construction, with the reason beside each part. Not for: preferences, part of the profile.
"""

from collections.abc import Sequence
from pathlib import Path

from resolab.basics.records import HttpVersion
from resolab.browser.process import tie
from resolab.browser.settings import BrowserSettings

SILENT = 'exec "$@" </dev/null >&2'
"""Sends Firefox's output to standard error; the standard streams carry nothing."""
LOGGED = "timestamp,nsHttp:4,nsHostResolver:5,nsSocketTransport:4,neqo_transport::*:4"
LOGGED_FOR_JUDGING = "sync,timestamp,nsHttp:{http},nsHostResolver:4,pipnss:4"
"""The log modules for judging. For DoH over HTTP/2 the lowest level suffices, with a fourth of the lines; QUIC sessions
have names from level 3 on."""
LOG_SUFFIX = ".moz_log"
"""The suffix added by Firefox to the log's name."""


def command_line(binary: Path, settings: BrowserSettings, profile_folder: Path, temporary_folder: Path) -> list[str]:
    """Build the browser's argument vector with the environment in front, without prefix."""
    environment = {
        # Else the preference that names no settings server is not heeded.
        "MOZ_REMOTE_SETTINGS_DEVTOOLS": "1",
        "MOZ_CRASHREPORTER_DISABLE": "1",
        "MOZ_HEADLESS_WIDTH": str(settings.window_width_px),
        "MOZ_HEADLESS_HEIGHT": str(settings.window_height_px),
        # What its processes leave behind when they are killed goes with the profile.
        "TMPDIR": str(temporary_folder),
    }
    if settings.netlog_file is not None:
        environment |= {"MOZ_LOG": _choose_log_modules(settings), "MOZ_LOG_FILE": str(settings.netlog_file)}
    if settings.key_log_file is not None:
        environment["SSLKEYLOGFILE"] = str(settings.key_log_file)
    return [
        "env",
        *(f"{name}={value}" for name, value in environment.items()),
        str(binary),
        "--headless",
        "--no-remote",
        "--profile",
        str(profile_folder),
        "--marionette",
        # The agent works with the browser's own rights.
        "--remote-allow-system-access",
        *settings.extra_flags,
        "about:blank",
    ]


def _choose_log_modules(settings: BrowserSettings) -> str:
    if not settings.netlog_for_judging:
        return LOGGED
    over_quic = settings.doh is not None and settings.doh.http_version is HttpVersion.H3
    return LOGGED_FOR_JUDGING.format(http=3 if over_quic else 1)


def whole_command(prefix: Sequence[str], browser: Sequence[str]) -> list[str]:
    """Tie the command to this process outside the prefix, and inside to the prefix's own process."""
    return [*tie(), *prefix, "/bin/sh", "-c", SILENT, "sh", *tie(), *browser]
