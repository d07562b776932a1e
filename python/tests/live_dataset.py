"""A made-up dataset of the live network whose truth is known: distances, what caches had, and what went wrong.

For: tests of the live report. Not for: anything that looks like a browser or a real resolver.
"""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec
from synthetic_dataset import make_manifest

from resolab.basics.records import (
    FORMAT_VERSION,
    Bootstrap,
    CacheState,
    ConnectionState,
    DnsTransport,
    Failure,
    HandshakeMode,
    LiveTrialRecord,
    LiveWay,
    PageFailure,
    PageLoadRecord,
    PingFailure,
    PingMethod,
    PingRecord,
    QueryPurpose,
    QueryRecord,
    Record,
    ResourceRecord,
    TrialEndRecord,
    TrialRecord,
)
from resolab.plan import Condition, Plan, parse_plan
from resolab.store import TrialWriter, create_dataset_folder, save_manifest, trial_id
from resolab.store.manifest import LiveRun, LiveSiteEntry, ProcessStart

OPERATOR = "https://operator.test/study"
SITES_COUNT = 8
PLAN_TEXT = """
name = "made-up-live"
question = "What do DoT and DoH change against Do53, by resolver?"
seed = 3
blocks = {sites_count}
[network]
kind = "live"
vantage_point = "{place}"
operator_url = "https://operator.test/study"
[sites]
urls = {sites}
[resolvers.local]
doudp = "system"
[resolvers.quick]
doudp = "198.18.1.1"
dot = "tls://198.18.1.1"
doh = "https://198.18.1.1/dns-query"
[resolvers.middle]
doudp = "198.18.2.1"
dot = "tls://198.18.2.1"
doh = "https://198.18.2.1/dns-query"
[resolvers.far]
doudp = "198.18.3.1"
dot = "tls://198.18.3.1"
doh = "https://198.18.3.1/dns-query"
[factors]
resolver = ["local", "quick", "middle", "far"]
dns_transport = ["doudp", "dot", "doh"]
browser = {browsers}
[baseline]
resolver = "local"
dns_transport = "doudp"
[analysis]
equivalence_margin_ms = 30
"""
RTT_MS = {"local": 2.0, "quick": 10.0, "middle": 25.0, "far": 90.0}
PINGED_BY: Mapping[str, PingMethod | None] = {
    "local": PingMethod.ICMP, "quick": PingMethod.ICMP, "middle": PingMethod.TCP, "far": None,
}  # fmt: skip
RECURSION_MS = 40.0
COLD_TRIPS = {"doudp": 1, "dot": 3, "doh": 3}
NAMES_COUNT = 4
BASE_MS = 600.0
LIMIT_MS = 30_000.0
Fault = tuple[str, str, str]
"""Site, resolver and transport; an empty word is any."""


@dataclass(frozen=True)
class Truth:
    """What a made-up run is: its place, how much farther all resolvers are from it, and what goes wrong."""

    place: str = "box-home"
    farther_ms: float = 0.0
    faults: Mapping[Fault, tuple[PageFailure, str]] = field(default_factory=dict)
    knows_caches: bool = True
    rounds: int = 1
    with_lookups: bool = True
    browsers: tuple[str, ...] = ("firefox",)
    name: str = "made-up-live"


def site(number: int) -> str:
    return f"https://site{number:02}.example/"


def page(number: int) -> str:
    return f"site{number:02}_example"


def make_live_plan(truth: Truth | None = None, sites_count: int = SITES_COUNT) -> Plan:
    truth = truth or Truth()
    text = PLAN_TEXT.format(
        place=truth.place,
        sites=json.dumps([site(number) for number in range(sites_count)]),
        browsers=json.dumps(truth.browsers),
        sites_count=sites_count * truth.rounds,
    )
    return parse_plan(text, "made-up-live.toml", None)


def make_live_dataset(folder: Path, truth: Truth | None = None, sites_count: int = SITES_COUNT) -> Path:
    truth = truth or Truth()
    plan = make_live_plan(truth, sites_count)
    create_dataset_folder(folder)
    written = 0
    for block in range(plan.blocks):
        name = page(block % sites_count)
        for position, condition in enumerate(one for one in plan.conditions() if one.page == name):
            _write(folder, truth, condition, block, position)
            written += 1
    manifest = make_manifest(_without_profiles(plan), finished=True, planned=written, run=written)
    manifest = msgspec.structs.replace(
        manifest,
        dataset_id=f"{truth.name}-{truth.place}",
        plan_text=plan.source_text,
        profiles=[],
        blocks=plan.blocks,
        live=LiveRun(
            vantage_point=truth.place,
            operator_url=OPERATOR,
            sites=[LiveSiteEntry(page=page(one), url=site(one)) for one in range(sites_count)],
            resolvers={"local": {"doudp": "system"}, "quick": {"dot": "tls://198.18.1.1"}},
            caps={"loads_per_hour": 60},
        ),
        starts=[
            ProcessStart(unix_ns=manifest.created_unix_ns, pages_sha256={page(one): "" for one in range(sites_count)})
        ],
    )
    save_manifest(folder, manifest)
    return folder


