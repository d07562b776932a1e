"""Connections of a recorded load from Chromium's netlog: all connections, their users, and names with a shared one.

For: facts missing in a HAR. Not for: reading logs (`browser.chromium.netlog`) or cutting logs by trial
(`evidence.netlog`).
"""

from resolab.extras.recordings.netlog.connections import PageConnections
from resolab.extras.recordings.netlog.matching import import_with_netlog

__all__ = ["PageConnections", "import_with_netlog"]
