"""DNS queries from a command line: sending, sorting by resolver, and summary statistics.

For: the content of `resolab query`. Not for: its output, page loads, datasets. This module does not import `summary`: a
single query should not wait for the statistics libraries.
"""

from resolab.extras.queries.arms import Arm, group_arms, select_measured
from resolab.extras.queries.phases import QueryPhase, Split, timeline, wire_exchange_ns
from resolab.extras.queries.query_process import ask
from resolab.extras.queries.system_resolver import RESOLV_CONF, format_recorded_name, system_resolver

__all__ = [
    "RESOLV_CONF",
    "Arm",
    "QueryPhase",
    "Split",
    "ask",
    "format_recorded_name",
    "group_arms",
    "select_measured",
    "system_resolver",
    "timeline",
    "wire_exchange_ns",
]