def _without_profiles(plan: Plan) -> Plan:
    """`make_manifest` describes the emulated links of a plan; there is none here."""
    return replace(plan, factors=replace(plan.factors, levels={**plan.factors.levels, "profile": ()}))


def _write(folder: Path, truth: Truth, condition: Condition, block: int, position: int) -> None:
    origin = 1_000_000_000_000 + (block * 100 + position) * 40_000_000_000
    name = trial_id(block, position)
    rng = random.Random(f"{truth.place}/{block}/{condition.id}")
    fault = _fault(truth, condition)
    with TrialWriter(folder, _trial(name, truth, condition, block, position, origin)) as writer:
        for record in _records(truth, condition, rng, origin, fault, position):
            writer.write(record)
        writer.finish(TrialEndRecord(trial_id=name, monotonic_ns=origin + 20_000_000_000, flags=[]))


def _fault(truth: Truth, condition: Condition) -> tuple[PageFailure, str] | None:
    own = condition.page, condition.resolver, str(condition.dns_transport)
    for asked, fault in truth.faults.items():
        if all(one in ("", other) for one, other in zip(asked, own, strict=True)):
            return fault
    return None


def _records(
    truth: Truth,
    condition: Condition,
    rng: random.Random,
    origin: int,
    fault: tuple[PageFailure, str] | None,
    position: int,
) -> Iterator[Record]:
    load = _page_load(truth, condition, rng, fault)
    yield load
    alone = fault is not None and fault[0] is PageFailure.LEFT_ALONE
    if load.failure is None:
        yield from (_resource(load, name) for name in _names(condition))
    if truth.with_lookups and not alone:
        refused = fault is not None and "REFUSED" in fault[1]
        yield from _queries(truth, condition, rng, origin, position, refused=refused)
    if not alone:
        yield _ping(truth, condition, rng, origin)
    yield _live_trial(truth, condition, fault)


def _names(condition: Condition) -> list[str]:
    host = condition.page.replace("_", ".")
    return [host, *(f"n{number}.{host}" for number in range(1, NAMES_COUNT))]


def _trial(name: str, truth: Truth, condition: Condition, block: int, position: int, origin: int) -> TrialRecord:
    return TrialRecord(
        format_version=FORMAT_VERSION,
        trial_id=name,
        block=block,
        position=position,
        condition=condition.id,
        page=condition.page,
        profile=condition.profile,
        dns_transport=condition.dns_transport,
        resolver_path=condition.resolver_path,
        http_version=condition.http_version,
        requested_handshake_mode=condition.requested_handshake_mode,
        browser=condition.browser,
        resolver=condition.resolver,
        vantage_point=truth.place,
        monotonic_ns=origin,
        wall_time_unix_ns=1_760_000_000_000_000_000 + origin,
        load_average_1min=0.5,
    )


def rtt_ms(truth: Truth, resolver: str) -> float:
    return RTT_MS[resolver] + truth.farther_ms


def _page_load(
    truth: Truth, condition: Condition, rng: random.Random, fault: tuple[PageFailure, str] | None
) -> PageLoadRecord:
    """The look-up is all that differs: its round trips, cold, of the resolver's distance."""
    lookup_ms = COLD_TRIPS[str(condition.dns_transport)] * rtt_ms(truth, condition.resolver)
    number = int(condition.page[4:6])
    plt = BASE_MS + 25 * number + lookup_ms + rng.uniform(-2, 2)
    failed = fault is not None
    return PageLoadRecord(
        url=site(number),
        browser=condition.browser,
        browser_version="156.0",
        measured=True,
        requested_handshake_mode=HandshakeMode.FULL,
        handshake_mode=None,
        response_start_ms=None if failed else lookup_ms + 60,
        plt_ms=None if failed else plt,
        request_count=NAMES_COUNT,
        failure=fault[0] if fault else None,
        failure_detail=fault[1] if fault else None,
        limit_ms=LIMIT_MS,
        last_byte_ms=None if failed else plt - 10,
    )


