"""The judgement of an exchange: the measured queries among all, and flags for careful reading.

For: pure functions over the queries' records. Not for: running the queries (`runner`).
"""

from collections.abc import Sequence

import msgspec

from resolab.basics.protocols import WITHOUT_CONNECTION, has_handshake
from resolab.basics.records import ConnectionState, QueryPurpose, QueryRecord, QuestionPacking, TrialFlag
from resolab.plan import Condition


def mark_warm_up(queries: Sequence[QueryRecord], measured_count: int) -> list[QueryRecord]:
    """Return the queries in their order; all before the last `measured_count` become queries of the warm-up."""
    ordered = sorted(queries, key=lambda one: one.sequence)
    warm_up_count = max(0, len(ordered) - measured_count)
    warm_up = [msgspec.structs.replace(one, purpose=QueryPurpose.PRIMING) for one in ordered[:warm_up_count]]
    return [*warm_up, *ordered[warm_up_count:]]


def exchange_flags(queries: Sequence[QueryRecord], condition: Condition) -> list[TrialFlag]:
    """Flag measured queries over another connection, after another handshake, or in other messages than requested."""
    measured = [one for one in queries if one.purpose is QueryPurpose.MEASURED and one.failure is None]
    if not measured:
        return []
    # The first opens the connection; the others of the same instant wait for it and count as warm.
    first = measured[0]
    flags: list[TrialFlag] = []
    if any(one.dns_transport is not condition.dns_transport for one in measured):
        flags.append(TrialFlag.DNS_TRANSPORT_MISMATCH)
    has_connection = condition.dns_transport not in WITHOUT_CONNECTION
    if has_connection and first.connection not in (None, condition.dns_connection_state):
        flags.append(TrialFlag.DNS_CONNECTION_MISMATCH)
    shakes_hands = condition.dns_connection_state is ConnectionState.COLD and has_handshake(condition.dns_transport)
    if shakes_hands and first.handshake_mode is not condition.requested_dns_handshake_mode:
        flags.append(TrialFlag.DNS_HANDSHAKE_MISMATCH)
    if condition.question_packing is QuestionPacking.ONE_MESSAGE and any(one.asked_alone for one in measured):
        flags.append(TrialFlag.NOTHING_GATHERED)
    return flags
