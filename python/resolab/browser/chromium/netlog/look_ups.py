"""A netlog's look-ups: the questions of Chromium's own DNS client, over Do53 or DoH, and the answers.

For: one `LookUp` for each name and type. Not for: look-ups through the system's resolver, logged with an end but
without an answer; or the browser's probes of its DoH server, logged without a name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from resolab.browser.browser_log import BrowserConnection, LookUp, RequestHead
from resolab.browser.chromium.netlog.events import BEGIN, END, NetlogEvent
from resolab.browser.chromium.netlog.partial_connection import Handlers, read_number, read_text

_TYPES = {1: "A", 28: "AAAA", 65: "HTTPS"}
_RCODES = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
"""RCODE names by number (RFC 1035 section 4.1.1)."""


@dataclass(slots=True)
class _Transaction:
    name: str
    qtype: str | None
    begun_ms: float
    ended_ms: float | None = None
    rcode: str | None = None
    error: str | None = None
    doh: int | None = None
    """The log source of the look-up's first DoH request."""


class LookUps:
    """Takes events in their order."""

    def __init__(self) -> None:
        self._transactions: dict[int, _Transaction] = {}
        self.errors: Mapping[int, str] = {}
        """The log's names of network errors."""
        self.handlers: Handlers = {
            "DNS_TRANSACTION": self._transaction,
            "DNS_TRANSACTION_HTTPS_ATTEMPT": self._doh,
            "DNS_TRANSACTION_RESPONSE": self._response,
        }

    def build(self, of_askers: Mapping[int, tuple[BrowserConnection, RequestHead]]) -> list[LookUp]:
        """Make the look-ups, each with the connection and request of its DoH query."""
        return [self._build_look_up(one, of_askers) for one in self._transactions.values()]

    @staticmethod
    def _build_look_up(one: _Transaction, of_askers: Mapping[int, tuple[BrowserConnection, RequestHead]]) -> LookUp:
        connection, request = (None, None) if one.doh is None else of_askers.get(one.doh, (None, None))
        return LookUp(
            name=one.name,
            qtype=one.qtype,
            begun_ms=one.begun_ms,
            ended_ms=one.ended_ms,
            rcode=one.rcode,
            error=one.error,
            connection=connection,
            request=request,
        )

    def _transaction(self, event: NetlogEvent) -> None:
        if event.source_kind != "DNS_TRANSACTION":  # A job names its transactions, too.
            return
        params = event.params()
        if event.phase == BEGIN:
            name, number = read_text(params, "hostname"), read_number(params, "query_type")
            if name is not None:
                kind = None if number is None else _TYPES.get(number, f"TYPE{number}")
                self._transactions[event.source] = _Transaction(name.rstrip(".").lower(), kind, event.time_ms)
        elif event.phase == END and (one := self._transactions.get(event.source)) is not None:
            one.ended_ms = event.time_ms
            error = read_number(params, "net_error")
            one.error = None if error is None else self.errors.get(error, str(error))

    def _doh(self, event: NetlogEvent) -> None:
        one = self._transactions.get(event.source)
        if one is not None and one.doh is None:
            one.doh = event.dependency()

    def _response(self, event: NetlogEvent) -> None:
        one, number = self._transactions.get(event.source), read_number(event.params(), "rcode")
        if one is not None and number is not None:
            one.rcode = _RCODES.get(number, f"RCODE{number}")
