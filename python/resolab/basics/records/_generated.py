"""Generated from crates/record by scripts/schema; do not edit."""

import enum

import msgspec


FORMAT_VERSION = "1.25"


class AddressProof(enum.StrEnum):
    """The proof of a QUIC client's address."""

    RETRY_TOKEN = "retry_token"
    NEW_TOKEN = "new_token"
    HANDSHAKE = "handshake"


class Failure(enum.StrEnum):
    """The reason for the failure of a query, connection or request."""

    BOOTSTRAP_FAILED = "bootstrap_failed"
    TCP_CONNECT_REFUSED = "tcp_connect_refused"
    TCP_CONNECT_TIMEOUT = "tcp_connect_timeout"
    TCP_CONNECT_UNREACHABLE = "tcp_connect_unreachable"
    TLS_HANDSHAKE_FAILED = "tls_handshake_failed"
    TLS_HANDSHAKE_TIMEOUT = "tls_handshake_timeout"
    TLS_ALPN_MISMATCH = "tls_alpn_mismatch"
    TLS_CERTIFICATE_INVALID = "tls_certificate_invalid"
    QUIC_HANDSHAKE_FAILED = "quic_handshake_failed"
    QUIC_HANDSHAKE_TIMEOUT = "quic_handshake_timeout"
    QUIC_HANDSHAKE_UNREACHABLE = "quic_handshake_unreachable"
    QUERY_TIMEOUT = "query_timeout"
    QUERY_REFUSED = "query_refused"
    QUERY_UNREACHABLE = "query_unreachable"
    QUERY_CONNECTION_CLOSED = "query_connection_closed"
    QUERY_MALFORMED = "query_malformed"
    QUERY_TRUNCATED = "query_truncated"
    DNS_RCODE = "dns_rcode"
    HTTP_STATUS = "http_status"
    HTTP_PROTOCOL = "http_protocol"
    OTHER = "other"


class AnnouncedName(msgspec.Struct, kw_only=True, frozen=True):
    """One name of a document.

    Instants are nanoseconds since the fetch's `time_origin_ns`.
    """

    name: str
    found_ns: int | None = None
    announced_ns: int | None = None
    asked_ns: int | None = None
    answered_ns: int | None = None
    pushed: bool
    rcode: str | None = None
    failure: Failure | None = None


class AnswerPush(enum.StrEnum):
    """Answers for a page's names before the browser asks, as if pushed."""

    OFF = "off"
    PAGE_NAMES = "page_names"


class Bootstrap(enum.StrEnum):
    """The source of the address for the resolver's host name.

    The look-up comes before the start of the clock, unless `bootstrap_start_ns` is given.
    """

    GIVEN = "given"
    SYSTEM = "system"
    RESOLVER = "resolver"


class BrowserKind(enum.StrEnum):
    """The kind of a browser, which decides how it is driven.

    Builds of one kind differ in version or code.
    """

    CHROMIUM = "chromium"
    FIREFOX = "firefox"
    CHROMIUM_HEADLESS_SHELL = "chromium-headless-shell"


class BrowserPreset(enum.StrEnum):
    """The browser settings of a published study, including their errors."""

    H20 = "h20"
    S24 = "s24"


class LinkDirection(enum.StrEnum):
    """A direction across the link."""

    UP = "up"
    DOWN = "down"


class BulkTransferRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="bulk_transfer"):
    """One TCP connection sending as fast as possible for a time."""

    label: str | None = None
    direction: LinkDirection
    congestion_control: str
    warm_up_ns: int
    counted_ns: int
    counted_bytes: int
    segment_bytes: int
    retransmitted_segments_count: int
    round_trip_min_us: int


class CacheState(enum.StrEnum):
    """The state of the resolver's cache for a name and type, over all transports.

    Sources are the run's own queries and the answer's TTL.
    """

    FIRST_ASKED = "first_asked"
    WITHIN_TTL = "within_ttl"
    AFTER_TTL = "after_ttl"


class CalibrationCheck(msgspec.Struct, kw_only=True, frozen=True):
    """One quantity of a link, requested and measured."""

    quantity: str
    direction: LinkDirection
    unit: str
    asked: float | None = None
    got: float
    tolerance: float | None = None
    within: bool | None = None
    observations_count: int


class CrossTrafficModel(enum.StrEnum):
    """The arrival process of other traffic on the link."""

    POISSON = "poisson"
    ON_OFF = "on_off"


