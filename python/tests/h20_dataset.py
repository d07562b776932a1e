"""A dataset made by hand in the shape of Hounsel et al.: every load and query is given, so that results can be too.

For: tests of their figures and tables. Not for: anything that looks like a network (`synthetic_dataset`).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import msgspec
from synthetic_dataset import make_manifest

from resolab.basics.records import (
    FORMAT_VERSION,
    Bootstrap,
    BrowserKind,
    BrowserPreset,
    ConnectionState,
    DirectionProfile,
    DnsTransport,
    Failure,
    HandshakeMode,
    HttpVersion,
    LinkProfile,
    PageFailure,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    ResolverCache,
    ResolverPath,
    ResourceRecord,
    TrialEndRecord,
    TrialRecord,
)
from resolab.plan import Condition, Plan, parse_plan
from resolab.store import TrialWriter, build_tables, create_dataset_folder, save_manifest, trial_id

PLAN_TEXT = """
name = "made-by-hand"
question = "What do DoT and DoH change against Do53?"
seed = 5
blocks = {blocks}
[factors]
page = ["example"]
profile = {profiles}
dns_transport = ["doudp", "dot", "doh"]
http_version = ["h2"]
requested_handshake_mode = ["full"]
browser = {browsers}
resolver_extra_rtt_ms = {distances}
resolver_cache = {caches}
browser_preset = {presets}
dns_connection_state = {states}
[resolver_path]
doudp = "native"
dot = "stub"
doh = "native"
[baseline]
dns_transport = "doudp"
dns_connection_state = "cold"
[[exclude]]
dns_transport = ["doudp"]
dns_connection_state = ["warm"]
{repeat}
"""
RTT_MS = {"office": 10.0, "default-h20": 10.0, "4g-h20": 53.3, "lossy-4g-h20": 53.3, "3g-h20": 150.0}
LOSS = {"office": 0.0, "default-h20": 0.0, "4g-h20": 0.005, "lossy-4g-h20": 0.015, "3g-h20": 0.021}
LIMIT_MS = 30_000.0


@dataclass(frozen=True)
class Arm:
    """Where a load or query belongs."""

    profile: str
    dns_transport: str
    extra_rtt_ms: float = 0.0
    cache: str = "hit"
    replicate: int = 1
    preset: str | None = None
    browser: str = "firefox"
    state: str = "cold"
    """Of the connection of the page's look-up."""


@dataclass(frozen=True)
class Query:
    """One measured query, ms; without a response time it failed."""

    response_ms: float | None
    exchange_ms: float | None = None
    connection: str | None = None
    attempts: int = 1
    limit_ms: float | None = None
    """None: as records of before format 1.21 have none."""


def make_h20_dataset(
    folder: Path,
    loads: Mapping[Arm, Sequence[float | str | None]],
    queries: Mapping[Arm, Sequence[Sequence[Query]]] | None = None,
    names_count: int = 1,
) -> Path:
    """Write one trial for each arm and block: a load time, a failure's name, or None for no load at all."""
    create_dataset_folder(folder)
    blocks = max(len(times) for times in loads.values())
    profiles = list(dict.fromkeys(arm.profile for arm in loads))
    plan = make_plan(blocks, list(loads))
    written = 0
    for position, (arm, times) in enumerate(loads.items()):
        for block, plt in enumerate(times):
            asked = (queries or {}).get(arm, [])
            _write(
                folder,
                arm,
                _condition(plan, arm),
                block,
                position,
                plt,
                asked[block] if block < len(asked) else (),
                names_count,
            )
            written += 1
    # `make_manifest` knows the profiles of its own lists only.
    known = replace(plan, factors=replace(plan.factors, levels={**plan.factors.levels, "profile": ("fiber",)}))
    manifest = make_manifest(known, finished=True, planned=written, run=written)
    links = [link(name) for name in profiles]
    save_manifest(folder, msgspec.structs.replace(manifest, plan_text=plan.source_text, profiles=links, blocks=blocks))
    build_tables(folder)
    return folder


def make_plan(blocks: int, arms: Sequence[Arm]) -> Plan:
    """Make a plan with every level of the arms; most of its conditions have no trial."""

    def listed(levels: Sequence[object]) -> str:
        return json.dumps(list(dict.fromkeys(levels)))

    text = PLAN_TEXT.format(
        blocks=blocks,
        profiles=listed([arm.profile for arm in arms]),
        distances=listed([arm.extra_rtt_ms for arm in arms]),
        caches=listed([arm.cache for arm in arms]),
        presets=listed([arm.preset or "none" for arm in arms]),
        browsers=listed([arm.browser for arm in arms]),
        states=listed(["cold", *(arm.state for arm in arms)]),
        repeat="[[repeat]]\n" if any(arm.replicate > 1 for arm in arms) else "",
    )
    return parse_plan(text, "made-by-hand.toml", None)


