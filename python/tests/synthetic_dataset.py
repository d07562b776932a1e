"""A made-up dataset with the shapes of a real one: times follow the closed form plus noise.

For: tests of tables, statistics, figures and the report, without a browser or a path.
"""

import math
import random
import time
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.protocols import cold_exchange_round_trips, lookup_round_trips, page_handshake_round_trips
from resolab.basics.records import (
    FORMAT_VERSION,
    Bootstrap,
    ConnectionRecord,
    ConnectionState,
    DirectionProfile,
    DirectionSummary,
    DnsTransport,
    EdgeQueryRecord,
    EdgeRequestRecord,
    Failure,
    FlowRecord,
    HandshakeMode,
    HttpVersion,
    LinkProfile,
    PageFailure,
    PageLoadRecord,
    PathSummaryRecord,
    QueryPurpose,
    QueryRecord,
    ResourceRecord,
    TrialEndRecord,
    TrialRecord,
)
from resolab.plan import Condition, Plan, block_order, parse_plan
from resolab.plan.factors import EVERY_FACTOR
from resolab.store import (
    Manifest,
    RunStatus,
    TrialWriter,
    Versions,
    create_dataset_folder,
    describe_machine,
    save_manifest,
    trial_id,
)

PLAN_TEXT = """
name = "made-up"
question = "What do DoH and DoQ, and 0-RTT, change in page load time against DoUDP?"
seed = 7
blocks = 6
[factors]
page = ["example", "wikipedia"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh", "doq"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
[resolver_path]
doudp = "native"
doh = "native"
doq = "stub"
[baseline]
dns_transport = "doudp"
requested_handshake_mode = "full"
"""
RTT_MS = {
    "fiber": 14.767147,
    "cable": 25.17665,
    "dsl": 42.35979,
    "4g": 91.852311,
    "4g-medium": 104.504141,
    "default-h20": 20.0,
}
RATE_BPS = {"fiber": 99.9e6, "cable": 165e6, "dsl": 10.7e6, "4g": 54e6, "4g-medium": 28.6e6, "default-h20": 50e6}
RENDER_MS = {"example": 60.0, "wikipedia": 450.0, "instagram": 600.0, "flat-4": 80.0, "flat-12": 90.0}
BROWSER_MS = {"chromium": 0.0, "firefox": 40.0}
# Beyond their round trips: connecting with a full handshake, the request in early data, DoQ's handshake, TCP's.
CONNECT_MS, EARLY_REQUEST_MS, QUIC_MS, TCP_MS = 0.5, 0.25, 1.0, 0.125
SUM_EXTRA_MS = 3.0
LCP_BEFORE_LOAD_MS = 2.0
RECEIVE_MS = 7.0
ADDRESS = {
    "example": "10.77.1.1",
    "wikipedia": "10.77.1.2",
    "instagram": "10.77.1.3",
    "flat-4": "10.77.1.4",
    "flat-12": "10.77.1.5",
}


@dataclass(frozen=True)
class Faults:
    """What goes wrong in the made-up run."""

    timeouts: bool = False
    rejected_early_data: bool = False
    late: bool = False
    no_measured_loads: bool = False
    trials_count: int | None = None
    device_drops: int = 0
    lost: bool = False
    """Whether the driver fails in some loads."""
    paints: bool = False
    """Whether loads have a largest contentful paint, some of them none."""
    sums: bool = False
    """Whether loads have a sum, too: the look-up apart takes SUM_EXTRA_MS longer."""


def make_plan(text: str = PLAN_TEXT) -> Plan:
    return parse_plan(text, "made-up.toml", None)


def profile(name: str) -> LinkProfile:
    one = DirectionProfile(one_way_delay_ms=RTT_MS[name] / 2, rate_bps=RATE_BPS[name])
    return LinkProfile(name=name, source="made up", up=one, down=one)


