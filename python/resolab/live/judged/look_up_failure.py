"""Why the look-up of a page's name failed, and who says so.

For: the class from answers and errors, told by the stub, the browser's log, or our own client's repeat of the query.
Pure. Not for: whether a page load failed (`browser.failures`).

The last word counts: browsers ask again, and give up after the last answer. Addresses are what a browser cannot do
without; names without HTTPS records have good answers without any.
"""

import enum
from collections.abc import Sequence
from typing import TypeVar

from resolab.browser.browser_log import LookUp
from resolab.records import DnsFailure, Failure, QueryRecord

OneT = TypeVar("OneT")
ADDRESS_TYPES = ("A", "AAAA")
_RCODES = {"NXDOMAIN": DnsFailure.NXDOMAIN, "SERVFAIL": DnsFailure.SERVFAIL, "REFUSED": DnsFailure.REFUSED}
_TIMEOUTS = {
    Failure.QUERY_TIMEOUT,
    Failure.TCP_CONNECT_TIMEOUT,
    Failure.TLS_HANDSHAKE_TIMEOUT,
    Failure.QUIC_HANDSHAKE_TIMEOUT,
}
_TIMEOUT_WORDS = ("TIMED_OUT", "TIMEOUT")


class ToldBy(enum.StrEnum):
    """Who tells a failure's class."""

    STUB = "stub"
    BROWSER_LOG = "browser_log"
    OWN_QUERY = "own_query"
    """Our client's later repeat over the same configuration: the resolver may have changed its mind."""


def of_queries(queries: Sequence[QueryRecord]) -> DnsFailure | None:
    """Class of queries for one name, in their order; `None`: they did not fail, or in no class of the list."""
    last = _last([one for one in queries if one.qtype in ADDRESS_TYPES] or queries)
    if last is None:
        return None
    if last.rcode in _RCODES:
        return _RCODES[last.rcode]
    if last.failure is None or last.rcode is not None:
        return None
    return DnsFailure.TIMEOUT if last.failure in _TIMEOUTS else DnsFailure.TRANSPORT


def of_look_ups(look_ups: Sequence[LookUp], *, was_cut_off: bool) -> DnsFailure | None:
    """Class of a browser's look-ups for one name, in their order.

    `was_cut_off`: the load ended by its limit, and what was under way then with it, by whatever error.
    """
    last = _last([one for one in look_ups if one.qtype in ADDRESS_TYPES] or look_ups)
    if last is None:
        return None
    if last.rcode is not None:
        return _RCODES.get(last.rcode)
    if last.ended_ms is None or (was_cut_off and last.error is not None):
        return DnsFailure.TIMEOUT
    if last.error is None:
        return None
    return DnsFailure.TIMEOUT if any(word in last.error for word in _TIMEOUT_WORDS) else DnsFailure.TRANSPORT


def _last(ones: Sequence[OneT]) -> OneT | None:
    return ones[-1] if ones else None
