"""What the sections of both papers have to say of a dataset, by plain arithmetic over the files of its trials.

For: Hounsel et al.'s pairs, shares and sums; Sengupta et al.'s counts and medians. Not for: what is printed beside.
"""

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reference import plain_numbers as plain
from reference.plain_loads import Bounds, Trial, cold_queries
from reference.plain_told import INFINITY, Reference
from reference.reported import Told
from synthetic_dataset import RTT_MS

from resolab.plan import Condition, Plan

HOUNSELS = "default-h20"
STATUSES = {
    None: "Successful", "http_status": "Successful", "page_timeout": "Page-load Timeout", "dns": "DNS Error",
    "incomplete": "Incomplete", "browser_hang": "Selenium Error", "driver": "Selenium Error",
    "no_measured_load": "Selenium Error", "lab_ended": "Other Error",
}  # fmt: skip
EVERY_STATUS = ("Successful", "Page-load Timeout", "DNS Error", "Selenium Error", "Other Error", "Incomplete")
LABELS = {"doudp": "DoUDP", "doh": "DoH", "doq": "DoQ"}
Arm = tuple[str, str, str, float]
"""Transport, state of the resolver's cache, state of the look-up's connection, share of names the resolver lacks."""


def papers_told(folder: Path, plan: Plan) -> Told:
    """Say what the report has to; of sampled pages none are the papers'."""
    ref = Reference(folder, plan)
    told = _statuses(ref)
    if plan.samples_pages:
        return told
    if HOUNSELS in plan.factors.profile:
        return told | _of_hounsel(ref)
    return told | _of_sengupta(ref)


def _status(trial: Trial) -> str:
    return STATUSES[trial.failure]


def _statuses(ref: Reference) -> Told:
    if all(one.failure is None for one in ref.trials):
        return {}
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for one in ref.trials:
        key = (one.head["browser"], one.head["profile"], LABELS[one.head["dns_transport"]])
        groups.setdefault(key, Counter())[_status(one)] += 1
    told = Told()
    for key, counts in groups.items():
        told["statuses", *key, "loads"] = str(counts.total())
        for status in EVERY_STATUS:
            told["statuses", *key, status] = f"{counts[status] / counts.total():.2%}"
    return told


def _arm(trial: Trial) -> Arm:
    head = trial.head
    return head["dns_transport"], head["resolver_cache"], head["dns_connection_state"], head["resolver_miss_ratio"]


def _further(arm: Arm, plan: Plan) -> str:
    state = [] if arm[0] == "doudp" else [f"DNS {arm[2]}"]
    return ", ".join(
        state + ([f"resolver_miss_ratio {arm[3]:g}"] if "resolver_miss_ratio" in plan.list_varying_factors() else [])
    )


def _of_hounsel(ref: Reference) -> Told:
    trials = [one for one in ref.trials if one.head["profile"] == HOUNSELS]
    arms: dict[Arm, dict[tuple[int, str], Bounds]] = {}
    for one in trials:
        if (bounds := one.says("plt")) is not None:
            arms.setdefault(_arm(one), {})[one.head["block"], one.head["page"]] = bounds
    contributing = [one for one in trials if one.says("plt") is not None]
    failed = sum(one.failure is not None for one in contributing)
    told: Told = {("h20_fig4", "caption"): f"{failed} of {len(contributing)}"}
    told["h20_fig4", "left out"] = len(trials) - len(contributing)
    for one, other in itertools.permutations(arms, 2):
        told |= _pair("h20_fig2", ref.plan, (one, other), arms)
        if one[0] != "doudp" and other == ("doudp", one[1], "cold", one[3]):
            told |= _pair("h20_fig4", ref.plan, (one, other), arms)
    return told | _table_1(trials, ref) | _amortisation(trials) | _response_times(trials, ref.level)


def _pair(name: str, plan: Plan, both: tuple[Arm, Arm], arms: Mapping[Arm, Mapping[tuple[int, str], Bounds]]) -> Told:
    own, other = (arms[one] for one in both)
    differences = [plain.minus(own[key], other[key]) for key in own if key in other]
    if not differences and name == "h20_fig4":
        return {}
    known = [one for one in differences if one[0] == one[1]]
    found, survivors = plain.median_of(differences, 0.95), plain.median_of(known, 0.95)
    key = (name, HOUNSELS, *(word for one in both for word in (one[0], "0.0", one[1], _further(one, plan))))
    return {
        (*key, "pairs_count"): found.n, (*key, "censored_count"): found.bounds_count, (*key, "median_ms"): found.value,
        (*key, "median_low_ms"): found.low, (*key, "median_high_ms"): found.high,
        (*key, "survivor_pairs_count"): survivors.n, (*key, "survivor_median_ms"): survivors.value,
    }  # fmt: skip