class CrossTraffic(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Other traffic on the link, taking queue and rate but delivered to no host."""

    model: CrossTrafficModel
    rate_bps: float
    packet_bytes: int | None = None
    on_ms: float | None = None
    off_ms: float | None = None


class GilbertElliott(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Bursty loss:

    a chain of two states with one step per packet (Gilbert 1960, Elliott 1963). As in netem, the state
    moves first, and the previous state decides the packet's loss.
    """

    good_to_bad_ratio: float
    bad_to_good_ratio: float
    good_loss_ratio: float | None = None
    bad_loss_ratio: float | None = None


class JitterDistribution(enum.StrEnum):
    """The shape of a varying delay."""

    NORMAL = "normal"
    LOGNORMAL = "lognormal"


class Jitter(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Variation of the one-way delay:

    a process in time. Packets stay in order, unless `per_packet_reordering` is set. Either a standard
    deviation or quantiles are given.
    """

    standard_deviation_ms: float | None = None
    distribution: JitterDistribution | None = None
    quantiles_ms: list[float] | None = None
    interval_ms: float | None = None
    per_packet_reordering: bool = False


class PolicerSettings(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A token bucket dropping packets above its rate at once, without any wait."""

    rate_bps: float
    burst_bytes: int


class QueueDiscipline(enum.StrEnum):
    """The behaviour of a full queue."""

    DROPTAIL = "droptail"
    CODEL = "codel"


class DirectionProfile(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One direction of an access link."""

    one_way_delay_ms: float
    jitter: Jitter | None = None
    rate_bps: float | None = None
    trace_file: str | None = None
    loss_ratio: float = 0.0
    gilbert_elliott: GilbertElliott | None = None
    policer: PolicerSettings | None = None
    packet_overhead_bytes: int | None = None
    queue_bytes: int | None = None
    queue_packets: int | None = None
    queue_discipline: QueueDiscipline | None = None
    codel_target_ms: float | None = None
    codel_interval_ms: float | None = None
    cross_traffic: CrossTraffic | None = None


class FarNetwork(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Servers farther away than the others, behind the same access link."""

    network: str
    extra_one_way_delay_ms: float


class ScheduledChange(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A change of the link at a time of the schedule:

    a handover, an outage, or both at once.
    """

    after_ms: float
    outage_ms: float | None = None
    profile: str | None = None
    up: DirectionProfile | None = None
    down: DirectionProfile | None = None


class LinkProfile(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A named access link, always with both directions."""

    name: str
    source: str
    mtu_bytes: int | None = None
    up: DirectionProfile
    down: DirectionProfile
    far: list[FarNetwork] | None = None
    schedule: list[ScheduledChange] | None = None


class PathBackend(enum.StrEnum):
    """The mechanism moving packets between the hosts."""

    TUN = "tun"
    PACKET = "packet"
    NETEM = "netem"


class CalibrationRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="calibration"):
    """A profile measured through the path on this machine."""

    profile: LinkProfile
    backend: PathBackend
    realtime_scheduling: bool
    keep_awake: bool
    rootless: bool
    seed: int
    core_version: str
    unix_ns: int
    load_average: float
    checks: list[CalibrationCheck]


class CoalescingMode(enum.StrEnum):
    """The sharing of connections between a query and a page's request."""

    SEPARATE = "separate"
    SHARED_CONNECTION = "shared_connection"
    PRIVATE_ALPN = "private_alpn"


class CommandDoneRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="command_done"):
    """The answer to one command."""

    id: int
    monotonic_ns: int
    error: str | None = None


class ConnectionEnd(enum.StrEnum):
    """The end of a connection kept for further queries."""

    PEER_CLOSED = "peer_closed"
    IDLE_TIMEOUT = "idle_timeout"
    AFTER_FAILURE = "after_failure"
    QUERY_LIMIT = "query_limit"


class ConnectionReason(enum.StrEnum):
    """The reason for sending a request on a connection."""

    OWN_NAME = "own_name"
    ADDRESS = "address"
    ORIGIN = "origin"
    CERTIFICATE = "certificate"


class HandshakeMode(enum.StrEnum):
    """A TLS 1.3 or QUIC handshake:

    the requested handshake in `requested_handshake_mode`, the actual handshake in `handshake_mode`.
    """

    FULL = "full"
    RESUMED = "resumed"
    ZERO_RTT = "zero_rtt"


class KeyExchangeGroup(enum.StrEnum):
    """Group of a TLS 1.3 key exchange (RFC 8446 section 4.2.7), in lower case."""

    X25519MLKEM768 = "x25519mlkem768"
    X25519 = "x25519"
    SECP256R1 = "secp256r1"
    SECP384R1 = "secp384r1"


class ConnectionRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="connection"):
    """One TCP or QUIC connection, written at its end or when the edge is told to write its records."""

    connection_id: int
    protocol: str
    local_address: str
    peer_address: str
    server_name: str | None = None
    alpn: str | None = None
    handshake_mode: HandshakeMode | None = None
    early_data_accepted: bool | None = None
    accepted_ns: int
    handshake_complete_ns: int | None = None
    closed_ns: int | None = None
    failure: Failure | None = None
    failure_detail: str | None = None
    tls_version: str | None = None
    quic_version: str | None = None
    cipher_suite: str | None = None
    early_data_offered: bool | None = None
    retry_sent: bool | None = None
    address_validated_by: AddressProof | None = None
    client_hello_ns: int | None = None
    server_flight_ns: int | None = None
    received_bytes: int | None = None
    sent_bytes: int | None = None
    queries_count: int = 0
    requests_count: int = 0
    closed_by_client: bool | None = None
    close_code: int | None = None
    key_exchange_group: KeyExchangeGroup | None = None
    hello_retry_request: bool | None = None
    client_hello_bytes: int | None = None
    client_hello_packets_count: int | None = None
    server_hello_bytes: int | None = None
    certificate_bytes: int | None = None
    server_flight_packets_count: int | None = None


class ConnectionSharing(enum.StrEnum):
    """The rule for sending requests on a connection opened for another name."""

    SEPARATE = "separate"
    BROWSER_RULE = "browser_rule"
    ORIGIN_FRAME = "origin_frame"
    CERTIFICATE = "certificate"
    RESOLVER_CONNECTION = "resolver_connection"


class ConnectionState(enum.StrEnum):
    """The state of a query's connection at its start."""

    COLD = "cold"
    WARM = "warm"


class ConnectionsSummary(msgspec.Struct, kw_only=True, frozen=True):
    """Connections accepted and refused by the edge since its start."""

    tcp_connections_count: int
    quic_connections_count: int
    open_connections_count: int
    queries_count: int
    requests_count: int
    retries_count: int
    refused_total_count: int
    refused_peer_count: int
    refused_command_count: int
    refused_tls_version_count: int
    handshake_timeouts_count: int
    slow_peers_count: int
    stored_tickets_count: int
    resident_bytes: int


class CookieState(enum.StrEnum):
    """The contents of a message's COOKIE option (RFC 7873 section 4)."""

    NONE = "none"
    CLIENT_ONLY = "client_only"
    SERVER = "server"


class CoverageSource(enum.StrEnum):
    """The source of the knowledge about the certificate's coverage of the page's host."""

    CONNECTION = "connection"
    EARLIER = "earlier"


class DelayDistribution(enum.StrEnum):
    """The shape of a delay drawn anew for each query."""

    CONSTANT = "constant"
    UNIFORM = "uniform"
    EXPONENTIAL = "exponential"
    LOGNORMAL = "lognormal"
    PARETO = "pareto"
    SAMPLES = "samples"


class DirectionSummary(msgspec.Struct, kw_only=True, frozen=True):
    """The counts of one direction since the last summary."""

    packets_in_count: int
    packets_out_count: int
    bytes_in_bytes: int
    bytes_out_bytes: int
    dropped_loss_count: int
    dropped_queue_count: int
    dropped_codel_count: int = 0
    dropped_policer_count: int = 0
    dropped_outage_count: int = 0
    dropped_device_count: int
    lateness_p50_ns: int | None = None
    lateness_p99_ns: int | None = None
    lateness_max_ns: int | None = None


class DiscardedBecause(enum.StrEnum):
    """The reason for discarding the response to a speculative request."""

    OTHER_REQUEST = "other_request"
    NOT_SHARED = "not_shared"
    UNCLAIMED = "unclaimed"


class DnsFailure(enum.StrEnum):
    """The reason for a failed look-up of a page, by the edge's records.

    Browsers report the same error for all reasons.
    """

    NXDOMAIN = "nxdomain"
    SERVFAIL = "servfail"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    TRANSPORT = "transport"


class DnsTransport(enum.StrEnum):
    """The transport of a DNS query."""

    DOUDP = "doudp"
    DOTCP = "dotcp"
    DOT = "dot"
    DOH = "doh"
    DOH3 = "doh3"
    DOQ = "doq"


class DohMethod(enum.StrEnum):
    """The method of a `DoH` query (RFC 8484, section 4.1)."""

    GET = "get"
    POST = "post"


class FailureMode(enum.StrEnum):
    """The edge's deliberate failure of queries for a name, in place of an answer from its records."""

    NXDOMAIN = "nxdomain"
    SERVFAIL = "servfail"
    REFUSED = "refused"
    DROP = "drop"
    TRUNCATED = "truncated"


class NameDelay(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """A delay drawn from a separate random stream.

    Fields unused by the distribution are absent.
    """

    distribution: DelayDistribution
    mean_ms: float | None = None
    min_ms: float | None = None
    max_ms: float | None = None
    median_ms: float | None = None
    sigma: float | None = None
    shape: float | None = None
    samples_ms: list[float] | None = None
    share_ratio: float | None = None
    seed: int | None = None


class RetryMode(enum.StrEnum):
    """The rule for QUIC clients to prove their address by a Retry (RFC 9000 section 8.1.2)."""

    OFF = "off"
    WITHOUT_TOKEN = "without_token"
    ALWAYS = "always"


class TicketPolicy(enum.StrEnum):
    """The edge's rule for issuing and accepting session tickets, per server name."""

    NONE = "none"
    RESUME = "resume"
    EARLY_DATA = "early_data"
    REJECT_EARLY_DATA = "reject_early_data"


class EdgeSetTicketPolicy(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_ticket_policy"):
    """Set the ticket policy of a server name from now on."""

    id: int
    name: str | None = None
    policy: TicketPolicy


class EdgeSetTickets(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_tickets"):
    """Set the lifetime and number of a server name's tickets from now on."""

    id: int
    name: str | None = None
    lifetime_s: int | None = None
    per_handshake_count: int | None = None


class EdgeSetAddressValidation(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_address_validation"
):
    """Set the address validation of QUIC clients by a Retry, from the next Initial on."""

    id: int
    address: str | None = None
    retry: RetryMode


class EdgeSetAccepting(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_accepting"):
    """Take or refuse new connections.

    Open connections stay.
    """

    id: int
    accepting: bool
    name: str | None = None
    address: str | None = None


class EdgeSetBlackHole(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_black_hole"):
    """Swallow packets of connections as a dead path does.

    The connections stay open.
    """

    id: int
    name: str | None = None
    black_hole: bool


class EdgeCloseConnections(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="close_connections"):
    """Close connections from the server's side.

    QUIC uses CONNECTION_CLOSE with H3_NO_ERROR (or DOQ_NO_ERROR). TLS uses GOAWAY where available,
    close_notify and FIN.
    """

    id: int
    name: str | None = None
    names: list[str] | None = None


class EdgeFlush(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="flush"):
    """Write a `connection` record for each open connection, and `command_done` after all pending records.

    Records of everything before are then on standard output.
    """

    id: int


class EdgeLoadSite(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="load_site"):
    """Add or replace a site while running.

    Requests under way are answered by the site's previous state.
    """

    id: int
    host: str
    folder: str | None = None
    address: str | None = None
    settings: str | None = None


class EdgeRemoveSite(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="remove_site"):
    """Remove a site and the records of its name.

    Requests under way are answered.
    """

    id: int
    host: str


class EdgeCoverNames(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="cover_names"):
    """Set the names covered by the resolver's certificate beside its own name.

    The names hold from the next ClientHello on and replace earlier names. The resolver's connections
    serve the sites among the names. Needs `[coalescing]`.
    """

    id: int
    names: list[str]


class EdgeSetOriginFrames(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_origin_frames"):
    """Turn ORIGIN frames on or off from the next connection on, for connections under certificates with

    `origin_frame`. The resolver's connections are not affected.
    """

    id: int
    telling: bool


class EdgeSetNameBehaviour(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_name_behaviour"):
    """Set the treatment of queries for a name from now on, replacing the previous treatment.

    Without delay and failure, queries are answered as usual.
    """

    id: int
    name: str
    delay_ms: float | None = None
    delay: NameDelay | None = None
    failure: FailureMode | None = None


class EdgeSummary(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="summary"):
    """Write an `edge_summary` record."""

    id: int
    label: str | None = None


EdgeCommand = (
    EdgeSetTicketPolicy
    | EdgeSetTickets
    | EdgeSetAddressValidation
    | EdgeSetAccepting
    | EdgeSetBlackHole
    | EdgeCloseConnections
    | EdgeFlush
    | EdgeLoadSite
    | EdgeRemoveSite
    | EdgeCoverNames
    | EdgeSetOriginFrames
    | EdgeSetNameBehaviour
    | EdgeSummary
)


class EdgeQueryRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="edge_query"):
    """One DNS query as seen by the edge.

    Instants are `CLOCK_MONOTONIC`, in ns.
    """

    connection_id: int | None = None
    dns_transport: DnsTransport
    peer_address: str
    received_ns: int
    answered_ns: int | None = None
    in_early_data: bool | None = None
    qname: str
    qtype: str
    rcode: str | None = None
    query_bytes: int
    response_bytes: int | None = None
    delay_ns: int | None = None
    failure_mode: FailureMode | None = None
    forwarded: bool = False


class EdgeReadyRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="edge_ready"):
    """The edge is listening on every address and port of its configuration."""

    ca_file: str
    ca_spki_sha256: str
    listeners: list[str]


class HttpVersion(enum.StrEnum):
    """An HTTP version, requested or used."""

    H1 = "h1"
    H2 = "h2"
    H3 = "h3"
    ANY = "any"


class EdgeRequestRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="edge_request"):
    """One HTTP request for a page's resource as seen by the edge.

    Instants are `CLOCK_MONOTONIC`, in ns.
    """

    connection_id: int
    http_version: HttpVersion
    peer_address: str
    received_ns: int
    in_early_data: bool
    handshake_complete_ns: int | None = None
    session_resumed: bool | None = None
    method: str
    authority: str
    path: str
    status: int
    body_bytes: int
    content_encoding: str | None = None
    content_range: str | None = None
    resource_bytes: int | None = None
    server_time_ns: int | None = None
    first_body_byte_ns: int | None = None
    response_sent_ns: int | None = None


class WireCacheSummary(msgspec.Struct, kw_only=True, frozen=True):
    """The counts of the wire-format cache."""

    hit_count: int
    miss_count: int
    hit_ratio: float | None = None
    entry_count: int
    entry_bytes: int
    invalidation_count: int


class EdgeSummaryRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="edge_summary"):
    """The edge's counts since its start, written by a `summary` command and at the end."""

    label: str | None = None
    monotonic_ns: int
    queries: dict[str, int]
    rcodes: dict[str, int]
    unanswered_count: int
    delayed_count: int
    failed_on_purpose_count: int
    forwarded_count: int
    forward_failed_count: int
    wire_cache: WireCacheSummary | None = None
    connections: ConnectionsSummary | None = None


class FetchConnection(msgspec.Struct, kw_only=True, frozen=True):
    """One connection of a fetch.

    Instants are nanoseconds since the fetch's `time_origin_ns`.
    """

    address: str
    server_name: str
    alpn: str | None = None
    handshake_mode: HandshakeMode | None = None
    early_data_accepted: bool | None = None
    address_token_used: bool
    quic_retry: bool | None = None
    quic_handshake_start_ns: int | None = None
    quic_handshake_end_ns: int | None = None
    connection_min_rtt_ns: int | None = None
    retransmitted_count: int | None = None
    sent_bytes: int | None = None
    received_bytes: int | None = None
    key_exchange_group: KeyExchangeGroup | None = None
    hello_retry_request: bool | None = None
    client_hello_bytes: int | None = None
    client_hello_packets_count: int | None = None
    server_hello_bytes: int | None = None
    certificate_bytes: int | None = None
    server_flight_packets_count: int | None = None


class NameAnnouncement(enum.StrEnum):
    """The source of a document's names for the fetching client."""

    DOCUMENT = "document"
    EARLY_HINTS = "early_hints"
    HTTPS_RECORD = "https_record"
    SERVER_PUSH = "server_push"


class FetchNamesRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="fetch_names"):
    """A document and the addresses of its names.

    Instants are nanoseconds since `time_origin_ns`.
    """

    announcement: NameAnnouncement
    coalescing_mode: CoalescingMode
    url: str
    resolver: str
    sequence: int
    time_origin_ns: int | None = None
    connection_min_rtt_ns: int | None = None
    name_complete_ns: int | None = None
    document_request_ns: int | None = None
    document_first_byte_ns: int | None = None
    document_complete_ns: int | None = None
    status: int | None = None
    document_bytes: int | None = None
    names: list[AnnouncedName]
    names_complete_ns: int | None = None
    name_wait_ns: int | None = None
    unneeded_count: int
    refused_push_count: int
    failure: Failure | None = None
    failure_detail: str | None = None


class QueryPurpose(enum.StrEnum):
    """The purpose of a query."""

    MEASURED = "measured"
    PRIMING = "priming"
    FORWARDED = "forwarded"
    PUSHED = "pushed"


class SharedBecause(enum.StrEnum):
    """The reason for using the resolver's connection for the page, once the name was known."""

    ADDRESS = "address"
    ORIGIN = "origin"


class Speculation(enum.StrEnum):
    """The outcome of a request sent beside the query."""

    NOT_SENT = "not_sent"
    USED = "used"
    DISCARDED = "discarded"


class FetchRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="fetch"):
    """One name and page, fetched successfully or not.

    Instants are nanoseconds since `time_origin_ns`.
    """

    coalescing_mode: CoalescingMode
    speculative: bool
    url: str
    resolver: str
    purpose: QueryPurpose
    sequence: int
    time_origin_ns: int
    limit_ns: int | None = None
    requested_handshake_mode: HandshakeMode
    connections: list[FetchConnection]
    query_start_ns: int | None = None
    name_complete_ns: int | None = None
    rcode: str | None = None
    addresses: list[str]
    speculation: Speculation | None = None
    coverage_source: CoverageSource | None = None
    shared_because: SharedBecause | None = None
    page_request_ns: int | None = None
    page_head_ns: int | None = None
    page_first_byte_ns: int | None = None
    page_complete_ns: int | None = None
    status: int | None = None
    page_bytes: int | None = None
    name_round_trip_count: float | None = None
    first_byte_round_trip_count: float | None = None
    page_round_trip_count: float | None = None
    failure: Failure | None = None
    failure_detail: str | None = None


class FlowRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="flow"):
    """The tap's totals of one flow (five-tuple) in a window, as passing the link."""

    label: str | None = None
    protocol: str
    client_address: str
    client_port: int | None = None
    server_address: str
    server_port: int | None = None
    first_packet_ns: int
    last_packet_ns: int
    up_packets_count: int
    up_bytes: int
    down_packets_count: int
    down_bytes: int
    up_first_entered_ns: int | None = None
    up_last_entered_ns: int | None = None
    up_first_delivered_ns: int | None = None
    up_last_delivered_ns: int | None = None
    up_delivered_count: int = 0
    down_first_entered_ns: int | None = None
    down_last_entered_ns: int | None = None
    down_first_delivered_ns: int | None = None
    down_last_delivered_ns: int | None = None
    down_delivered_count: int = 0
    tcp_up_retransmitted_count: int | None = None
    tcp_down_retransmitted_count: int | None = None
    quic_up_initial_count: int | None = None
    quic_up_zero_rtt_count: int | None = None
    quic_up_handshake_count: int | None = None
    quic_down_initial_count: int | None = None
    quic_down_handshake_count: int | None = None
    quic_down_retry_count: int | None = None
    quic_down_version_negotiation_count: int | None = None


class ForwardedFor(msgspec.Struct, kw_only=True, frozen=True):
    """The stub's side of a forwarded query.

    Instants are in ns since `time_origin_ns`.
    """

    client_address: str
    answered_ns: int | None = None


class GatewayNewLoad(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="new_load"):
    """Close every connection (upstream, to the resolver and to the browser), and count the next load.

    The reply comes when all records of the previous load are written and none of its connections sends
    any more.
    """

    id: int
    forget_tickets: bool
    speculate_for: str | None = None


class GatewayStop(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="stop"):
    """Close every connection and end."""

    id: int


GatewayCommand = GatewayNewLoad | GatewayStop


class GatewayConnectionRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="gateway_connection"):
    """A connection of the gateway upstream, written when the gateway gives the connection up.

    Instants are `CLOCK_MONOTONIC`, in ns.
    """

    load: int
    connection_id: int
    host: str
    address: str | None = None
    http_version: HttpVersion
    requested_handshake_mode: HandshakeMode
    handshake_mode: HandshakeMode | None = None
    early_data_accepted: bool | None = None
    wanted_ns: int
    tcp_connect_start_ns: int | None = None
    tcp_connect_end_ns: int | None = None
    tls_handshake_start_ns: int | None = None
    tls_handshake_end_ns: int | None = None
    quic_handshake_start_ns: int | None = None
    quic_handshake_end_ns: int | None = None
    usable_ns: int | None = None
    closed_ns: int
    requests_count: int
    connection_min_rtt_ns: int | None = None
    failure: Failure | None = None
    failure_detail: str | None = None
    key_exchange_group: KeyExchangeGroup | None = None
    hello_retry_request: bool | None = None
    client_hello_bytes: int | None = None
    client_hello_packets_count: int | None = None
    server_hello_bytes: int | None = None
    certificate_bytes: int | None = None
    server_flight_packets_count: int | None = None


class GatewayLegRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="gateway_leg"):
    """A connection of the browser to the gateway.

    Instants are `CLOCK_MONOTONIC`, in ns.
    """

    load: int
    leg_id: int
    host: str
    http_version: HttpVersion | None = None
    hello_ns: int
    released_ns: int | None = None
    handshake_complete_ns: int | None = None
    requests_count: int
    closed_ns: int
    failure: Failure | None = None
    failure_detail: str | None = None


class GatewayTrigger(enum.StrEnum):
    """The event opening a gateway's upstream connection."""

    DNS = "dns"
    HELLO = "hello"
    REQUEST = "request"
    MIRROR = "mirror"


class GatewayReadyRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="gateway_ready"):
    """A gateway is listening."""

    dns_address: str
    range: str
    port: int
    resolver: str
    ca_file: str
    ca_spki_sha256: str
    trigger: GatewayTrigger
    sharing: ConnectionSharing
    requested_handshake_mode: HandshakeMode
    upstream_http_version: HttpVersion
    leg_http_versions: list[HttpVersion]


class GatewayRequestRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="gateway_request"):
    """A request at the gateway, successful or not.

    Instants are `CLOCK_MONOTONIC`, in ns. The gateway's own time is in three pairs: `sent_ns` -
    `received_ns`, `head_passed_ns` - `head_ns`, `last_passed_ns` - `last_ns`.
    """

    load: int
    request_id: int
    leg_id: int
    leg_http_version: HttpVersion
    connection_id: int | None = None
    connection_reason: ConnectionReason | None = None
    sent_early: bool | None = None
    method: str
    authority: str
    path: str
    priority: str | None = None
    priority_updates_count: int = 0
    received_ns: int
    sent_ns: int | None = None
    interim_responses_count: int
    head_ns: int | None = None
    head_passed_ns: int | None = None
    last_ns: int | None = None
    last_passed_ns: int | None = None
    status: int | None = None
    request_body_bytes: int
    response_body_bytes: int
    speculation: Speculation | None = None
    sent_again_count: int
    cancelled: bool
    failure: Failure | None = None
    failure_detail: str | None = None


