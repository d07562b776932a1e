"""A Firefox log's lines as DoH look-ups and their connections.

For: combining lines. Facts missing in the lines are `None`; nothing is guessed. Not for: parsing a line (`lines`).

A look-up makes a channel, the channel makes a transaction, and the transaction is given to a connection. A handshake
without a certificate check resumed a session (RFC 8446 section 2.2): a full handshake always calls the hook for the
certificate. Over TCP the lines of a handshake's socket and of its transaction are separate. A transaction takes the
handshake ended before its own notification. The transaction is not judged when several handshakes ended and differ.
"""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from resolab.browser.browser_log import BrowserConnection, BrowserLog, ConnectionTransport, LookUp, RequestHead
from resolab.browser.firefox.log.lines import Line

if TYPE_CHECKING:
    from collections.abc import Callable

_TYPES = {"1": "A", "28": "AAAA", "65": "HTTPS"}
_RCODES = {"0": "NOERROR", "1": "FORMERR", "2": "SERVFAIL", "3": "NXDOMAIN", "4": "NOTIMP", "5": "REFUSED"}
"""RCODE names by number (RFC 1035 section 4.1.1)."""
_ERRORS = {"804B0014": "NS_ERROR_NET_RESET", "804B000E": "NS_ERROR_NET_TIMEOUT", "804B0002": "NS_BINDING_ABORTED"}
_POINTER = r"([0-9a-f]+)"
_HANDSHAKE_WAITS_MS = 500.0
"""The longest time, in ms, between a handshake's end and the notification of its transaction, on the same thread. An
older handshake had no transaction."""


@dataclass(slots=True, eq=False)
class _PartialConnection:
    """A connection used by look-ups."""

    carrier: ConnectionTransport
    opened_ms: float
    host: str | None = None
    resumed: bool | None = None
    certificate_seen: bool = False
    early: bool = False
    """True when the connection was tried with early data."""
    asked: list["_PartialLookUp"] = field(default_factory=list)

    @property
    def may_be_early(self) -> bool:
        """Return True when early data was possible.

        QUIC tries early data without a log line whenever a ticket exists.
        """
        return self.early or (self.carrier is ConnectionTransport.QUIC and self.resumed is not False)

    @property
    def early_data(self) -> bool | None:
        """Return True when the server accepted early data of any request."""
        told = [asked.early for asked in self.asked if asked.over is self]
        return True if True in told else None if self.may_be_early and None in told else False


@dataclass(slots=True, eq=False)
class _PartialLookUp:
    """One look-up, being put together from log lines."""

    name: str
    qtype: str
    begun_ms: float
    over: _PartialConnection | None = None
    sent_ms: float = 0.0
    early: bool | None = None
    """True when the request went in accepted early data, by the answer's head."""
    head_is_read: bool = False
    request: RequestHead | None = None
    ended_ms: float | None = None
    rcode: str | None = None
    error: str | None = None


@dataclass(slots=True)
class _EndedHandshake:
    """An ended handshake, still without a notified transaction."""

    at_ms: float
    resumed: bool


