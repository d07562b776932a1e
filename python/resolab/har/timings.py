"""A request's W3C instants as the phases of HAR 1.2.

For: pure arithmetic. Not for: what else stands in an entry (`entry`).

HAR's phases follow each other without overlap and sum up to the entry's time: -1 is what did not happen, `ssl` is part
of `connect` and not added. W3C's instants leave gaps (waiting for a connection, for the renderer) and overlap where a
request is sent in early data, before the handshake is over. So a gap goes to `blocked`, `connect` ends where the
request begins, and `send` is 0 because no instant tells when the last byte of a request had been sent.
"""

from resolab.records import ResourceRecord

ABSENT = -1.0


def timings_of(resource: ResourceRecord) -> dict[str, float]:
    """Phases of one request in ms; whole only when the browser told them, else all of its time is `receive`."""
    request, response, end = resource.request_start_ms, resource.response_start_ms, resource.response_end_ms
    if request is None or response is None:
        # Withheld (another origin without Timing-Allow-Origin), or never answered.
        return _phases(receive=max(0.0, end - resource.start_ms) if end is not None else 0.0)
    dns = _length(resource.domain_lookup_start_ms, resource.domain_lookup_end_ms)
    connect_end = resource.connect_end_ms
    if connect_end is not None:
        connect_end = min(connect_end, request)
    connect = _length(resource.connect_start_ms, connect_end)
    if connect == ABSENT and _length(resource.connect_start_ms, resource.connect_end_ms) != ABSENT:
        connect = 0.0
    blocked = request - resource.start_ms - max(dns, 0.0) - max(connect, 0.0)
    return _phases(
        blocked=max(0.0, blocked),
        dns=dns,
        connect=connect,
        ssl=_tls(resource, connect, connect_end),
        wait=response - request,
        receive=max(0.0, end - response) if end is not None else 0.0,
    )


def _tls(resource: ResourceRecord, connect: float, connect_end: float | None) -> float:
    """How much of `connect` was TLS: all of it where QUIC's handshake is TLS's."""
    if resource.next_hop_protocol == "h3" or connect == ABSENT:
        return connect
    return _length(resource.secure_connection_start_ms, connect_end)


def total_ms(timings: dict[str, float]) -> float:
    """Sum of the phases that happened, as HAR defines an entry's time."""
    return _rounded(sum(value for name, value in timings.items() if name != "ssl" and value > 0))


def _phases(
    *,
    blocked: float = ABSENT,
    dns: float = ABSENT,
    connect: float = ABSENT,
    ssl: float = ABSENT,
    wait: float = 0.0,
    receive: float = 0.0,
) -> dict[str, float]:
    phases = {"blocked": blocked, "dns": dns, "connect": connect, "ssl": ssl}
    phases |= {"send": 0.0, "wait": max(0.0, wait), "receive": receive}
    return {name: _rounded(value) for name, value in phases.items()}


def _length(start: float | None, end: float | None) -> float:
    """How long a phase took; equal instants mean that it did not happen (Resource Timing, section 4.3)."""
    if start is None or end is None or end <= start:
        return ABSENT
    return end - start


def _rounded(value: float) -> float:
    return round(value, 3)
