"""Chromium, driven over the browser's debugging pipe (Chrome DevTools Protocol)."""

from resolab.browser.chromium.driver import Chromium

__all__ = ["Chromium"]
