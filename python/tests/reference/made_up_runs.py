"""Made-up datasets in which much goes wrong: loads that fail, are incomplete, lost, late or missing, by a seed.

For: holding reports against `plain_told`. Not for: anything that looks like a network (`synthetic_dataset`).
"""

import random
from pathlib import Path

import msgspec
import synthetic_dataset as made
from synthetic_dataset import PLAN_TEXT, Faults, make_manifest, make_plan

from resolab.basics.protocols import has_handshake
from resolab.basics.records import (
    ConnectionState,
    DnsTransport,
    Failure,
    HandshakeMode,
    PageFailure,
    PageLoadRecord,
    QueryPurpose,
    QueryRecord,
    TrialEndRecord,
)
from resolab.plan import Condition, Plan, block_order
from resolab.store import TrialWriter, create_dataset_folder, save_manifest, trial_id

LAB, HOUNSEL, PAGES, FURTHER = "lab", "hounsel", "pages", "further"
KINDS = (LAB, HOUNSEL, PAGES, FURTHER)
FATES = {
    "good": 70, "missing": 3, "no load": 2, "page_timeout": 5, "dns": 2, "http_status": 2, "incomplete": 3,
    "resources_missing": 2, "browser_hang": 2, "driver": 1, "lab_ended": 1, "late": 5, "untold": 2,
}  # fmt: skip
"""What becomes of a trial, and how often in a hundred."""


def kind_of(seed: int) -> str:
    """Say which of the plans a seed has."""
    return KINDS[seed % len(KINDS)]


def plan_of(seed: int) -> Plan:
    """Write a plan: the lab's, Hounsel et al.'s, one that samples pages in two rounds, or one of further factors."""
    rng = random.Random(f"plan {seed}")
    blocks = rng.choice((3, 5, 6, 7, 8, 9, 12, 13))
    text = PLAN_TEXT.replace("blocks = 6", f"blocks = {blocks}")
    match kind_of(seed):
        case "lab":
            pages, profiles = rng.choice(('["wikipedia"]', '["example"]')), '["fiber", "cable", "4g"]'
            text = text.replace('["example", "wikipedia"]', pages).replace('["fiber", "4g"]', profiles)
            text += "[analysis]\nequivalence_margin_ms = 20\n" if rng.random() < 0.5 else ""
            text += "[stop]\nci_width_ms = 5\n" if rng.random() < 0.3 else ""
        case "hounsel":
            pages = rng.choice(('["wikipedia"]', '["example", "wikipedia"]'))
            text = text.replace('["example", "wikipedia"]', pages).replace('["fiber", "4g"]', '["default-h20", "4g"]')
            text = text.replace('["h3"]', '["h2"]').replace('["full", "zero_rtt"]', '["full"]')
            further = 'dns_connection_state = ["cold", "warm"]\nresolver_cache = ["hit", "miss"]\n[resolver_path]'
            if rng.random() < 0.5:
                further = f"resolver_miss_ratio = [0.0, 0.25]\n{further}"
            text = text.replace("[resolver_path]", further)
            text += 'dns_connection_state = "cold"\n[[exclude]]\ndns_transport = ["doudp"]\n'
            text += 'dns_connection_state = ["warm"]\n'
        case "pages":
            text = text.replace(
                '["example", "wikipedia"]', '["example", "wikipedia", "instagram", "flat-4", "flat-12"]'
            )
            text = text.replace('["fiber", "4g"]', '["4g"]').replace(f"blocks = {blocks}", "blocks = 10")
            text += '[design]\nunit = "page"\n'
        case _:
            text = text.replace('["example", "wikipedia"]', '["wikipedia"]').replace('["fiber", "4g"]', '["4g"]')
            text = text.replace("[resolver_path]", "resolver_miss_ratio = [0.0, 0.25]\n[resolver_path]")
            text += '[[repeat]]\ndns_transport = ["doudp"]\n' if rng.random() < 0.5 else ""
    return make_plan(text)


def make_run(folder: Path, seed: int) -> Plan:
    """Write the dataset of a seed; return its plan."""
    plan = plan_of(seed)
    create_dataset_folder(folder)
    written = 0
    for block in range(plan.blocks):
        for position, condition in enumerate(block_order(plan, plan.seed, block)):
            rng = random.Random(f"{seed} {block} {condition.id}")
            (fate,) = rng.choices(list(FATES), list(FATES.values()))
            if fate != "missing":
                _write(folder, block, position, condition, rng, fate)
                written += 1
    save_manifest(folder, make_manifest(plan, finished=True, planned=written, run=written))
    return plan


