"""The machine of a live measurement: a resolver per browser, and the stub's listening address.

For: choosing a method permitted by the machine, setting the method up, naming the missing requirements of a better
method. Not for: the measured pages and resolvers.
"""

from resolab.trials.live.network_access.access import NetworkAccess, open_access
from resolab.trials.live.network_access.choice import AccessChoice, choose_access
from resolab.trials.live.network_access.facts import MachineFacts, PortState, read_facts
from resolab.trials.live.network_access.resolv_conf import SystemResolver, read_system_resolver

__all__ = [
    "AccessChoice",
    "MachineFacts",
    "NetworkAccess",
    "PortState",
    "SystemResolver",
    "choose_access",
    "open_access",
    "read_facts",
    "read_system_resolver",
]
