"""Trials of the kind `page_load`: cold exchanges of our own client, then a page load in a browser.

For: `PageLoadRunner`. Not for: path and edge (`lab`).
"""
