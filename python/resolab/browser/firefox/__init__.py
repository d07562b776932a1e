"""Firefox, driven over Marionette, the browser's own remote protocol."""

from resolab.browser.firefox.driver import Firefox

__all__ = ["Firefox"]