def make_dataset(folder: Path, plan: Plan | None = None, faults: Faults | None = None) -> Path:
    plan, faults = plan or make_plan(), faults or Faults()
    create_dataset_folder(folder)
    trials = [
        (block, position, condition)
        for block in range(plan.blocks)
        for position, condition in enumerate(block_order(plan, plan.seed, block))
    ]
    run = trials[: faults.trials_count]
    for number, (block, position, condition) in enumerate(run):
        _write_trial(folder, block, position, condition, number, faults)
    finished = len(run) == len(trials)
    save_manifest(folder, make_manifest(plan, finished=finished, planned=len(trials), run=len(run)))
    return folder


def make_manifest(plan: Plan, *, finished: bool, planned: int, run: int) -> Manifest:
    return Manifest(
        format_version=FORMAT_VERSION,
        dataset_id="made-up-20240712T101500Z-7",
        plan=plan.name,
        plan_text=plan.source_text,
        seed=plan.seed,
        blocks=plan.blocks,
        profiles=[profile(name) for name in plan.factors.profile],
        created_unix_ns=1_720_779_300_000_000_000,
        ended_unix_ns=1_720_779_800_000_000_000 if finished else None,
        command_line=["./resolab", "run", "plans/made-up.toml", "--blocks", str(plan.blocks)],
        versions=Versions(resolab="0.1.0", resolab_core="0.1.0", browser="chromium 156.0"),
        machine=describe_machine(),
        git_commit="0123456789abcdef",
        load_average_start=0.2,
        load_average_end=1.1 if finished else None,
        status=RunStatus.FINISHED if finished else RunStatus.INTERRUPTED,
        trials_planned_count=planned,
        trials_finished_count=run,
    )


def _write_trial(folder: Path, block: int, position: int, condition: Condition, number: int, faults: Faults) -> None:
    rng = random.Random(f"{block}/{condition.id}")
    origin = 1_000_000_000_000 + number * 3_000_000_000
    name = trial_id(block, position)
    flags = ["lateness_exceeded"] if faults.late and number % 9 == 0 else []
    with TrialWriter(folder, _trial(name, block, position, condition, origin)) as writer:
        writer.write(_page_load(condition, rng, faults, measured=False))
        if not faults.no_measured_loads:
            load = _page_load(condition, rng, faults, measured=True)
            writer.write(load)
            writer.write(_resource(load))
        for sequence, transport in enumerate((DnsTransport.DOUDP, DnsTransport.DOH, DnsTransport.DOQ)):
            writer.write(_query(condition, transport, sequence, origin, rng, faults))
        writer.write(_edge_query(condition, origin))
        writer.write(_edge_request(condition, origin))
        writer.write(_connection(condition, origin))
        writer.write(_flow(condition, name, origin))
        writer.write(_path_summary(condition, name, origin, rng, faults.device_drops))
        writer.finish(TrialEndRecord(trial_id=name, monotonic_ns=origin + 2_500_000_000, flags=flags))


def _trial(name: str, block: int, position: int, condition: Condition, origin: int) -> TrialRecord:
    return TrialRecord(
        format_version=FORMAT_VERSION,
        trial_id=name,
        block=block,
        position=position,
        condition=condition.id,
        replicate=condition.replicate,
        **{factor: getattr(condition, factor) for factor in EVERY_FACTOR},
        monotonic_ns=origin,
        wall_time_unix_ns=time.time_ns(),
        load_average_1min=0.5,
    )


