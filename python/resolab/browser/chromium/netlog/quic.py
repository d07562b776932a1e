"""A netlog's QUIC sessions.

For: handshakes, logged with the server's own bytes, and requests with the packets of their heads. Not for: TCP
(`sockets`), or the query inside a DoH request (`http`, `look_ups`).

The ServerHello shows the acceptance of a ticket. A request is early data if its head went in a 0-RTT packet without
loss and the server accepted early data. Frames are logged before the packet with these frames.
"""

import base64
import binascii
from collections import defaultdict
from dataclasses import dataclass, field

from resolab.browser.chromium.netlog.events import BEGIN, END, NetlogEvent
from resolab.browser.chromium.netlog.partial_connection import (
    Handlers,
    PartialConnection,
    PartialRequest,
    read_host,
    read_number,
    read_request,
)
from resolab.browser.tls_messages import server_took_ticket

_INITIAL, _EARLY, _APPLICATION = "ENCRYPTION_INITIAL", "ENCRYPTION_ZERO_RTT", "ENCRYPTION_FORWARD_SECURE"
_ACCEPTED = "AttemptedAndSucceeded"
_KEPT_BYTES = 1 << 14
"""More is no hello."""


@dataclass(slots=True)
class _SessionPackets:
    """The known facts about a session's packets."""

    hello: dict[int, bytes] = field(default_factory=dict)
    """Parts of the server's first message by their offset."""
    by_stream: dict[int, PartialRequest] = field(default_factory=dict)
    unsent: list[PartialRequest] = field(default_factory=list)
    """Requests with a head still without a packet."""
    by_packet: dict[int, list[PartialRequest]] = field(default_factory=lambda: defaultdict(list))
    early_state: str | None = None


class QuicSessions:
    """Takes events in their order."""

    def __init__(self, opened: dict[int, PartialConnection]) -> None:
        self._open = opened
        self._wires: dict[int, _SessionPackets] = {}
        self._asker: int | None = None
        """The source of the next request; the log names the source just before the session's own event."""
        self.handlers: Handlers = {
            "QUIC_SESSION": self._session,
            "QUIC_SESSION_PACKET_RECEIVED": self._take_received,
            "QUIC_SESSION_CRYPTO_FRAME_RECEIVED": self._crypto,
            "QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE": self._complete,
            "QUIC_SESSION_ZERO_RTT_STATE": self._early_state,
            "HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS": self._sender,
            "QUIC_CHROMIUM_CLIENT_STREAM_SEND_REQUEST_HEADERS": self._request,
            "QUIC_SESSION_STREAM_FRAME_SENT": self._frame,
            "QUIC_SESSION_PACKET_SENT": self._take_sent,
            "QUIC_SESSION_PACKET_LOST": self._take_lost,
        }

    def finish(self) -> None:
        """Judge every session by the facts known now."""
        for source, wire in self._wires.items():
            self._judge(self._open[source], wire)

    def _judge(self, one: PartialConnection, wire: _SessionPackets) -> None:
        if one.handshake_end_ms is None:
            return
        one.early_data = None if wire.early_state is None else wire.early_state == _ACCEPTED
        one.resumed = server_took_ticket(_join(wire.hello))
        if one.early_data:  # Accepted early data needs a ticket.
            one.resumed = True
        for asked in one.requests:
            asked.early = False if one.early_data is False else asked.sent_early and one.early_data

    def _session(self, event: NetlogEvent) -> None:
        if event.phase == BEGIN:
            self._wires[event.source] = _SessionPackets()
            self._open[event.source] = PartialConnection(
                opened_ms=event.time_ms,
                is_quic=True,
                alpn="h3",
                host=read_host(event.params().get("host")),
                handshake_start_ms=event.time_ms,
            )
        elif event.phase == END and event.source in self._open:
            self._open[event.source].closed_ms = event.time_ms

    def _take_received(self, event: NetlogEvent) -> None:
        one = self._open.get(event.source)
        if one is not None and one.address is None:
            one.address = read_host(event.params().get("peer_address"))

    def _crypto(self, event: NetlogEvent) -> None:
        wire = self._wires.get(event.source)
        if wire is None:
            return
        params = event.params()
        content, offset = params.get("bytes"), read_number(params, "offset")
        if params.get("encryption_level") != _INITIAL or not isinstance(content, str) or offset is None:
            return
        try:
            wire.hello[offset] = base64.b64decode(content)
        except (binascii.Error, ValueError):
            wire.hello.clear()

    def _complete(self, event: NetlogEvent) -> None:
        if (one := self._open.get(event.source)) is not None and one.handshake_end_ms is None:
            one.connected_ms = one.handshake_end_ms = event.time_ms
            one.tls_version = "TLS 1.3"  # QUIC has no other (RFC 9001 section 4.2).

    def _early_state(self, event: NetlogEvent) -> None:
        if (wire := self._wires.get(event.source)) is not None:
            wire.early_state = str(event.params().get("state"))

    def _sender(self, event: NetlogEvent) -> None:
        self._asker = event.source

    def _request(self, event: NetlogEvent) -> None:
        one, asked = self._open.get(event.source), read_request(event)
        asker, self._asker = self._asker, None
        if one is None or asked is None:
            return
        asked.asker = asker
        one.requests.append(asked)
        stream = read_number(event.params(), "quic_stream_id")
        if stream is not None and event.source in self._wires:
            self._wires[event.source].by_stream[stream] = asked

    def _frame(self, event: NetlogEvent) -> None:
        wire = self._wires.get(event.source)
        params = event.params() if wire is not None and wire.by_stream else {}
        stream = read_number(params, "stream_id")
        if wire is not None and stream in wire.by_stream and params.get("offset") == 0:
            wire.unsent.append(wire.by_stream.pop(stream))

    def _take_sent(self, event: NetlogEvent) -> None:
        wire = self._wires.get(event.source)
        if wire is None or not wire.unsent:
            return
        params = event.params()
        level, number = params.get("encryption_level"), read_number(params, "packet_number")
        if level not in (_EARLY, _APPLICATION):  # A packet sent with it carries no requests.
            return
        for asked in wire.unsent:
            asked.sent_early = level == _EARLY
            if number is not None:
                wire.by_packet[number].append(asked)
        wire.unsent.clear()

    def _take_lost(self, event: NetlogEvent) -> None:
        wire = self._wires.get(event.source)
        number = None if wire is None else read_number(event.params(), "packet_number")
        if wire is not None and number is not None:
            for asked in wire.by_packet.pop(number, ()):
                asked.sent_early = None  # Which of its two ways came first is not told.


def _join(parts: dict[int, bytes]) -> bytes:
    """Join parts as far as there is no gap."""
    whole = b""
    for offset, part in sorted(parts.items()):
        if not 0 <= offset <= len(whole) <= _KEPT_BYTES:
            break
        whole = whole[:offset] + part if offset + len(part) > len(whole) else whole
    return whole
