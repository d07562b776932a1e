"""A plan's own software in the server's host: started, asked until it answers, watched, and ended.

For: `SoftwareRack`, a part of the lab. Not for: reading a plan's tables (`plan.software`).
"""

from resolab.lab.software.rack import SoftwareRack

__all__ = ["SoftwareRack"]
