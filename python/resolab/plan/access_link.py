"""The round trip of an access link, by its profile.

For: the one figure of a link used by closed forms, reports and scripts. Not for: the extra time of queues and rates, or
the resolver's distance beyond the link (`testbed.distance`).
"""

from resolab.basics.records import LinkProfile


def access_rtt_ms(link: LinkProfile) -> float:
    """Round trip over the access link: the delays of both directions."""
    return link.up.one_way_delay_ms + link.down.one_way_delay_ms