class GatewaySpeculationRecord(
    msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="gateway_speculation"
):
    """The outcome of a load's request meant to leave before the document's name was known.

    Instants are `CLOCK_MONOTONIC`, in ns.
    """

    load: int
    host: str
    speculation: Speculation
    discarded_because: DiscardedBecause | None = None
    connection_id: int | None = None
    coverage_source: CoverageSource | None = None
    path: str | None = None
    query_ns: int
    sent_ns: int | None = None
    discarded_body_bytes: int | None = None


class H3Discovery(enum.StrEnum):
    """The reason for a browser's use of HTTP/3 to an origin."""

    FORCED = "forced"
    HTTPS_RECORD = "https_record"
    ALT_SVC = "alt_svc"


class HelloCount(msgspec.Struct, kw_only=True, frozen=True):
    """Connections with equal hellos."""

    connection_count: int
    key_exchange_group: KeyExchangeGroup | None = None
    hello_retry_request: bool | None = None
    client_hello_bytes: int | None = None
    client_hello_packets_count: int | None = None
    server_hello_bytes: int | None = None
    certificate_bytes: int | None = None
    server_flight_packets_count: int | None = None


class InternetSetHost(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_host"):
    """Change a host's path to the exchange from now on.

    Packets under way keep their times.
    """

    id: int
    name: str
    one_way_ms: float | None = None
    loss_ratio: float | None = None
    down: bool | None = None


class InternetCount(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="count"):
    """Write an `internet_flows` record of the window since the last record (or the start), and begin a new

    window.
    """

    id: int
    label: str | None = None


InternetCommand = InternetSetHost | InternetCount


class InternetFlow(msgspec.Struct, kw_only=True, frozen=True):
    """The packets of a host to one port of one address, delivered or not."""

    source_host: str
    destination_address: str
    destination_host: str | None = None
    protocol: str
    destination_port: int | None = None
    packets_count: int
    total_bytes: int


class InternetFlowsRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="internet_flows"):
    """The packets passing the exchange in a window of time."""

    label: str | None = None
    window_start_ns: int
    window_end_ns: int
    flows: list[InternetFlow]
    unlisted_packets_count: int
    delivered_packets_count: int
    unowned_packets_count: int
    foreign_source_packets_count: int
    lost_packets_count: int
    dropped_queue_count: int
    dropped_down_count: int
    dropped_device_count: int
    lateness_p50_ns: int | None = None
    lateness_p99_ns: int | None = None
    lateness_max_ns: int | None = None


