"""A request's W3C instants as the phases of HAR 1.2.

For: pure arithmetic. Not for: the other parts of an entry (`archive`).

HAR's phases follow each other without overlap and sum up to the entry's time. A phase of -1 did not happen. `ssl` is
part of `connect` and not added. W3C's instants leave gaps: waiting for a connection, or for the renderer. The instants
overlap for a request in early data, sent before the end of the handshake. Therefore a gap goes to `blocked`, and
`connect` ends at the start of the request. `send` is 0 because no instant marks the last byte of a request.
"""

from resolab.basics.records import ResourceRecord

ABSENT = -1.0


def compute_timings(resource: ResourceRecord) -> dict[str, float]:
    """Return the phases of one request in ms. Without the browser's instants, all of the time is `receive`."""
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
    """Return the TLS part of `connect`: all of `connect` for QUIC, as QUIC's handshake is TLS's."""
    if resource.next_hop_protocol == "h3" or connect == ABSENT:
        return connect
    return _length(resource.secure_connection_start_ms, connect_end)


def total_ms(timings: dict[str, float]) -> float:
    """Sum the phases with a duration, as HAR defines an entry's time."""
    return _round(sum(value for name, value in timings.items() if name != "ssl" and value > 0))


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
    return {name: _round(value) for name, value in phases.items()}


def _length(start: float | None, end: float | None) -> float:
    """Return a phase's duration; equal instants mark an absent phase (Resource Timing, section 4.3)."""
    if start is None or end is None or end <= start:
        return ABSENT
    return end - start


def _round(value: float) -> float:
    return round(value, 3)
