"""A trial's records as slices of time on one clock, and as a trace for Perfetto.

For: browser, resolab's client, stub, link and edge on parallel tracks. Not for: one load's requests alone
(`waterfall`).
"""

from resolab.extras.evidence.timeline.parts import list_tracks
from resolab.extras.evidence.timeline.perfetto import trace_bytes

__all__ = ["list_tracks", "trace_bytes"]