def _table_1(trials: Sequence[Trial], ref: Reference) -> Told:
    counts: dict[tuple[str, ...], Counter[str]] = {}
    for one in trials:
        arm = _arm(one)
        counts.setdefault((HOUNSELS, arm[1], arm[0], _further(arm, ref.plan)), Counter())[_status(one)] += 1
    told = Told()
    for levels, found in counts.items():
        for status in EVERY_STATUS:
            key, count, total = ("h20_table1", *levels, status), found[status], found.total()
            low, high = plain.wilson(count, total, ref.level)
            told |= {
                (*key, "loads_count"): count, (*key, "total_count"): total, (*key, "share_ratio"): count / total,
                (*key, "ci_low_ratio"): low, (*key, "ci_high_ratio"): high,
            }  # fmt: skip
    return told


def _took_ms(query: Mapping[str, Any]) -> float:
    """Return how long a query took, or was given."""
    limit_ms = (query.get("limit_ns") or 10_000_000_000) / 1e6
    took = query.get("query_response_time_ns")
    return limit_ms if took is None else min(took / 1e6, limit_ms)


def _amortisation(trials: Sequence[Trial]) -> Told:
    groups: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for trial in trials:
        for query in trial.queries:
            if query["purpose"] == "measured" and (query.get("requested_handshake_mode") or "full") == "full":
                key = (trial.head["resolver_cache"], query["dns_transport"], query.get("connection") or "none")
                groups.setdefault(key, []).append(query)
    told = Told()
    for cache, transport in itertools.product(("hit", "miss"), ("doh", "doq")):
        names = {
            "cold": (cache, transport, "cold"),
            "warm": (cache, transport, "warm"),
            "do53": (cache, "doudp", "none"),
        }
        found = {name: groups.get(key, []) for name, key in names.items()}
        if not all(found.values()):
            continue
        key = ("h20_amortisation", HOUNSELS, cache, transport)
        for name, queries in found.items():
            told[*key, f"{name}_mean_ms"] = sum(map(_took_ms, queries)) / len(queries)
            told[*key, f"{name}_count"] = len(queries)
        every = [query for queries in found.values() for query in queries]
        told[*key, "failed_count"] = sum(one.get("query_response_time_ns") is None for one in every)
        told[*key, "do53_retried_ratio"] = sum(one["attempt_count"] > 1 for one in found["do53"]) / len(found["do53"])
    return told


