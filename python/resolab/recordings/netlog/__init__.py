"""Connections of a recorded load from Chromium's netlog: which there were, who used them, which names shared one.

For: what a HAR does not tell. Not for: reading logs (`browser.chromium.netlog`) or cutting them by trial
(`evidence.netlog`).
"""

from resolab.recordings.netlog.connections import PageConnections
from resolab.recordings.netlog.joining import import_with_netlog

__all__ = ["PageConnections", "import_with_netlog"]
