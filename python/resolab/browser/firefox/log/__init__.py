"""The DoH part of Firefox's own log (`MOZ_LOG`): look-ups, and their connections.

For: logs still being written, load by load. Not for: pages' requests, known from their channels without a log
(`firefox.network_log`), or judging (`resolab.trials.live.client_side`).
"""

from resolab.browser.firefox.log.incremental_reader import FirefoxLogFollower

__all__ = ["FirefoxLogFollower"]
