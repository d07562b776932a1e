"""Start, command and end resolab-core's programs.

For: a typed object per long-running program (path, edge, stub, gateway), a function per short program (query, probe).
Not for: the meaning of a trial (`campaign`).
"""

from resolab.basics.installation import find_core, find_load
from resolab.lab.engine.gateway import Gateway, GatewaySettings
from resolab.lab.engine.probes import run_transfer, send_train
from resolab.lab.engine.process import CoreProcess
from resolab.lab.engine.programs import (
    Edge,
    FetchOptions,
    Path,
    QueryOptions,
    ResolverTarget,
    Stub,
    enter_prefix,
    run_client,
    run_fetch,
    run_queries,
)

__all__ = [
    "CoreProcess",
    "Edge",
    "FetchOptions",
    "Gateway",
    "GatewaySettings",
    "Path",
    "QueryOptions",
    "ResolverTarget",
    "Stub",
    "enter_prefix",
    "find_core",
    "find_load",
    "run_client",
    "run_fetch",
    "run_queries",
    "run_transfer",
    "send_train",
]
