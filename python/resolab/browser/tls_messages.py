"""A TLS 1.3 server's first message, read from the bytes of a handshake.

For: the server's acceptance of a ticket. In a browser's log of a QUIC handshake, only the ServerHello shows the
acceptance. Pure. Not for: certificates, keys, or hellos of clients.
"""

import hashlib

_SERVER_HELLO = 2
_RETRY = hashlib.sha256(b"HelloRetryRequest").digest()
"""The random value marking a HelloRetryRequest (RFC 8446 section 4.1.3)."""
_PRE_SHARED_KEY = 41
_HEAD_BYTES, _RANDOM_AT, _RANDOM_BYTES = 4, 2, 32


def server_took_ticket(stream: bytes) -> bool | None:
    """Return True when the ServerHello, the first message in these bytes, has the `pre_shared_key` extension.

    With this extension a server resumes a session (RFC 8446 section 4.2.11). `None`: the bytes hold no whole
    ServerHello.
    """
    at = 0
    while at + _HEAD_BYTES <= len(stream):
        kind, end = stream[at], at + _HEAD_BYTES + int.from_bytes(stream[at + 1 : at + _HEAD_BYTES])
        body = stream[at + _HEAD_BYTES : end]
        if kind != _SERVER_HELLO or end > len(stream):
            return None
        if body[_RANDOM_AT : _RANDOM_AT + _RANDOM_BYTES] != _RETRY:
            kinds = _extensions(body)
            return None if kinds is None else _PRE_SHARED_KEY in kinds
        at = end
    return None


def _extensions(body: bytes) -> set[int] | None:
    """List a ServerHello's extensions by number; `None` for anything but a ServerHello."""
    session_id_at = _RANDOM_AT + _RANDOM_BYTES
    if len(body) <= session_id_at:
        return None
    at = session_id_at + 1 + body[session_id_at] + 3  # Cipher suite and compression method.
    end = at + 2 + int.from_bytes(body[at : at + 2])
    if end != len(body):
        return None
    at += 2
    found = set()
    while at + 4 <= end:
        found.add(int.from_bytes(body[at : at + 2]))
        at += 4 + int.from_bytes(body[at + 2 : at + 4])
    return found if at == end else None