def _resource(load: PageLoadRecord, name: str) -> ResourceRecord:
    return ResourceRecord(
        url=f"https://{name}/",
        initiator_type="navigation" if load.url == f"https://{name}/" else "img",
        start_ms=0.0,
        next_hop_protocol="h2",
        status=200,
        domain_lookup_start_ms=1.0,
        domain_lookup_end_ms=3.0,
        connect_start_ms=3.0,
        connect_end_ms=30.0,
        request_start_ms=30.0,
        response_start_ms=60.0,
        response_end_ms=80.0,
    )


def _queries(
    truth: Truth, condition: Condition, rng: random.Random, origin: int, position: int, *, refused: bool
) -> Iterator[QueryRecord]:
    """Each name twice; the first configuration of a resolver finds nothing in its cache, the others all."""
    transport = str(condition.dns_transport)
    first_of_resolver = transport == "doudp"
    for sequence in range(2 * NAMES_COUNT):
        cold = sequence == 0 and transport != "doudp"
        missed = first_of_resolver and sequence < NAMES_COUNT
        trips = COLD_TRIPS[transport] if cold else 1
        time_ms = trips * rtt_ms(truth, condition.resolver) + (RECURSION_MS if missed else 0) + rng.uniform(0, 0.2)
        state = CacheState.FIRST_ASKED if missed else CacheState.WITHIN_TTL
        yield _query(
            condition, sequence, origin, time_ms, state if truth.knows_caches else None, cold=cold, refused=refused
        )


def _query(
    condition: Condition,
    sequence: int,
    origin: int,
    time_ms: float,
    state: CacheState | None,
    *,
    cold: bool,
    refused: bool,
) -> QueryRecord:
    encrypted = condition.dns_transport is not DnsTransport.DOUDP
    connection = ConnectionState.COLD if cold else ConnectionState.WARM
    return QueryRecord(
        dns_transport=condition.dns_transport,
        resolver=condition.resolver,
        resolver_address="198.18.1.1:853",
        bootstrap=Bootstrap.GIVEN,
        qname=f"{_names(condition)[sequence % NAMES_COUNT]}.",
        qtype="A",
        purpose=QueryPurpose.MEASURED,
        sequence=sequence,
        time_origin_ns=origin + sequence * 1_000_000_000,
        connection=connection if encrypted else None,
        requested_handshake_mode=HandshakeMode.FULL if encrypted else None,
        handshake_mode=HandshakeMode.FULL if encrypted else None,
        query_response_time_ns=round(time_ms * 1e6),
        query_bytes=40,
        attempt_count=1,
        rcode="REFUSED" if refused else "NOERROR",
        addresses=[],
        cache_state=None if refused else state,
        failure=Failure.DNS_RCODE if refused else None,
    )


def _ping(truth: Truth, condition: Condition, rng: random.Random, origin: int) -> PingRecord:
    method = PINGED_BY[condition.resolver]
    trips = [round((rtt_ms(truth, condition.resolver) + rng.uniform(0, 0.1)) * 1e6) for _ in range(5)]
    return PingRecord(
        address="198.18.1.1",
        time_origin_ns=origin + 15_000_000_000,
        method=method,
        port=853 if method is PingMethod.TCP else None,
        rtt_ns=[None] * 5 if method is None else [*trips[:4], None],
        failures=[PingFailure.TIMEOUT] * 5 if method is None else [None, None, None, None, PingFailure.TIMEOUT],
        passed_over=[],
    )


def _live_trial(truth: Truth, condition: Condition, fault: tuple[PageFailure, str] | None) -> LiveTrialRecord:
    return LiveTrialRecord(
        vantage_point=truth.place,
        way=LiveWay.ROOT,
        url=site(int(condition.page[4:6])),
        resolver=condition.resolver,
        dns_transport=condition.dns_transport,
        resolver_url="udp://198.18.1.1:53",
        system_resolver="198.18.0.53",
        system_resolver_forwards_to=[],
        ipv6=False,
        user_agent="Mozilla/5.0 resolab/0.1 (+https://operator.test/study)",
        operator_url=OPERATOR,
        names=_names(condition),
        server_addresses=[],
        waited_s=0.0,
        stop_sign="http_429" if fault is not None and fault[1] == "status 429" else None,
        unknown=["handshake_mode: the browser's log does not say"],
        load_average_1min=0.4,
    )
