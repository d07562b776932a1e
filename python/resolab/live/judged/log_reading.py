"""The log of a browser that loads pages, load by load.

For: switching it on, and reading the part that is of one load: `mark` before, `read` after. Not for: what it says.
"""

from pathlib import Path
from typing import Protocol

import msgspec

from resolab.browser import BrowserSettings
from resolab.browser.browser_log import BrowserLog
from resolab.browser.chromium.netlog import FollowedNetlog
from resolab.browser.firefox.command import LOG_SUFFIX
from resolab.browser.firefox.log import FollowedLog
from resolab.records import BrowserName


class LoadLog(Protocol):
    """One browser process's log."""

    def mark(self) -> None:
        """Begin a load's part here."""

    def read(self) -> BrowserLog | None:
        """Return what is of the load since the mark; `ConfigurationError` names what cannot be read."""


class NoLog:
    """Of a browser that needs none."""

    def mark(self) -> None:
        """Do nothing."""

    def read(self) -> None:
        """Return nothing."""


def log_settings(
    browser: BrowserName, settings: BrowserSettings, file: Path, *, is_wanted: bool = True
) -> tuple[BrowserSettings, LoadLog]:
    """Have a browser that is not yet started write its log to a file, and return what reads it.

    Firefox writes none but with its own DoH: of all else its channels tell as much. A log is work beside the load:
    where none `is_wanted`, what only it tells is not known.
    """
    if not is_wanted:
        return settings, NoLog()
    if browser is BrowserName.CHROMIUM:
        return msgspec.structs.replace(settings, netlog_file=file), FollowedNetlog(file)
    if settings.doh is None:
        return settings, NoLog()
    settings = msgspec.structs.replace(settings, netlog_file=file, netlog_for_judging=True)
    return settings, FollowedLog(file.with_name(file.name + LOG_SUFFIX))
