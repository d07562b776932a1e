"""Firefox's own log (`MOZ_LOG`) as what it tells of its DoH: look-ups, and the connections they went over.

For: logs still written, load by load. Not for: pages' requests, whose channels tell the same without a log
(`firefox.network_log`), or judging (`resolab.live.judged`).
"""

from resolab.browser.firefox.log.following import FollowedLog

__all__ = ["FollowedLog"]
