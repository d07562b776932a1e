"""Fetches in a lab: a name and a document by our own client, one trial at a time.

For: running one trial, and stopping everything at any end. Not for: path and edge (`lab`), judging the fetch
(`judgement`) or keeping the results (`campaign`).

Each trial has its own client process, so no connection, ticket or address token outlives a trial.
"""

from resolab.basics.errors import ResolabError
from resolab.basics.records import (
    CoalescingMode,
    ConnectionSharing,
    DnsTransport,
    PageSpeculation,
    QueryPurpose,
    Record,
    TrialFlag,
)
from resolab.lab import engine
from resolab.lab.engine import FetchOptions
from resolab.plan import Condition
from resolab.trials.client_runner import ClientRunner
from resolab.trials.fetch.judgement import fetch_flags


class FetchRunner(ClientRunner):
    """The lab of a campaign, with a method to run a fetch."""

    async def run_client(self, condition: Condition) -> tuple[list[Record], list[TrialFlag], bool]:
        """Fetch a condition's document in a new client process."""
        lab, site = self.lab, self.lab.sites[condition.page]
        resolver = lab.build_resolver(condition, condition.dns_transport)
        found = await engine.run_fetch(
            lab.path.ready.pid, resolver, site.url, choose_options(condition), key_log_file=lab.keeper.key_log_file
        )
        fetch = next((one for one in found if one.purpose is QueryPurpose.MEASURED), None)
        if fetch is None:
            raise ResolabError("the fetch client ended without a record")
        return [*found], fetch_flags(fetch, condition), fetch.failure is not None


def choose_options(condition: Condition) -> FetchOptions:
    """Return the client's options for a condition."""
    return FetchOptions(
        mode=choose_mode(condition),
        handshake=condition.requested_dns_handshake_mode,
        is_speculative=condition.speculation is PageSpeculation.DOCUMENT,
    )


def choose_mode(condition: Condition) -> CoalescingMode:
    """Return the sharing of connections: DoQ shares a connection under the private ALPN, DoH3 its HTTP/3 connection."""
    if condition.connection_sharing is not ConnectionSharing.RESOLVER_CONNECTION:
        return CoalescingMode.SEPARATE
    is_doq = condition.dns_transport is DnsTransport.DOQ
    return CoalescingMode.PRIVATE_ALPN if is_doq else CoalescingMode.SHARED_CONNECTION
