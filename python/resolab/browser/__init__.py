"""Stock browsers under the lab's control, driven over their own protocols.

For: starting a browser inside a network namespace, one measured page load in a fresh context, its timings or its
failure as data. Not for: the measured condition, servers, links, or writing records.
"""

from resolab.browser.chromium import Chromium, HeadlessShell
from resolab.browser.find import chromium_version, find_chromium, find_firefox, firefox_version
from resolab.browser.firefox import Firefox
from resolab.browser.interface import Browser
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.result import (
    ClearedState,
    LoadRequest,
    LoadResult,
    NetworkRequest,
    Overhead,
    PageLoad,
    PageTimings,
)
from resolab.browser.settings import BrowserSettings, DohMethod, DohSettings, H3Discovery, NameResolution

__all__ = [
    "Browser",
    "BrowserSettings",
    "Chromium",
    "ClearedState",
    "DohMethod",
    "DohSettings",
    "Firefox",
    "H3Discovery",
    "HeadlessShell",
    "ListeningRequest",
    "LoadEvents",
    "LoadRequest",
    "LoadResult",
    "NameResolution",
    "NetworkRequest",
    "Overhead",
    "PageLoad",
    "PageTimings",
    "chromium_version",
    "find_chromium",
    "find_firefox",
    "firefox_version",
]
