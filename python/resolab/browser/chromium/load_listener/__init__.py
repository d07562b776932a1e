"""Listening to a whole load in Chromium: the page, cross-site frames and workers, as one list of events."""
