"""The judgement of a fetch: flags for careful reading.

For: pure functions over the fetch's record. Not for: running the fetch (`runner`).
"""

from resolab.basics.records import ConnectionSharing, FetchRecord, TrialFlag
from resolab.plan import Condition


def fetch_flags(fetch: FetchRecord, condition: Condition) -> list[TrialFlag]:
    """Flag a fetch with another handshake than requested, or without the shared connection that was requested."""
    if fetch.failure is not None:
        return []
    flags: list[TrialFlag] = []
    requested = condition.requested_dns_handshake_mode
    if any(one.handshake_mode is not requested for one in fetch.connections):
        flags.append(TrialFlag.DNS_HANDSHAKE_MISMATCH)
    shares = condition.connection_sharing is ConnectionSharing.RESOLVER_CONNECTION
    if shares and len(fetch.connections) > 1:
        flags.append(TrialFlag.CONNECTION_NOT_SHARED)
    return flags
