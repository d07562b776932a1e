"""The driver of each kind of browser. Not for: a browser's settings or its program (`find`)."""

from collections.abc import Callable, Mapping

from resolab.basics.records import BrowserKind
from resolab.browser.chromium import Chromium, HeadlessShell
from resolab.browser.firefox import Firefox
from resolab.browser.interface import Browser

MAKERS: Mapping[BrowserKind, Callable[[], Browser]] = {
    BrowserKind.CHROMIUM: Chromium,
    BrowserKind.FIREFOX: Firefox,
    BrowserKind.CHROMIUM_HEADLESS_SHELL: HeadlessShell,
}
