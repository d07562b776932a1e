"""The critical path of a load, measured, and the cost of look-ups by the page's structure alone.

For: per-page answers from a page model, alone or with the instants of one load (docs/method/critical-path.md). Not for:
many loads at once (`report`), or files.
"""

from resolab.pages.path.connections import LoadConnections, connections_of
from resolab.pages.path.critical import CriticalPath, Link, critical_path
from resolab.pages.path.estimate import (
    Announced,
    LoadEstimate,
    LookupPrediction,
    load_estimate,
    predicted_lookups,
)
from resolab.pages.path.lab import in_lab, lab_load_ms, with_distances
from resolab.pages.path.load import LoadInstants, RequestInstants, Teller
from resolab.pages.path.phases import Part, seen_round_trips
from resolab.pages.path.records import failure_of, instants_of

__all__ = [
    "Announced",
    "CriticalPath",
    "Link",
    "LoadConnections",
    "LoadEstimate",
    "LoadInstants",
    "LookupPrediction",
    "Part",
    "RequestInstants",
    "Teller",
    "connections_of",
    "critical_path",
    "failure_of",
    "in_lab",
    "instants_of",
    "lab_load_ms",
    "load_estimate",
    "predicted_lookups",
    "seen_round_trips",
    "with_distances",
]
