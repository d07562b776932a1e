"""Live plans: loads over the real network, of sites by their URLs, with resolvers by name.

For: `[network]`, `[sites]` and `[resolvers]` of a plan, and the ordinary plan derived from these. Not for: contacting
any host.
"""

from resolab.plan.live.network import LiveTable, live_table
from resolab.plan.live.resolvers import SYSTEM
from resolab.plan.live.settings import LAB, LIVE_PROFILE, Endpoint, LiveResolver, LiveSettings, LiveSite, SiteList

__all__ = [
    "LAB",
    "LIVE_PROFILE",
    "SYSTEM",
    "Endpoint",
    "LiveResolver",
    "LiveSettings",
    "LiveSite",
    "LiveTable",
    "SiteList",
    "live_table",
]
