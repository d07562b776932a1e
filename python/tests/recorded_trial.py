"""The records of one trial as a campaign writes them: warm-up, measured load in early data, two more requests."""

from resolab.basics.records import (
    FORMAT_VERSION,
    ConnectionRecord,
    DirectionSummary,
    DnsTransport,
    EdgeQueryRecord,
    EdgeRequestRecord,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    PageLoadRecord,
    PathSummaryRecord,
    Record,
    ResolverPath,
    ResourceRecord,
    TrialEndRecord,
    TrialRecord,
)

HOST = "wikipedia.resolab.test"
START_UNIX_MS = 1_795_298_566_266.5
WARMUP_NS, MEASURED_NS = 1_000, 2_000
QUIET = DirectionSummary(
    bytes_in_bytes=0, bytes_out_bytes=0, dropped_device_count=0, dropped_loss_count=0, dropped_queue_count=0,
    lateness_p50_ns=0, lateness_p99_ns=0, lateness_max_ns=0, packets_in_count=0, packets_out_count=0,
)  # fmt: skip


def trial(name: str = "b000-t000") -> TrialRecord:
    return TrialRecord(
        format_version=FORMAT_VERSION, trial_id=name, block=0, position=0, condition="wikipedia.4g.doudp.h3.zero_rtt",
        page="wikipedia", profile="4g", dns_transport=DnsTransport.DOUDP, resolver_path=ResolverPath.NATIVE,
        http_version=HttpVersion.H3, requested_handshake_mode=HandshakeMode.ZERO_RTT, monotonic_ns=0,
        wall_time_unix_ns=1_795_298_562_000_000_000, load_average_1min=0.1,
    )  # fmt: skip


def page_load(*, measured: bool = True, failure: PageFailure | None = None) -> PageLoadRecord:
    return PageLoadRecord(
        url=f"https://{HOST}/", browser="chromium", browser_version="156.0", measured=measured,
        requested_handshake_mode=HandshakeMode.ZERO_RTT, handshake_mode=HandshakeMode.ZERO_RTT, next_hop_protocol="h3",
        navigation_start_unix_ms=None if failure else START_UNIX_MS,
        dom_content_loaded_ms=None if failure else 440.4, plt_ms=None if failure else 463.6, failure=failure,
        failure_detail="net::ERR_NAME_NOT_RESOLVED" if failure else None, limit_ms=30_000.0,
    )  # fmt: skip


def resource(path: str, kind: str, start: float, *instants: float, size: int | None = None) -> ResourceRecord:
    names = ("domain_lookup_start_ms", "domain_lookup_end_ms", "connect_start_ms", "connect_end_ms",
             "request_start_ms", "response_start_ms", "response_end_ms")  # fmt: skip
    return ResourceRecord(
        url=f"https://{HOST}{path}", initiator_type=kind, next_hop_protocol="h3", start_ms=start, status=200,
        transfer_size_bytes=None if size is None else size + 300, encoded_body_bytes=size,
        **dict(zip(names, instants, strict=True)),
    )  # fmt: skip


def edge_request(path: str, connection: int, received_ns: int, size: int, **more: object) -> EdgeRequestRecord:
    return EdgeRequestRecord(
        connection_id=connection, http_version=HttpVersion.H3, peer_address="10.77.0.2:5000", received_ns=received_ns,
        in_early_data=path == "/", method="GET", authority=HOST, path=path, status=200, body_bytes=size, **more,
    )  # fmt: skip


def connection(number: int) -> ConnectionRecord:
    return ConnectionRecord(
        connection_id=number, protocol="quic", local_address="10.77.1.2:443", peer_address="10.77.0.2:5000",
        alpn="h3", accepted_ns=0,
    )  # fmt: skip


def edge_query(received_ns: int) -> EdgeQueryRecord:
    return EdgeQueryRecord(
        dns_transport=DnsTransport.DOUDP, peer_address="10.77.0.2:4000", qname=f"{HOST}.", qtype="A", query_bytes=40,
        received_ns=received_ns,
    )  # fmt: skip


def records() -> list[Record]:
    warmup = [edge_request(path, 3, WARMUP_NS + 10, 1) for path in ("/", "/logo.png", "/index.js?v=1&w=")]
    return [
        trial(),
        page_load(measured=False),
        page_load(),
        resource("/", "navigation", 0.0, 2.7, 95.6, 95.6, 190.2, 96.9, 190.6, 307.8, size=18_252),
        resource("/logo.png", "img", 206.5, 206.5, 206.5, 206.5, 206.5, 208.8, 308.8, 434.1, size=15_857),
        resource("/index.js?v=1&w=", "script", 309.0, 309.0, 309.0, 309.0, 309.0, 311.4, 433.5, 434.5, size=200),
        edge_query(WARMUP_NS),
        *warmup,
        connection(3),
        edge_query(MEASURED_NS + 1),
        edge_request("/", 4, MEASURED_NS + 10, 18_252),
        edge_request("/logo.png", 4, MEASURED_NS + 20, 15_857),
        edge_request("/index.js?v=1&w=", 4, MEASURED_NS + 30, 200, content_encoding="br", resource_bytes=614),
        connection(4),
        PathSummaryRecord(
            label="measured", profile="4g", window_start_ns=MEASURED_NS, window_end_ns=MEASURED_NS + 99,
            unrecognised_packets_count=0, up=QUIET, down=QUIET,
        ),
        TrialEndRecord(trial_id="b000-t000", monotonic_ns=9, flags=["lateness_exceeded"]),
    ]  # fmt: skip
