"""Firefox, driven over Marionette, its own remote protocol."""

from resolab.browser.firefox.driver import Firefox

__all__ = ["Firefox"]
