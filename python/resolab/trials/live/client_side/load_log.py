"""The log of a browser during page loads, read load by load.

For: switching the log on, and reading the part for a load: `mark` before, `read` after. Not for: the content of the
log.
"""

from pathlib import Path
from typing import Protocol

import msgspec

from resolab.basics.records import BrowserKind
from resolab.browser import BrowserSettings
from resolab.browser.browser_log import BrowserLog
from resolab.browser.chromium.netlog import NetlogFollower
from resolab.browser.firefox.command import LOG_SUFFIX
from resolab.browser.firefox.log import FirefoxLogFollower


class LoadLog(Protocol):
    """The log of a browser process."""

    def mark(self) -> None:
        """Mark the beginning of a load's part."""

    def read(self) -> BrowserLog | None:
        """Return the log since the mark; raises `ConfigurationError` naming the unreadable part."""


class NoLog:
    """The empty log of a browser without a log file."""

    def mark(self) -> None:
        """Do nothing, as there is no log."""

    def read(self) -> None:
        """Return nothing, as there is no log."""


def log_settings(
    browser: BrowserKind, settings: BrowserSettings, file: Path, *, is_wanted: bool = True
) -> tuple[BrowserSettings, LoadLog]:
    """Make a browser, before its start, write a log file, and return the log's reader.

    Firefox writes a log only with its own DoH: otherwise the channels say as much. A log costs work beside the load.
    Without `is_wanted`, facts found only in a log stay unknown.
    """
    if not is_wanted:
        return settings, NoLog()
    if browser is BrowserKind.CHROMIUM:
        return msgspec.structs.replace(settings, netlog_file=file), NetlogFollower(file)
    if settings.doh is None:
        return settings, NoLog()
    settings = msgspec.structs.replace(settings, netlog_file=file, netlog_for_judging=True)
    return settings, FirefoxLogFollower(file.with_name(file.name + LOG_SUFFIX))
