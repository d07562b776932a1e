"""Connections of a recorded load from Chromium's netlog: which there were, who used them, which names shared one.

For: what a HAR does not tell. Not for: cutting logs by trial (`evidence.netlog`).
"""

from resolab.recordings.netlog.connections import Connection, Netlog, PageConnections, Sharing
from resolab.recordings.netlog.joining import import_with_netlog
from resolab.recordings.netlog.reading import read_netlog

__all__ = ["Connection", "Netlog", "PageConnections", "Sharing", "import_with_netlog", "read_netlog"]
