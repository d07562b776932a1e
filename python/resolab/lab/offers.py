"""The offers of the lab's servers for a condition: tickets for handshakes, and signs of HTTP/3.

For: pure mapping from a condition to the edge's settings. Not for: commands to the edge (`edge_state`).
"""

from resolab.basics.records import H3Discovery, HandshakeMode, TicketPolicy
from resolab.lab.layout import Http3Offer
from resolab.plan import Condition
from resolab.plan.factors import applies

POLICIES = {
    HandshakeMode.FULL: TicketPolicy.NONE,
    HandshakeMode.RESUMED: TicketPolicy.RESUME,
    HandshakeMode.ZERO_RTT: TicketPolicy.EARLY_DATA,
}
OFFERS = {
    H3Discovery.FORCED: Http3Offer.NOTHING,
    H3Discovery.HTTPS_RECORD: Http3Offer.HTTPS_RECORD,
    H3Discovery.ALT_SVC: Http3Offer.ALT_SVC,
}


def choose_offer(condition: Condition) -> Http3Offer:
    """Return the HTTP/3 offer of the page's site: only the offer meant for the browser's discovery."""
    return OFFERS[condition.h3_discovery] if applies("h3_discovery", condition) else Http3Offer.NOTHING