def _response_times(trials: Sequence[Trial], level: float) -> Told:
    groups: dict[tuple[str, ...], list[float]] = {}
    for trial in trials:
        for query in trial.queries:
            if query["purpose"] == "measured":
                key = (trial.head["resolver_cache"], query["dns_transport"],
                       query.get("requested_handshake_mode") or "full", query.get("connection") or "cold")  # fmt: skip
                took = query.get("query_response_time_ns")
                groups.setdefault(key, []).append(INFINITY if took is None else took / 1e6)
    told = Told()
    for levels, times in groups.items():
        key, ordered, size = ("h20_fig1", HOUNSELS, *levels), sorted(times), len(times)
        middle = (ordered[(size - 1) // 2] + ordered[size // 2]) / 2
        below = [sum(math.comb(size, one) for one in range(rank)) / 2**size for rank in range(size + 1)]
        rank = next(one for one in range(size + 1) if below[min(one + 1, size)] >= (1 - level) / 2)
        ends = (ordered[rank - 1], ordered[size - rank]) if rank else (None, None)
        told |= {
            (*key, "n_count"): size, (*key, "failed_count"): times.count(INFINITY),
            (*key, "median_ms"): middle if math.isfinite(middle) else None,
            (*key, "median_ci_low_ms"): ends[0], (*key, "median_ci_high_ms"): ends[1],
        }  # fmt: skip
    return told


def _of_sengupta(ref: Reference) -> Told:
    """Say what is drawn of the conditions as in the paper: with every answer in the cache, each once."""
    (page,) = ref.plan.factors.page  # the made-up plans of this kind have one, which is the paper's, too
    cells = {
        (one.profile, str(one.dns_transport), str(one.requested_handshake_mode)): one
        for one in ref.plan.conditions()
        if one.replicate == 1 and one.resolver_miss_ratio == 0
    }
    told = _fig_8(ref, cells)
    of_cells = [trial for one in cells.values() for trial in ref.arms.get(one.id, [])]
    told["s24_fig3", "left out"] = sum(not one.is_usable for one in of_cells)
    told["s24_fig8", "left out"] = sum(one.says("plt") is None for one in of_cells)
    for (profile, transport, mode), one in cells.items():
        if page == "wikipedia" and profile in {"fiber", "4g"}:
            for outcome, name in (("plt", "s24_fig10"), ("plt_sum", "s24_fig10_plt_sum")):
                says = [bounds for trial in ref.arms.get(one.id, []) if (bounds := trial.says(outcome)) is not None]
                if says:
                    words = f"{LABELS[transport]} + H3 {'full' if mode == 'full' else '0-RTT'}"
                    key = (name, "wikipedia", profile, words)
                    told[*key, "n_count"], told[*key, "failed_count"] = len(says), sum(a != b for a, b in says)
    return told | _connects(ref, cells) | _phases(ref)


def _fig_8(ref: Reference, cells: Mapping[tuple[str, str, str], Condition]) -> Told:
    told = Told()
    for (profile, transport, mode), one in cells.items():
        if (transport, mode) == ("doudp", "full"):
            continue
        found = plain.change_of(*ref.sides("plt", one, cells[profile, "doudp", "full"]))
        words = f"{LABELS[transport]} + H3 {'full' if mode == 'full' else '0-RTT'}"
        if found.low is not None:
            key = ("s24_fig8", one.page, profile, words)
            told |= {
                (*key, "relative_change_ratio"): found.value, (*key, "relative_change_low_ratio"): found.low,
                (*key, "relative_change_high_ratio"): found.high, (*key, "pairs_count"): found.n,
                (*key, "censored_count"): found.bounds_count,
            }  # fmt: skip
    return told


def _panels(ref: Reference) -> dict[str, list[str]]:
    profiles = list(ref.plan.factors.profile)
    return {"all profiles": profiles} | {one: [one] for one in ("fiber", "4g") if one in profiles}


def _counted(key: tuple[str, ...], values: Sequence[float | None]) -> Told:
    ended = [INFINITY if one is None else one for one in values]
    middle = statistics.median(ended) if ended else None
    return {
        (*key, "n_count"): len(values),
        (*key, "failed_count"): ended.count(INFINITY),
        (*key, "median_round_trips"): middle,
    }


def _connects(ref: Reference, cells: Mapping[tuple[str, str, str], Condition]) -> Told:
    found: dict[tuple[str, str], list[float | None]] = {}
    for (profile, _, mode), one in cells.items():
        for trial in ref.arms.get(one.id, []):
            if not trial.is_usable or trial.load is None:
                continue
            rtt, load = RTT_MS[profile], trial.load
            start = load.get("connect_start_ms")
            for what, end in (("connect", "connect_end_ms"), ("until_request", "request_start_ms")):
                took = None if start is None or load.get(end) is None else (load[end] - start) / rtt
                name = f"h3_{'full' if mode == 'full' else 'zero_rtt'}_{what}"
                found.setdefault((profile, name), []).append(took)
    for trial, query in _phase_queries(ref):
        if query["dns_transport"] == "doq":
            took = _phase(query, "quic_handshake")
            rtt = RTT_MS[trial.head["profile"]]
            found.setdefault((trial.head["profile"], "doq_handshake"), []).append(None if took is None else took / rtt)
    told, names = Told(), ("h3_zero_rtt_connect", "h3_zero_rtt_until_request", "h3_full_connect", "doq_handshake")
    for panel, profiles in _panels(ref).items():
        of_panel = {name: [took for one in profiles for took in found.get((one, name), [])] for name in names}
        if any(of_panel.values()):
            for name, values in of_panel.items():
                told |= _counted(("s24_connects", panel, name), values)
    return told


def _phase_queries(ref: Reference) -> Iterable[tuple[Trial, Mapping[str, Any]]]:
    return (both for both in cold_queries(ref.trials) if (both[1].get("requested_handshake_mode") or "full") == "full")


def _phase(query: Mapping[str, Any], phase: str) -> float | None:
    """Return how long a phase took, ms."""
    if phase == "query_response_time":
        took = query.get("query_response_time_ns")
        return None if took is None else took / 1e6
    start, end = query.get(f"{phase}_start_ns"), query.get(f"{phase}_end_ns")
    return None if start is None or end is None else (end - start) / 1e6


def _phases(ref: Reference) -> Told:
    queries, told = list(_phase_queries(ref)), Told()
    curves = {("s24_fig5", label): (transport, "query_response_time") for transport, label in LABELS.items()} | {
        ("s24_fig7", "TCP RTT"): ("doh", "tcp_connect"), ("s24_fig7", "DoQ query"): ("doq", "query_exchange"),
        ("s24_fig7", "DoUDP look-up"): ("doudp", "query_response_time"),
        ("s24_fig7", "DoQ handshake"): ("doq", "quic_handshake"),
    }  # fmt: skip
    panels = {"all profiles": list(ref.plan.factors.profile)}
    only_7 = {one: [one] for one in ("cable",) if one in ref.plan.factors.profile}
    for (name, label), (transport, phase) in curves.items():
        for panel, profiles in (panels | (only_7 if name == "s24_fig7" else {})).items():
            own = [query for trial, query in queries
                   if trial.head["profile"] in profiles and query["dns_transport"] == transport]  # fmt: skip
            took = [_phase(query, phase) for query in own]
            if any(one is not None for one in took):
                key = (name, panel, label)
                told[*key, "n_count"], told[*key, "failed_count"] = len(took), took.count(None)
    return told