def _condition(plan: Plan, arm: Arm) -> str:
    def levels(one: Condition) -> tuple[object, ...]:
        preset = None if one.browser_preset is None else str(one.browser_preset)
        resolver = one.resolver_extra_rtt_ms, str(one.resolver_cache)
        return (
            one.profile,
            str(one.dns_transport),
            *resolver,
            one.replicate,
            preset,
            str(one.browser),
            str(one.dns_connection_state),
        )

    (condition,) = [one for one in plan.conditions() if levels(one) == astuple(arm)]
    return condition.id


def link(name: str) -> LinkProfile:
    one = DirectionProfile(one_way_delay_ms=RTT_MS[name] / 2, rate_bps=20e6, loss_ratio=LOSS[name])
    return LinkProfile(name=name, source="made by hand", up=one, down=one)


def _write(
    folder: Path,
    arm: Arm,
    condition: str,
    block: int,
    position: int,
    plt: float | str | None,
    queries: Sequence[Query],
    names_count: int,
) -> None:
    origin = 1_000_000_000_000 + (block * 1_000 + position) * 1_000_000_000
    name = trial_id(block, position)
    with TrialWriter(folder, _trial(name, arm, condition, block, position, origin)) as writer:
        if plt is not None:
            writer.write(_page_load(plt))
            for number in range(names_count):
                writer.write(_resource(f"https://n{number}.example.resolab.test/a?b=https://other.test/"))
            writer.write(_resource("https://n0.example.resolab.test/second"))
        for sequence, query in enumerate(queries):
            writer.write(_query(arm, query, sequence, origin))
        writer.finish(TrialEndRecord(trial_id=name, monotonic_ns=origin + 500_000_000, flags=[]))


def _trial(name: str, arm: Arm, condition: str, block: int, position: int, origin: int) -> TrialRecord:
    transport = DnsTransport(arm.dns_transport)
    return TrialRecord(
        format_version=FORMAT_VERSION,
        trial_id=name,
        block=block,
        position=position,
        condition=condition,
        page="example",
        profile=arm.profile,
        dns_transport=transport,
        resolver_path=ResolverPath.STUB if transport == "dot" else ResolverPath.NATIVE,
        http_version=HttpVersion.H2,
        requested_handshake_mode=HandshakeMode.FULL,
        browser=BrowserKind(arm.browser),
        replicate=arm.replicate,
        resolver_extra_rtt_ms=arm.extra_rtt_ms,
        resolver_cache=ResolverCache(arm.cache),
        browser_preset=BrowserPreset(arm.preset) if arm.preset else None,
        dns_connection_state=ConnectionState(arm.state),
        monotonic_ns=origin,
        wall_time_unix_ns=origin,
        load_average_1min=0.1,
    )


def _page_load(plt: float | str) -> PageLoadRecord:
    failure = PageFailure(plt) if isinstance(plt, str) else None
    return PageLoadRecord(
        url="https://example.resolab.test/",
        browser="firefox",
        browser_version="156.0",
        measured=True,
        requested_handshake_mode=HandshakeMode.FULL,
        handshake_mode=HandshakeMode.FULL,
        plt_ms=None if isinstance(plt, str) else plt,
        request_count=1,
        failure=failure,
        failure_detail=failure,
        limit_ms=LIMIT_MS,
    )


def _resource(url: str) -> ResourceRecord:
    return ResourceRecord(url=url, initiator_type="img", start_ms=0.0, next_hop_protocol="h2", status=200)


def _query(arm: Arm, query: Query, sequence: int, origin: int) -> QueryRecord:
    end = None if query.response_ms is None else round(query.response_ms * 1e6)
    start = None if query.exchange_ms is None or end is None else end - round(query.exchange_ms * 1e6)
    encrypted = arm.dns_transport != "doudp"
    return QueryRecord(
        dns_transport=DnsTransport(arm.dns_transport),
        resolver="made by hand",
        bootstrap=Bootstrap.GIVEN,
        qname="example.resolab.test.",
        qtype="A",
        purpose=QueryPurpose.MEASURED,
        sequence=sequence,
        time_origin_ns=origin,
        connection=ConnectionState(query.connection) if query.connection else None,
        requested_handshake_mode=HandshakeMode.FULL if encrypted else None,
        handshake_mode=HandshakeMode.FULL if encrypted and end is not None else None,
        query_exchange_start_ns=start,
        query_exchange_end_ns=None if start is None else end,
        query_response_time_ns=end,
        limit_ns=None if query.limit_ms is None else round(query.limit_ms * 1e6),
        query_bytes=40,
        attempt_count=query.attempts,
        addresses=[],
        failure=Failure.QUERY_TIMEOUT if end is None else None,
    )
