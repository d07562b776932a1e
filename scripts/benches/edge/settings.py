"""The benchmark settings supported by this build of the edge.

For: figures of builds older than a setting. Not for: the effect of settings (docs/formats/edge.md).
"""

from benches.common.servers import EdgeSettings, names, run_named_edge
from resolab.basics.errors import MachineError

NOT_OFFERED = "not offered by this build"


def offers(settings: EdgeSettings) -> bool:
    """Return True when the edge starts with the settings. Raise any error except an unknown key."""
    try:
        with run_named_edge(names(1), settings):
            return True
    except MachineError as error:
        if "unknown field" in str(error):
            return False
        raise


def best_settings() -> tuple[EdgeSettings, list[str]]:
    """Return wire cache on and queries only counted, as far as supported, with remarks on the support."""
    cached, counted = offers(EdgeSettings(wire_cache=True)), offers(EdgeSettings(counts_queries=True))
    remarks = [
        f"edge's wire cache: {'on' if cached else NOT_OFFERED}",
        f'edge\'s queries = "count": {"on" if counted else NOT_OFFERED + "; a record of each query is written"}',
    ]
    return EdgeSettings(wire_cache=True if cached else None, counts_queries=counted), remarks