def _write(folder: Path, block: int, position: int, condition: Condition, rng: random.Random, fate: str) -> None:
    origin = 1_000_000_000_000 + (block * 1_000 + position) * 3_000_000_000
    name = trial_id(block, position)
    flags = {"late": ["lateness_exceeded"], "resources_missing": ["resources_missing"]}.get(fate, [])
    with TrialWriter(folder, made._trial(name, block, position, condition, origin)) as writer:
        writer.write(made._page_load(condition, rng, Faults(), measured=False))
        if fate != "no load":
            load = _load(condition, rng, fate)
            writer.write(load)
            writer.write(made._resource(load))
        for query in _queries(condition, rng, origin):
            writer.write(query)
        writer.write(made._path_summary(condition, name, origin, rng, 0))
        writer.finish(TrialEndRecord(trial_id=name, monotonic_ns=origin + 2_500_000_000, flags=flags))


def _load(condition: Condition, rng: random.Random, fate: str) -> PageLoadRecord:
    """Make a load; one that failed may have instants all the same, and any may lack an outcome."""
    load = made._page_load(condition, rng, Faults(sums=True, paints=True, rejected_early_data=True), measured=True)
    plt_ms = load.plt_ms or 0.0
    changes: dict[str, object] = {
        "limit_ms": rng.choice((30_000.0, 30_000.0, 15_000.0)),
        "plt_sum_ms": load.plt_sum_ms if rng.random() < 0.9 else None,
        "last_byte_ms": load.last_byte_ms if rng.random() < 0.8 else None,
        "fcp_ms": plt_ms / 2 if rng.random() < 0.7 else None,
    }
    if load.dns_handshake_mode is not None and rng.random() < 0.1:
        changes |= {"dns_handshake_mode": HandshakeMode.RESUMED}
    if rng.random() < 0.05:
        changes |= {"plt_ms": plt_ms + rng.uniform(3_000, 9_000)}
    if fate in set(PageFailure):
        changes |= {"failure": PageFailure(fate), "failure_detail": "made up"}
        if fate in {"page_timeout", "dns", "browser_hang", "driver"}:
            changes |= {"plt_ms": None, "plt_sum_ms": None, "lcp_ms": None}
        if fate == "dns":
            changes |= {"response_start_ms": None, "connect_end_ms": None, "handshake_mode": None}
    if fate == "untold":
        changes |= {"plt_ms": None, "plt_sum_ms": None}
    return msgspec.structs.replace(load, **changes)


def _queries(condition: Condition, rng: random.Random, origin: int) -> list[QueryRecord]:
    """Make our own client's queries: cold ones, warm ones behind them, and one that a stub forwarded."""
    found = []
    for transport in (DnsTransport.DOUDP, DnsTransport.DOH, DnsTransport.DOQ):
        query = made._query(condition, transport, len(found), origin, rng, Faults())
        if has_handshake(transport) and rng.random() < 0.2:
            query = msgspec.structs.replace(query, requested_handshake_mode=HandshakeMode.RESUMED)
        found.append(_failing(query, rng))
        if transport is not DnsTransport.DOUDP:
            took_ns = (query.query_response_time_ns or 0) // 3
            warm = msgspec.structs.replace(
                query, connection=ConnectionState.WARM, sequence=len(found), query_response_time_ns=took_ns,
                query_exchange_start_ns=0, query_exchange_end_ns=took_ns,
            )  # fmt: skip
            found.append(_failing(warm, rng))
    forwarded = msgspec.structs.replace(found[0], purpose=QueryPurpose.FORWARDED, sequence=len(found))
    return [*found, forwarded]


def _failing(query: QueryRecord, rng: random.Random) -> QueryRecord:
    limit_ns = rng.choice((None, 5_000_000_000, 10_000_000_000))
    if rng.random() >= 0.08:
        return msgspec.structs.replace(query, limit_ns=limit_ns, attempt_count=2 if rng.random() < 0.1 else 1)
    return msgspec.structs.replace(
        query, limit_ns=limit_ns, failure=Failure.QUERY_TIMEOUT, query_response_time_ns=None,
        query_exchange_end_ns=None, handshake_mode=None,
        query_exchange_start_ns=None if rng.random() < 0.5 else query.query_exchange_start_ns,
    )  # fmt: skip
