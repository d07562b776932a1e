"""Chromium, driven over the browser's debugging pipe (Chrome DevTools Protocol)."""

from resolab.browser.chromium.driver import Chromium
from resolab.browser.chromium.headless_shell import HeadlessShell

__all__ = ["Chromium", "HeadlessShell"]
