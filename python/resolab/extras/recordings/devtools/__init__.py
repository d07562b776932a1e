"""Logs of the Chrome DevTools Protocol as recordings."""
