"""The machine of a live measurement: a resolver per browser, and the stub's listening address.

For: choosing a method permitted by the machine, setting the method up, naming the missing requirements of a better
method. Not for: the measured pages and resolvers.
"""

from resolab.live.network_access.access import LiveGround, standing_ground
from resolab.live.network_access.choice import GroundChoice, choose_ground
from resolab.live.network_access.facts import GroundFacts, PortState, read_facts
from resolab.live.network_access.resolv_conf import SystemResolver, read_system_resolver

__all__ = [
    "GroundChoice",
    "GroundFacts",
    "LiveGround",
    "PortState",
    "SystemResolver",
    "choose_ground",
    "read_facts",
    "read_system_resolver",
    "standing_ground",
]
