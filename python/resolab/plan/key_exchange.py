"""Key exchange groups of a plan: the groups offered by our own clients, and the groups accepted by the edge.

For: `[key_exchange]` of a plan, read and described. Not for: browsers, with their own offer.
"""

from dataclasses import dataclass, fields
from typing import Any

from resolab.basics.records import KeyExchangeGroup
from resolab.plan.section import PlanSection

EVERY_GROUP = tuple(KeyExchangeGroup)
"""All groups, in the order of preference of Chromium and Firefox."""


@dataclass(frozen=True, slots=True)
class KeyExchange:
    """Groups, most preferred first; a client sends a share of its first group."""

    client: tuple[KeyExchangeGroup, ...] = EVERY_GROUP
    """The groups of the stub and of resolab's own DNS client."""
    edge: tuple[KeyExchangeGroup, ...] = EVERY_GROUP


def read_key_exchange(section: PlanSection) -> KeyExchange:
    """Read the groups; missing keys have their default."""
    words = [group.value for group in EVERY_GROUP]
    given = {one.name: section.optional_levels(one.name, words) for one in fields(KeyExchange)}
    section.finish()
    groups = {key: tuple(map(KeyExchangeGroup, names)) for key, names in given.items() if names is not None}
    found = KeyExchange(**groups)
    if not set(found.client) & set(found.edge):
        section.fail("", "client and edge have no group in common; name one in both")
    return found


def key_exchange_schema() -> dict[str, Any]:
    """Describe the two lists."""
    groups = {"enum": [group.value for group in EVERY_GROUP]}
    one = {"type": "array", "minItems": 1, "uniqueItems": True, "items": groups}
    return {field.name: one for field in fields(KeyExchange)}