class InternetNetwork(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Addresses of a host;

    its programs can use any of them.
    """

    prefix: str
    extra_one_way_ms: float = 0.0


class InternetHost(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """One host and its path to the exchange."""

    name: str
    address: str | None = None
    one_way_ms: float = 0.0
    rate_up_mbps: float | None = None
    rate_down_mbps: float | None = None
    loss_ratio: float = 0.0
    queue_packets: int | None = None
    down: bool = False
    networks: list[InternetNetwork]


class InternetReadyRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="internet_ready"):
    """An internet is ready:

    programs can be placed in its hosts with `resolab-core enter --path PID --host NAME`.
    """

    pid: int
    hosts: list[InternetHost]
    mtu_bytes: int
    seed: int
    realtime_scheduling: bool
    keep_awake: bool
    rootless: bool


class LiveWay(enum.StrEnum):
    """The access of browser and stub to the machine's network."""

    ROOT = "root"
    USER_CAPABILITY = "user_capability"
    SLIRP4NETNS = "slirp4netns"
    DNS_ONLY = "dns_only"


class LiveTrialRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="live_trial"):
    """One trial over the real network."""

    vantage_point: str
    way: LiveWay
    way_note: str | None = None
    url: str
    resolver: str
    dns_transport: DnsTransport
    resolver_url: str
    resolver_address: str | None = None
    system_resolver: str | None = None
    system_resolver_forwards_to: list[str]
    ipv6: bool
    user_agent: str | None = None
    operator_url: str
    authority_sha256: str | None = None
    names: list[str]
    server_addresses: list[str]
    waited_s: float
    stop_sign: str | None = None
    unknown: list[str]
    load_average_1min: float


class LoadPace(enum.StrEnum):
    """The rule for sending queries."""

    CLOSED = "closed"
    CONSTANT = "constant"
    POISSON = "poisson"


class LoadProgressRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="load_progress"):
    """The counts of a load run in one interval."""

    interval_start_ns: int
    interval_end_ns: int
    sent_count: int
    completed_count: int
    lost_count: int
    interrupted_count: int
    failed_count: int
    completed_rate_per_s: float
    mean_query_response_time_ns: float | None = None


class TimeDistribution(msgspec.Struct, kw_only=True, frozen=True):
    """The distribution of a set of durations.

    Quantiles are exact to three digits.
    """

    sample_count: int
    min_ns: int
    mean_ns: float
    stddev_ns: float
    p50_ns: int
    p90_ns: int
    p95_ns: int
    p99_ns: int
    p99_9_ns: int
    p99_99_ns: int | None = None
    max_ns: int


class LoadRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="load"):
    """The settings, counts and distributions of a load run.

    Each query sent has exactly one end: `sent_count` is the sum of completed, lost, interrupted and
    failed.
    """

    dns_transport: DnsTransport
    resolver: str
    resolver_address: str
    certificate_checked: bool | None = None
    pace: LoadPace
    seed: int
    thread_count: int
    connection_count: int
    outstanding_limit_count: int
    timeout_ns: int
    http_method: str | None = None
    segmentation_offload: bool
    spinning: bool
    run_ns: int
    stopped_early: bool
    failure: Failure | None = None
    asked_rate_per_s: float | None = None
    sent_rate_per_s: float
    rate_error_ratio: float | None = None
    completed_rate_per_s: float
    sent_count: int
    completed_count: int
    lost_count: int
    interrupted_count: int
    failed_count: int
    failures: dict[str, int]
    rcodes: dict[str, int]
    truncated_count: int
    late_count: int
    refused_count: int = 0
    duplicate_count: int
    alien_count: int
    query_bytes: int
    response_bytes: int
    query_response_time: TimeDistribution
    query_exchange: TimeDistribution | None = None
    send_lateness: TimeDistribution | None = None
    histogram_upper_ns: list[int]
    histogram_count: list[int]
    coalescing_wait_limit_ns: int
    coalescing_adaptive: bool
    coalescing_wait_mean_ns: float
    wake_count: int
    answers_per_wake: float
    kernel_receive_stamps: bool
    reconnect_count: int
    handshake_count: int
    handshake_failure_count: int
    connect: TimeDistribution | None = None
    hellos: list[HelloCount] = []
    client_cpu_ns: int
    client_cpu_per_query_ns: float | None = None


class NameResolution(enum.StrEnum):
    """The resolver asking over Do53 when the browser itself uses no `DoH`."""

    BUILT_IN = "built_in"
    GETADDRINFO = "getaddrinfo"


class PageFailure(enum.StrEnum):
    """The reason for a failed page load."""

    PAGE_TIMEOUT = "page_timeout"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    HTTP_STATUS = "http_status"
    INCOMPLETE = "incomplete"
    BROWSER_CRASH = "browser_crash"
    BROWSER_HANG = "browser_hang"
    DRIVER = "driver"
    LAB_ENDED = "lab_ended"
    LEFT_ALONE = "left_alone"
    OTHER = "other"


class PageLoadRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="page_load"):
    """One page load.

    Instants ending in `_ms` are milliseconds since navigationStart as given by the browser (W3C
    Navigation Timing, Paint Timing, Largest Contentful Paint).
    """

    url: str
    browser: str
    browser_kind: BrowserKind | None = None
    browser_version: str
    measured: bool
    requested_handshake_mode: HandshakeMode
    handshake_mode: HandshakeMode | None = None
    next_hop_protocol: str | None = None
    navigation_start_unix_ms: float | None = None
    fetch_start_ms: float | None = None
    domain_lookup_start_ms: float | None = None
    domain_lookup_end_ms: float | None = None
    connect_start_ms: float | None = None
    connect_end_ms: float | None = None
    request_start_ms: float | None = None
    response_start_ms: float | None = None
    response_end_ms: float | None = None
    dom_interactive_ms: float | None = None
    dom_content_loaded_ms: float | None = None
    plt_ms: float | None = None
    fcp_ms: float | None = None
    lcp_ms: float | None = None
    transfer_size_bytes: int | None = None
    request_count: int | None = None
    failure: PageFailure | None = None
    failure_detail: str | None = None
    limit_ms: float
    dns_handshake_mode: HandshakeMode | None = None
    dns_connection_state: ConnectionState | None = None
    dns_failure: DnsFailure | None = None
    foreign_names: list[str] = []
    last_byte_ms: float | None = None
    plt_sum_ms: float | None = None
    dns_cache_state: ConnectionState | None = None
    http_cache_state: ConnectionState | None = None
    socket_state: ConnectionState | None = None
    ticket_state: ConnectionState | None = None
    console_errors: list[str] = []
    screenshot_file: str | None = None


class PageSpeculation(enum.StrEnum):
    """A gateway's request for a page's document before the browser's own request."""

    OFF = "off"
    DOCUMENT = "document"


class PingMethod(enum.StrEnum):
    """The packets sent and awaited."""

    ICMP = "icmp"
    TCP = "tcp"
    QUIC = "quic"


class PassedOver(msgspec.Struct, kw_only=True, frozen=True):
    """A method tried without success."""

    method: PingMethod
    port: int | None = None
    reason: str


class PathSummary(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="summary"):
    """Write `path_summary` and `flow` records of the window since the last summary (or the start), and

    begin a new window.
    """

    id: int
    label: str | None = None


class PathSetProfile(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="set_profile"):
    """Put another profile in force.

    Packets under way keep their times.
    """

    id: int
    profile: LinkProfile
    seed: int | None = None
    hold_schedule: bool = False


class PathStartSchedule(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="start_schedule"):
    """Restore the profile as first in force, and start its schedule now."""

    id: int


class PathStartCapture(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="start_capture"):
    """Write every packet from now on into a pcapng file:

    once entering the link and once delivered. The command ends a capture under way.
    """

    id: int
    file: str


class PathStopCapture(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="stop_capture"):
    """End the capture.

    The file is complete when the command is answered.
    """

    id: int


PathCommand = PathSummary | PathSetProfile | PathStartSchedule | PathStartCapture | PathStopCapture


class PathReadyRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="path_ready"):
    """The path is ready:

    programs can be placed in the path with `resolab-core enter --path PID`.
    """

    pid: int
    client_address: str
    server_address: str
    server_network: str
    client_address_v6: str | None = None
    server_address_v6: str | None = None
    server_network_v6: str | None = None
    backend: PathBackend = PathBackend.TUN
    profile: LinkProfile
    seed: int
    realtime_scheduling: bool
    keep_awake: bool
    rootless: bool


class PathSummaryRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="path_summary"):
    """The path's counts and its own error over a window of time."""

    label: str | None = None
    window_start_ns: int
    window_end_ns: int
    profile: str
    up: DirectionSummary
    down: DirectionSummary
    unrecognised_packets_count: int
    backend: PathBackend = PathBackend.TUN
    keep_awake: bool = False
    realtime_scheduling: bool = False
    applied_changes_ns: list[int] = []
    applied_change_indices: list[int] = []


class PingFailure(enum.StrEnum):
    """The reason for a ping without a round trip."""

    TIMEOUT = "timeout"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    OTHER = "other"


class PingRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="ping"):
    """Pings of one address, by the first method with an answer."""

    address: str
    resolver: str | None = None
    time_origin_ns: int
    method: PingMethod | None = None
    port: int | None = None
    rtt_ns: list[int | None]
    failures: list[PingFailure | None]
    passed_over: list[PassedOver]


class ProbeRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="probe"):
    """A train of numbered UDP packets sent through the link."""

    label: str | None = None
    direction: LinkDirection
    packet_bytes: int
    interval_ns: int
    realtime_scheduling: bool
    time_origin_ns: int
    sent_ns: list[int]
    received_ns: list[int | None]


class ProfileChangedRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="profile_changed"):
    """The link got another profile."""

    monotonic_ns: int
    profile: LinkProfile


class QueryGathering(enum.StrEnum):
    """A stub's gathering of simultaneous queries into one message, as a client taking partial responses."""

    OFF = "off"
    ON = "on"


class RetryPolicy(enum.StrEnum):
    """The rule for sending a query again without a response."""

    SYSTEM = "system"
    MODERN = "modern"
    NONE = "none"
    CUSTOM = "custom"


class QueryRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="query"):
    """One DNS query, successful or not.

    Instants are nanoseconds since `time_origin_ns`.
    """

    dns_transport: DnsTransport
    resolver: str
    resolver_address: str | None = None
    bootstrap: Bootstrap
    certificate_checked: bool | None = None
    qname: str
    qtype: str
    qclass: str | None = None
    purpose: QueryPurpose
    sequence: int
    time_origin_ns: int
    connection: ConnectionState | None = None
    requested_handshake_mode: HandshakeMode | None = None
    handshake_mode: HandshakeMode | None = None
    early_data_accepted: bool | None = None
    tcp_connect_start_ns: int | None = None
    tcp_connect_end_ns: int | None = None
    tls_handshake_start_ns: int | None = None
    tls_handshake_end_ns: int | None = None
    quic_handshake_start_ns: int | None = None
    quic_handshake_end_ns: int | None = None
    query_exchange_start_ns: int | None = None
    query_exchange_end_ns: int | None = None
    query_response_time_ns: int | None = None
    limit_ns: int | None = None
    alpn: str | None = None
    tls_version: str | None = None
    cipher_suite: str | None = None
    query_bytes: int
    response_bytes: int | None = None
    attempt_count: int
    rcode: str | None = None
    truncated: bool | None = None
    answer_count: int | None = None
    addresses: list[str]
    answers: list[str] = []
    ttl_s: int | None = None
    negative_ttl_s: int | None = None
    cache_state: CacheState | None = None
    failure: Failure | None = None
    failure_detail: str | None = None
    forwarded_for: ForwardedFor | None = None
    edns_udp_payload_bytes: int | None = None
    ecs_sent: str | None = None
    cookie_sent: CookieState | None = None
    response_edns_udp_payload_bytes: int | None = None
    ecs_scope_prefix_length: int | None = None
    cookie_received: CookieState | None = None
    retry_policy: RetryPolicy | None = None
    bootstrap_start_ns: int | None = None
    bootstrap_end_ns: int | None = None
    kernel_transmit_ns: int | None = None
    kernel_receive_ns: int | None = None
    dnssec_ok: bool = False
    authentic_data: bool | None = None
    extended_dns_errors: list[str] = []
    name_server_identifier: str | None = None
    quic_version: int | None = None
    quic_retry: bool | None = None
    connection_rtt_ns: int | None = None
    connection_min_rtt_ns: int | None = None
    retransmitted_count: int | None = None
    round_trip_count: float | None = None
    answered_early: bool | None = None
    tcp_fast_open_accepted: bool | None = None
    connection_query_index: int | None = None
    outstanding_count: int | None = None
    previous_connection_end: ConnectionEnd | None = None
    repeat_count: int | None = None
    key_exchange_group: KeyExchangeGroup | None = None
    hello_retry_request: bool | None = None
    client_hello_bytes: int | None = None
    client_hello_packets_count: int | None = None
    server_hello_bytes: int | None = None
    certificate_bytes: int | None = None
    server_flight_packets_count: int | None = None
    message_sequence: int | None = None
    message_question_count: int | None = None
    partial_response_index: int | None = None
    asked_alone: bool | None = None
    group_sequence: int | None = None


class QuestionPacking(enum.StrEnum):
    """The messages of queries sent at the same time."""

    SEPARATE = "separate"
    ONE_MESSAGE = "one_message"


class QuestionsHandling(enum.StrEnum):
    """The handling of a message's questions."""

    DROPPED = "dropped"
    CLOSED = "closed"
    ERROR = "error"
    NONE = "none"
    FIRST = "first"
    PART = "part"
    ALL = "all"


class QuestionsProbeRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="questions_probe"):
    """One message with no question or several, sent on a separate connection."""

    dns_transport: DnsTransport
    resolver: str
    resolver_address: str | None = None
    certificate_checked: bool | None = None
    question_count: int
    handling: QuestionsHandling | None = None
    answered_count: int | None = None
    response_question_count: int | None = None
    rcode: str | None = None
    over_tcp: bool
    query_bytes: int
    response_bytes: int | None = None
    query_exchange_ns: int | None = None
    failure: Failure | None = None
    failure_detail: str | None = None


class RelayReadyRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="relay_ready"):
    """The relay is ready;

    programs can enter its host.
    """

    pid: int
    host: str
    ipv6: bool
    mtu_bytes: int


class ResourceRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="resource"):
    """One request of a measured page load (W3C Resource Timing), the document included.

    Instants ending in `_ms` are milliseconds since navigationStart.
    """

    url: str
    initiator_type: str
    next_hop_protocol: str | None = None
    start_ms: float
    domain_lookup_start_ms: float | None = None
    domain_lookup_end_ms: float | None = None
    connect_start_ms: float | None = None
    secure_connection_start_ms: float | None = None
    connect_end_ms: float | None = None
    request_start_ms: float | None = None
    response_start_ms: float | None = None
    response_end_ms: float | None = None
    transfer_size_bytes: int | None = None
    encoded_body_bytes: int | None = None
    status: int | None = None
    content_type: str | None = None


class SoftwareRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="software"):
    """The work of a resolver of the plan (`[software.NAME]`) during a trial."""

    name: str
    restarts_count: int
    processor_time_ns: int | None = None
    memory_bytes: int | None = None
    last_words: list[str] | None = None


class StartRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="start"):
    """The first line of every stream:

    program, format version, and the offset of its clock from wall time.
    """

    format_version: str
    program: str
    version: str
    monotonic_ns: int
    wall_time_unix_ns: int


class StubReadyRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="stub_ready"):
    """The stub is listening on UDP and TCP."""

    listen_address: str
    upstream: str


class StudyValueRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="study_value"):
    """One value of a study's trial:

    a time, a count or a number of bytes.
    """

    name: str
    value: float | None = None
    limit_ms: float | None = None
    failure: Failure | None = None
    failure_detail: str | None = None


class TrialEndRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="trial_end"):
    """The last line of a trial's file.

    A file without this line is of an unfinished trial.
    """

    trial_id: str
    monotonic_ns: int
    flags: list[str]
    capture_file: str | None = None
    key_log_file: str | None = None
    netlog_file: str | None = None


class ResolverCache(enum.StrEnum):
    """The presence of an answer in a resolver's cache."""

    HIT = "hit"
    MISS = "miss"


class ResolverPath(enum.StrEnum):
    """The browser's path to the resolver."""

    NATIVE = "native"
    STUB = "stub"
    GATEWAY = "gateway"


class TrialKind(enum.StrEnum):
    """The measured part of a trial."""

    PAGE_LOAD = "page_load"
    EXCHANGE = "exchange"
    FETCH = "fetch"
    STUDY = "study"