def _page_load(condition: Condition, rng: random.Random, faults: Faults, *, measured: bool) -> PageLoadRecord:
    rtt = RTT_MS[condition.profile]
    mode = condition.requested_handshake_mode
    if faults.rejected_early_data and mode == "zero_rtt" and rng.random() < 0.3:
        mode = HandshakeMode.RESUMED
    dns_mode, dns_state = condition.requested_dns_handshake_mode, condition.dns_connection_state
    trips = lookup_round_trips(condition.dns_transport, dns_mode, dns_state)
    trips += page_handshake_round_trips(condition.http_version, mode) + 1
    response_start = trips * rtt + rng.gauss(6, 1) + BROWSER_MS[condition.browser]
    plt = response_start + RENDER_MS[condition.page] + rtt + rng.lognormvariate(math.log(5), 0.7)
    failed = faults.timeouts and measured and condition.dns_transport == "doq" and rng.random() < 0.35
    lost = faults.lost and measured and rng.random() < 0.1
    painted = faults.paints and measured and not failed and rng.random() < 0.8
    if lost:
        return _lost_load(condition)
    return PageLoadRecord(
        url=f"https://{condition.page}.resolab.test/",
        browser=condition.browser,
        browser_version="156.0",
        measured=measured,
        requested_handshake_mode=condition.requested_handshake_mode,
        handshake_mode=mode,
        next_hop_protocol="h3",
        domain_lookup_start_ms=1.0,
        domain_lookup_end_ms=1.0 + rtt,
        connect_start_ms=None if failed else 1.0 + rtt,
        connect_end_ms=None if failed else 1.0 + 2 * rtt + CONNECT_MS,
        request_start_ms=None if failed else 1.0 + rtt + (EARLY_REQUEST_MS if mode == "zero_rtt" else rtt + CONNECT_MS),
        response_start_ms=None if failed else response_start,
        plt_ms=None if failed else plt,
        request_count=2,
        failure=PageFailure.PAGE_TIMEOUT if failed else None,
        failure_detail="no load event within 30 s" if failed else None,
        limit_ms=30_000.0,
        dns_handshake_mode=None if condition.dns_transport == "doudp" or dns_state == "warm" else dns_mode,
        dns_connection_state=None if condition.dns_transport == "doudp" else dns_state,
        lcp_ms=plt - LCP_BEFORE_LOAD_MS if painted else None,
        last_byte_ms=None if failed or not measured else response_start + RECEIVE_MS,
        plt_sum_ms=plt + SUM_EXTRA_MS if faults.sums and measured and not failed else None,
    )


def _lost_load(condition: Condition) -> PageLoadRecord:
    return PageLoadRecord(
        url=f"https://{condition.page}.resolab.test/",
        browser=condition.browser,
        browser_version="156.0",
        measured=True,
        requested_handshake_mode=condition.requested_handshake_mode,
        failure=PageFailure.DRIVER,
        limit_ms=30_000.0,
    )


def _resource(load: PageLoadRecord) -> ResourceRecord:
    return ResourceRecord(
        url=load.url,
        initiator_type="navigation",
        start_ms=0.0,
        next_hop_protocol="h3",
        status=200,
        domain_lookup_start_ms=load.domain_lookup_start_ms,
        domain_lookup_end_ms=load.domain_lookup_end_ms,
        connect_start_ms=load.connect_start_ms,
        connect_end_ms=load.connect_end_ms,
        request_start_ms=load.request_start_ms,
        response_start_ms=load.response_start_ms,
        response_end_ms=None if load.response_start_ms is None else load.response_start_ms + RECEIVE_MS,
    )


