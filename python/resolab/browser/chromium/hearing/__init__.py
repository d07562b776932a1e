"""Listening to a whole load in Chromium: the page, its cross-site frames and its workers, as one list of events."""
