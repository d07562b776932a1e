"""Starting, commanding and ending resolab-core's programs.

For: one typed object per program (path, edge, stub, gateway), one function per short one (query, probe). Not for: what
a trial is; that is the campaign's.
"""

from resolab.engine.gateway import Gateway, GatewaySettings
from resolab.engine.probes import run_transfer, send_train
from resolab.engine.process import CoreProcess
from resolab.engine.programs import Edge, Path, Resolver, Stub, enter_prefix, run_queries
from resolab.installation import find_core

__all__ = [
    "CoreProcess",
    "Edge",
    "Gateway",
    "GatewaySettings",
    "Path",
    "Resolver",
    "Stub",
    "enter_prefix",
    "find_core",
    "run_queries",
    "run_transfer",
    "send_train",
]