def _query(
    condition: Condition,
    transport: DnsTransport,
    sequence: int,
    origin: int,
    rng: random.Random,
    faults: Faults,
) -> QueryRecord:
    cost = {"doudp": 0.15, "doh": 0.9, "doq": 0.7}[transport]
    trips = cold_exchange_round_trips(transport)
    time_ms = trips * RTT_MS[condition.profile] + cost + abs(rng.gauss(0, 0.05))
    failed = faults.timeouts and rng.random() < 0.05
    encrypted = transport != "doudp"
    rtt = RTT_MS[condition.profile]
    end = None if failed else round(time_ms * 1e6)
    tcp_end = round((rtt + TCP_MS) * 1e6) if transport == "doh" and not failed else None
    quic_end = round((rtt + QUIC_MS) * 1e6) if transport == "doq" and not failed else None
    return QueryRecord(
        dns_transport=transport,
        resolver=f"{transport}://dns.resolab.test",
        resolver_address="10.77.0.1:53",
        bootstrap=Bootstrap.GIVEN,
        qname=f"{condition.page}.resolab.test.",
        qtype="A",
        purpose=QueryPurpose.MEASURED,
        sequence=sequence,
        time_origin_ns=origin,
        connection=ConnectionState.COLD if encrypted else None,
        requested_handshake_mode=HandshakeMode.FULL if encrypted else None,
        handshake_mode=HandshakeMode.FULL if encrypted and not failed else None,
        tcp_connect_start_ns=None if tcp_end is None else 0,
        tcp_connect_end_ns=tcp_end,
        quic_handshake_start_ns=None if quic_end is None else 0,
        quic_handshake_end_ns=quic_end,
        query_exchange_start_ns=quic_end,
        query_exchange_end_ns=None if quic_end is None else end,
        query_response_time_ns=end,
        query_bytes=40,
        response_bytes=None if failed else 56,
        attempt_count=1,
        addresses=[] if failed else [ADDRESS[condition.page]],
        failure=Failure.QUERY_TIMEOUT if failed else None,
        failure_detail="no response within 5 s" if failed else None,
    )


def _edge_query(condition: Condition, origin: int) -> EdgeQueryRecord:
    return EdgeQueryRecord(
        dns_transport=condition.dns_transport,
        peer_address="10.77.0.2:40000",
        qname=f"{condition.page}.resolab.test.",
        qtype="A",
        query_bytes=40,
        received_ns=origin + 1_000_000,
    )


def _edge_request(condition: Condition, origin: int) -> EdgeRequestRecord:
    return EdgeRequestRecord(
        authority=f"{condition.page}.resolab.test",
        body_bytes=1256,
        connection_id=1,
        http_version=HttpVersion.H3,
        in_early_data=condition.requested_handshake_mode == "zero_rtt",
        method="GET",
        path="/",
        peer_address="10.77.0.2:40001",
        received_ns=origin + 2_000_000,
        status=200,
    )


def _connection(condition: Condition, origin: int) -> ConnectionRecord:
    return ConnectionRecord(
        accepted_ns=origin + 1_500_000,
        connection_id=1,
        handshake_mode=condition.requested_handshake_mode,
        local_address="10.77.1.1:443",
        peer_address="10.77.0.2:40001",
        protocol="quic",
        alpn="h3",
    )


def _flow(condition: Condition, label: str, origin: int) -> FlowRecord:
    return FlowRecord(
        client_address="10.77.0.2",
        client_port=40001,
        server_address=ADDRESS[condition.page],
        server_port=443,
        protocol="udp",
        up_bytes=4000,
        up_packets_count=9,
        down_bytes=9000,
        down_packets_count=12,
        first_packet_ns=origin,
        last_packet_ns=origin + 400_000_000,
        label=label,
        quic_up_initial_count=1,
        quic_up_zero_rtt_count=int(condition.requested_handshake_mode == "zero_rtt"),
    )


def _path_summary(
    condition: Condition, label: str, origin: int, rng: random.Random, device_drops: int
) -> PathSummaryRecord:
    def direction(drops: int) -> DirectionSummary:
        p50 = int(rng.uniform(5_000, 9_000))
        return DirectionSummary(
            bytes_in_bytes=9000,
            bytes_out_bytes=9000,
            dropped_device_count=drops,
            dropped_loss_count=0,
            dropped_queue_count=0,
            lateness_p50_ns=p50,
            lateness_p99_ns=p50 * 8,
            lateness_max_ns=p50 * 20,
            packets_in_count=30,
            packets_out_count=30,
        )

    return PathSummaryRecord(
        label=label,
        profile=condition.profile,
        window_start_ns=origin,
        window_end_ns=origin + 2_400_000_000,
        unrecognised_packets_count=0,
        up=direction(device_drops),
        down=direction(0),
    )
