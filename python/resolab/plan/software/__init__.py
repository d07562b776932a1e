"""A plan's own software: `[software.NAME]`, the templates of known servers, and the conditions they cannot have.

For: resolvers beside the lab's edge, declared by the plan. Not for: starting them (`lab.software`).
"""

from resolab.plan.software.settings import EDGE, CacheBefore, Software

__all__ = ["EDGE", "CacheBefore", "Software"]
