"""The reason for a failed look-up of a page's name, and its source.

For: the class from answers and errors, from the stub, the browser's log, or our own client's repeat of the query. Pure.
Not for: the failure of a page load (`browser.failures`).

The last answer counts: browsers ask again, and give up after the last answer. A browser needs addresses; names without
HTTPS records have good answers without any record.
"""

import enum
from collections.abc import Sequence
from typing import TypeVar

from resolab.basics.records import DnsFailure, Failure, QueryRecord
from resolab.browser.browser_log import LookUp

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


class FailureSource(enum.StrEnum):
    """The source of a failure's class."""

    STUB = "stub"
    BROWSER_LOG = "browser_log"
    OWN_QUERY = "own_query"
    """Our client's later repeat over the same configuration: the resolver may answer differently by then."""


def classify_queries(queries: Sequence[QueryRecord]) -> DnsFailure | None:
    """Return the failure class of queries for a name, in order.

    Return `None` without a failure, or for a failure outside the list's classes.
    """
    last = _last([one for one in queries if one.qtype in ADDRESS_TYPES] or queries)
    if last is None:
        return None
    if last.rcode in _RCODES:
        return _RCODES[last.rcode]
    if last.failure is None or last.rcode is not None:
        return None
    return DnsFailure.TIMEOUT if last.failure in _TIMEOUTS else DnsFailure.TRANSPORT


def classify_look_ups(look_ups: Sequence[LookUp], *, was_cut_off: bool) -> DnsFailure | None:
    """Return the failure class of a browser's look-ups for a name, in order.

    `was_cut_off`: the load ended by its limit, including the look-ups under way, with any error.
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
