"""Exchanges in a lab: queries of our own client to the edge's resolver, one trial at a time.

For: the client of an exchange and its options. Not for: the steps of a trial (`client_runner`), path and edge (`lab`),
judging the queries (`judgement`) or keeping the results (`campaign`).

Each trial has its own client process, so no connection and no ticket outlives a trial. A warm exchange queries twice
over the same connection; the first round is its warm-up.
"""

from resolab.basics.records import ConnectionState, HandshakeMode, QueryPurpose, QuestionPacking, Record, TrialFlag
from resolab.lab import engine
from resolab.lab.engine import QueryOptions
from resolab.plan import Condition
from resolab.trials.client_runner import ClientRunner
from resolab.trials.exchange.judgement import exchange_flags, mark_warm_up


class ExchangeRunner(ClientRunner):
    """The lab of a campaign, with a method to run an exchange."""

    async def run_client(self, condition: Condition) -> tuple[list[Record], list[TrialFlag], bool]:
        """Query a condition's names in a new client process."""
        lab, count = self.lab, condition.names_count
        resolver = lab.build_resolver(condition, condition.dns_transport)
        found = await engine.run_queries(
            lab.path.ready.pid,
            [resolver],
            lab.sites[condition.page].hosts[:count],
            choose_options(condition),
            key_log_file=lab.keeper.key_log_file,
        )
        queries = mark_warm_up(found, count)
        failed = any(one.failure is not None for one in queries if one.purpose is QueryPurpose.MEASURED)
        return [*queries], exchange_flags(queries, condition), failed


def choose_options(condition: Condition) -> QueryOptions:
    """Return the client's options for a condition."""
    is_warm = condition.dns_connection_state is ConnectionState.WARM
    several = condition.names_count > 1
    return QueryOptions(
        handshake=HandshakeMode.FULL if is_warm else condition.requested_dns_handshake_mode,
        connection=condition.dns_connection_state,
        rounds=2 if is_warm else 1,
        pause_ms=condition.idle_gap_ms if is_warm else 0,
        questions_per_message=condition.names_count if several else None,
        one_by_one=several and condition.question_packing is QuestionPacking.SEPARATE,
    )
