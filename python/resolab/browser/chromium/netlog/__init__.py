"""Logs of Chromium's network stack (`--log-net-log`) as connections and look-ups.

For: whole logs, and logs still being written. Not for: judging loads by a log (`resolab.trials.live.client_side`), or
cutting a log by trial for other programs (`evidence.netlog`).
"""

from resolab.browser.chromium.netlog.incremental_reader import NetlogFollower
from resolab.browser.chromium.netlog.reader import read_netlog

__all__ = ["NetlogFollower", "read_netlog"]
