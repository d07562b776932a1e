"""The machine a live measurement runs on: how browsers get a resolver of their own, and where the stub listens.

For: choosing a way by what the machine permits, standing on it, saying what is missing for a better one. Not for: what
is measured.
"""

from resolab.live.ground.choice import Choice, choose_ground
from resolab.live.ground.facts import GroundFacts, PortState, read_facts
from resolab.live.ground.ground import Ground, standing_ground
from resolab.live.ground.resolv_conf import SystemResolver, read_system_resolver

__all__ = [
    "Choice",
    "Ground",
    "GroundFacts",
    "PortState",
    "SystemResolver",
    "choose_ground",
    "read_facts",
    "read_system_resolver",
    "standing_ground",
]
