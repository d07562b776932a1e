"""The round trip of an access link, by its profile.

For: the one figure that closed forms, reports and scripts take of a link. Not for: what its queues and rates add, nor
how far the resolver is beyond it (`testbed.distance`).
"""

from resolab.records import LinkProfile


def access_rtt_ms(link: LinkProfile) -> float:
    """Round trip over the access link: the delays of both directions."""
    return link.up.one_way_delay_ms + link.down.one_way_delay_ms