class FirefoxLogBuilder:
    """Takes lines in their order."""

    def __init__(self) -> None:
        self._asked: list[_PartialLookUp] = []
        self._new: _PartialLookUp | None = None
        """The look-up owning the next channel in the log."""
        self._channels: dict[str, _PartialLookUp] = {}
        self._made: _PartialLookUp | None = None
        """The look-up owning the next transaction in the log."""
        self._transactions: dict[str, _PartialLookUp] = {}
        self._connections: dict[str, _PartialConnection] = {}
        self._carried: dict[str, str] = {}
        """Connection each transaction was given to."""
        self._sessions: dict[str, _PartialConnection] = {}
        """Connections by QUIC session."""
        self._with_certificate: set[str] = set()
        self._ended: list[_EndedHandshake] = []
        self._answered: _PartialLookUp | None = None
        patterns: tuple[tuple[str, str, Callable[..., None]], ...] = (
            ("nsHostResolver", r"TRR::SendHTTPRequest resolve (\S+) type (\d+)", self._look_up),
            ("nsHostResolver", r"TRR:OnStopRequest \S+ (\S+) (\d+) failed=\d code=(\w+)", self._look_up_ended),
            ("nsHostResolver", r"TRR Decode (\S+) RCODE (\d+)", self._answer),
            ("nsHttp", rf"HttpBaseChannel::Init \[this={_POINTER}\]", self._channel),
            ("nsHttp", rf"TRRServiceChannel {_POINTER} created nsHttpTransaction", self._transaction_made),
            ("nsHttp", rf"nsHttpTransaction::Init \[this={_POINTER} ", self._transaction),
            ("nsHttp", rf"nsHttpConnection::Init this={_POINTER} ", self._connection),
            ("nsHttp", rf"nsHttpConnection::Activate \[this={_POINTER} trans={_POINTER} ", self._take_assignment),
            ("nsHttp", rf"TlsHandshaker::SetupSSL {_POINTER} \S+ [^\]]*\](\S+?):\d+", self._take_host),
            ("nsHttp", rf"TlsHandshaker::Check0RttEnabled {_POINTER} -early selected alpn: ", self._early),
            ("nsHttp", rf"nsHttpTransaction::ProcessData \[this={_POINTER} ", self._reads),
            ("nsHttp", r"  X-Firefox-Early-Data: (\w+)", self._early_word),
            ("nsHttp", r"    OriginalHeaders", self._head_ended),
            (
                "nsHttp",
                rf"nsHttpTransaction::OnTransportStatus \[this={_POINTER} status=4b000d ",
                self._take_handshake_end,
            ),
            ("nsHttp", rf"Http3Session::Init {_POINTER}$", self._h3_session),
            ("nsHttp", r"Http3Session::Init origin=([^,]+),", self._h3_named),
            ("nsHttp", rf"Http3Session::AddStream {_POINTER} atrans={_POINTER}\.", self._h3_added),
            ("pipnss", rf"\[{_POINTER}\] starting AuthCertificateHookInternal", self._certificate),
            ("pipnss", rf"\[{_POINTER}\] HandshakeCallback: succeeded", self._handshake_ended),
        )
        self._patterns = [(module, re.compile(pattern), take) for module, pattern, take in patterns]
        self._of_page = re.compile(rf"nsHttpTransaction::Init \[this={_POINTER} ")
        self._h3_new: _PartialConnection | None = None
        self._reading: _PartialLookUp | None = None
        """The look-up with an answer's head being read."""

    def take(self, line: Line) -> None:
        """Take the next line of the log."""
        if not line.is_sockets:
            # A page's transaction, at the address of one that is gone.
            if line.module == "nsHttp" and (found := self._of_page.match(line.text)) is not None:
                self._forget(found[1])
            return
        for module, pattern, take in self._patterns:
            if module == line.module and (found := pattern.match(line.text)) is not None:
                take(line.unix_ms, *found.groups())
                return

    def build(self) -> BrowserLog:
        """Build the log from the lines taken until now; instants are Unix time."""
        opened = {id(one.over): one.over for one in self._asked if one.over is not None}
        for asked in self._asked:
            if asked.over is not None:
                early = asked.early if asked.head_is_read or asked.over.may_be_early else False
                asked.request = RequestHead(asked.sent_ms, asked.over.host or "", None, early)
        connections = {key: _connection(one) for key, one in opened.items()}
        look_ups = [
            LookUp(
                name=one.name,
                qtype=one.qtype,
                begun_ms=one.begun_ms,
                ended_ms=one.ended_ms,
                rcode=one.rcode,
                error=one.error,
                connection=connections.get(id(one.over)),
                request=one.request,
            )
            for one in self._asked
        ]
        ordered = sorted(connections.values(), key=lambda one: one.opened_ms)
        return BrowserLog(connections=ordered, look_ups=look_ups, unix_offset_ms=0.0, is_cut_off=True)

    def _look_up(self, at_ms: float, name: str, kind: str) -> None:
        self._new = _PartialLookUp(name.rstrip(".").lower(), _TYPES.get(kind, f"TYPE{kind}"), at_ms)
        self._asked.append(self._new)

    def _channel(self, _: float, channel: str) -> None:
        if self._new is not None:
            self._channels[channel], self._new = self._new, None

    def _transaction_made(self, _: float, channel: str) -> None:
        self._made = self._channels.pop(channel, None)

    def _transaction(self, _: float, transaction: str) -> None:
        self._forget(transaction)
        if self._made is not None:
            self._transactions[transaction], self._made = self._made, None

    def _forget(self, transaction: str) -> None:
        """Forget a transaction's pointer: pointers are used again, and the earlier owner is gone."""
        self._transactions.pop(transaction, None)
        self._carried.pop(transaction, None)

    def _connection(self, at_ms: float, connection: str) -> None:
        self._connections[connection] = _PartialConnection(ConnectionTransport.TCP, at_ms)

    def _take_assignment(self, at_ms: float, connection: str, transaction: str) -> None:
        self._carried[transaction] = connection
        self._goes_over(at_ms, transaction, self._connections.get(connection))

    def _take_host(self, _: float, connection: str, host: str) -> None:
        if connection in self._connections:
            self._connections[connection].host = host

    def _early(self, _: float, connection: str) -> None:
        if connection in self._connections:
            self._connections[connection].early = True

    def _reads(self, _: float, transaction: str) -> None:
        self._reading = self._transactions.get(transaction)

    def _early_word(self, _: float, word: str) -> None:
        """Read Firefox's early-data field in an answer's head; `sent` leaves the acceptance unknown."""
        one = self._reading
        if one is None or one.head_is_read:
            return
        one.early, one.head_is_read = (None if word == "sent" else word == "accepted"), True
        if one.early and one.over is not None:  # Accepted early data needs a ticket.
            one.over.resumed = True

    def _head_ended(self, _: float) -> None:
        if self._reading is not None and not self._reading.head_is_read:
            self._reading.early, self._reading.head_is_read = False, True

    def _take_handshake_end(self, at_ms: float, transaction: str) -> None:
        """Note the notification of a transaction about the end of its connection's handshake."""
        one = self._connections.get(self._carried.get(transaction, ""))
        ended = [each for each in self._ended if at_ms - each.at_ms <= _HANDSHAKE_WAITS_MS]
        if one is not None and len({each.resumed for each in ended}) == 1:
            one.resumed = ended[0].resumed
        self._ended = ended[1:]

    def _h3_session(self, at_ms: float, session: str) -> None:
        self._with_certificate.discard(session)
        self._h3_new = self._sessions[session] = _PartialConnection(ConnectionTransport.QUIC, at_ms)

    def _h3_named(self, _: float, host: str) -> None:
        if self._h3_new is not None:
            self._h3_new.host, self._h3_new = host, None

    def _h3_added(self, at_ms: float, session: str, transaction: str) -> None:
        self._goes_over(at_ms, transaction, self._sessions.get(session))

    def _goes_over(self, at_ms: float, transaction: str, one: _PartialConnection | None) -> None:
        asked = self._transactions.get(transaction)
        if asked is None or one is None or asked.ended_ms is not None:
            return
        asked.over, asked.sent_ms = one, at_ms
        if asked not in one.asked:
            one.asked.append(asked)

    def _certificate(self, _: float, socket: str) -> None:
        self._with_certificate.add(socket)
        if socket in self._sessions:
            self._sessions[socket].certificate_seen = True

    def _handshake_ended(self, at_ms: float, socket: str) -> None:
        self._ended.append(_EndedHandshake(at_ms, resumed=socket not in self._with_certificate))
        self._with_certificate.discard(socket)

    def _look_up_ended(self, at_ms: float, name: str, kind: str, code: str) -> None:
        self._answered = self._find_running_look_up(name, _TYPES.get(kind, f"TYPE{kind}"))
        if self._answered is not None:
            self._answered.ended_ms = at_ms
            self._answered.error = None if int(code, 16) == 0 else _ERRORS.get(code.upper(), f"0x{code}")

    def _answer(self, _: float, name: str, rcode: str) -> None:
        one = self._answered
        if one is not None and one.name == name.rstrip(".").lower():
            one.rcode = _RCODES.get(rcode, f"RCODE{rcode}")
            if one.over is not None and one.over.carrier is ConnectionTransport.QUIC:
                # Only what has a handshake behind it gets an answer.
                one.over.resumed = not one.over.certificate_seen

    def _find_running_look_up(self, name: str, qtype: str) -> _PartialLookUp | None:
        wanted = name.rstrip(".").lower()
        same = (one for one in self._asked if one.ended_ms is None and (one.name, one.qtype) == (wanted, qtype))
        return next(same, None)


def _connection(one: _PartialConnection) -> BrowserConnection:
    requests = [asked.request for asked in one.asked if asked.over is one and asked.request is not None]
    return BrowserConnection(
        host=one.host,
        address=None,
        protocol="h3" if one.carrier is ConnectionTransport.QUIC else "h2",
        carrier=one.carrier,
        opened_ms=one.opened_ms,
        resumed=one.resumed,
        early_data=one.early_data,
        requests=tuple(requests),
    )