class TrialRecord(msgspec.Struct, kw_only=True, frozen=True, tag_field="record", tag="trial"):
    """The first line of a trial's file."""

    format_version: str
    trial_id: str
    block: int
    position: int
    condition: str
    kind: TrialKind = TrialKind.PAGE_LOAD
    page: str
    profile: str
    dns_transport: DnsTransport
    resolver_path: ResolverPath | None = None
    http_version: HttpVersion | None = None
    requested_handshake_mode: HandshakeMode | None = None
    browser: str | None = "chromium"
    browser_kind: BrowserKind | None = None
    h3_discovery: H3Discovery = H3Discovery.FORCED
    name_resolution: NameResolution = NameResolution.BUILT_IN
    doh_method: DohMethod | None = None
    dns_connection_state: ConnectionState = ConnectionState.COLD
    requested_dns_handshake_mode: HandshakeMode = HandshakeMode.FULL
    replicate: int = 1
    resolver_extra_rtt_ms: float = 0.0
    resolver_cache: ResolverCache = ResolverCache.HIT
    browser_preset: BrowserPreset | None = None
    connection_sharing: ConnectionSharing = ConnectionSharing.SEPARATE
    speculation: PageSpeculation = PageSpeculation.OFF
    query_gathering: QueryGathering = QueryGathering.OFF
    answer_push: AnswerPush = AnswerPush.OFF
    resolver_miss_ratio: float = 0.0
    idle_gap_ms: int = 0
    names_count: int = 1
    question_packing: QuestionPacking = QuestionPacking.SEPARATE
    study: str | None = None
    study_arm: str | None = None
    study_case: str | None = None
    resolver: str = "lab"
    resolver_software: str = "edge"
    vantage_point: str = "lab"
    monotonic_ns: int
    wall_time_unix_ns: int
    load_average_1min: float


Record = (
    BulkTransferRecord
    | CalibrationRecord
    | CommandDoneRecord
    | ConnectionRecord
    | EdgeQueryRecord
    | EdgeReadyRecord
    | EdgeRequestRecord
    | EdgeSummaryRecord
    | FetchNamesRecord
    | FetchRecord
    | FlowRecord
    | GatewayConnectionRecord
    | GatewayLegRecord
    | GatewayReadyRecord
    | GatewayRequestRecord
    | GatewaySpeculationRecord
    | InternetFlowsRecord
    | InternetReadyRecord
    | LiveTrialRecord
    | LoadProgressRecord
    | LoadRecord
    | PageLoadRecord
    | PathReadyRecord
    | PathSummaryRecord
    | PingRecord
    | ProbeRecord
    | ProfileChangedRecord
    | QueryRecord
    | QuestionsProbeRecord
    | RelayReadyRecord
    | ResourceRecord
    | SoftwareRecord
    | StartRecord
    | StubReadyRecord
    | StudyValueRecord
    | TrialEndRecord
    | TrialRecord
)


class StubCloseConnections(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="close_connections"):
    """Close the upstream connection.

    The next query opens a new connection.
    """

    id: int
    forget_tickets: bool


class StubPushAnswers(msgspec.Struct, kw_only=True, frozen=True, tag_field="command", tag="push_answers"):
    """With the next query, ask also for A, AAAA and HTTPS of these names.

    Until connections are closed, answer from these responses, as if a page's answers had been pushed.
    """

    id: int
    names: list[str]


StubCommand = StubCloseConnections | StubPushAnswers


class TrialFlag(enum.StrEnum):
    """A reason for reading the values of a trial with care."""

    NO_LOOKUP_IN_LOAD = "no_lookup_in_load"
    LOOKUP_IN_LOAD = "lookup_in_load"
    DNS_TRANSPORT_MISMATCH = "dns_transport_mismatch"
    DNS_CONNECTION_MISMATCH = "dns_connection_mismatch"
    DNS_HANDSHAKE_MISMATCH = "dns_handshake_mismatch"
    NOTHING_GATHERED = "nothing_gathered"
    CONNECTION_NOT_SHARED = "connection_not_shared"
    FOREIGN_NAME = "foreign_name"
    HTTP_VERSION_MISMATCH = "http_version_mismatch"
    PAGE_CONNECTION_MISMATCH = "page_connection_mismatch"
    CONNECTION_RECORD_MISSING = "connection_record_missing"
    CONNECTIONS_LEFT_OPEN = "connections_left_open"
    RESOURCES_MISSING = "resources_missing"
    PATH_SUMMARY_MISSING = "path_summary_missing"
    LATENESS_EXCEEDED = "lateness_exceeded"
    DEVICE_DROPS = "device_drops"
    EDGE_ENDED = "edge_ended"
    STUB_ENDED = "stub_ended"
    GATEWAY_ENDED = "gateway_ended"
    SOFTWARE_ENDED = "software_ended"
    CACHE_NOT_WARM = "cache_not_warm"


TRIAL_FLAG_MEANINGS: dict[str, str] = {
    TrialFlag.NO_LOOKUP_IN_LOAD: "The load sent no DNS query for its page.",
    TrialFlag.LOOKUP_IN_LOAD: "The load sent a DNS query for its page, although the name was to be known beforehand.",
    TrialFlag.DNS_TRANSPORT_MISMATCH: "The look-up used another transport than requested.",
    TrialFlag.DNS_CONNECTION_MISMATCH: "The look-up's connection was warm instead of cold as requested, or the reverse.",
    TrialFlag.DNS_HANDSHAKE_MISMATCH: "The look-up's connection had another handshake than requested.",
    TrialFlag.NOTHING_GATHERED: "No two of the stub's queries shared a message, although queries were to be gathered.",
    TrialFlag.CONNECTION_NOT_SHARED: "The page did not come on the resolver's connection, although that connection was to be shared.",
    TrialFlag.FOREIGN_NAME: "The load looked up a name other than the page's names.",
    TrialFlag.HTTP_VERSION_MISMATCH: "The document used another HTTP version than requested.",
    TrialFlag.PAGE_CONNECTION_MISMATCH: "The document came on a connection opened before the measured load.",
    TrialFlag.CONNECTION_RECORD_MISSING: "The edge has no record of a connection used by the load; the connection counts as opened before.",
    TrialFlag.CONNECTIONS_LEFT_OPEN: "Connections or queries of the warm-up were still under way at the start of the measured load.",
    TrialFlag.RESOURCES_MISSING: "The load ended well without all of its page: a look-up or connection of a part had failed.",
    TrialFlag.PATH_SUMMARY_MISSING: "The emulated path wrote no summary of the load.",
    TrialFlag.LATENESS_EXCEEDED: "The emulated path was later than allowed by the plan.",
    TrialFlag.DEVICE_DROPS: "The emulated path itself lost packets.",
    TrialFlag.EDGE_ENDED: "The edge ended during the load.",
    TrialFlag.STUB_ENDED: "The stub ended during the load.",
    TrialFlag.GATEWAY_ENDED: "The gateway ended during the load.",
    TrialFlag.SOFTWARE_ENDED: "The plan's own software of the trial ended by itself during the trial, or between the trial before with this software and this trial. The next trial starts it again.",
    TrialFlag.CACHE_NOT_WARM: "The plan's own software of the trial gave no good answer for some of the names before the trial, so its cache may lack these names.",
}
