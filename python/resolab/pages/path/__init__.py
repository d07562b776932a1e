"""The critical path of a load, measured, and the cost of look-ups by the page's structure alone.

For: per-page answers from a page model, alone or with the instants of one load (docs/method/critical-path.md). Not for:
many loads at once (`report`), or files.
"""

from resolab.pages.path.connections import LoadConnections, count_connections
from resolab.pages.path.critical import CriticalPath, PathLink, critical_path
from resolab.pages.path.estimate import (
    AnnouncementMode,
    LoadEstimate,
    LookupPrediction,
    load_estimate,
    predict_lookups,
)
from resolab.pages.path.lab import lab_load_ms, move_to_lab, set_distances
from resolab.pages.path.load import InstantSource, LoadTimeline, RequestInstants
from resolab.pages.path.phases import PhaseKind, find_round_trips
from resolab.pages.path.records import find_failure, read_instants

__all__ = [
    "AnnouncementMode",
    "CriticalPath",
    "InstantSource",
    "LoadConnections",
    "LoadEstimate",
    "LoadTimeline",
    "LookupPrediction",
    "PathLink",
    "PhaseKind",
    "RequestInstants",
    "count_connections",
    "critical_path",
    "find_failure",
    "find_round_trips",
    "lab_load_ms",
    "load_estimate",
    "move_to_lab",
    "predict_lookups",
    "read_instants",
    "set_distances",
]
