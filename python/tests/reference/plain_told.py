"""What a report has to say of a dataset, by plain arithmetic over the files of its trials.

For: the right side of a comparison with `reported`, key by key. Not for: speed, words or figures.

Pairs are of one block and, where a page was loaded again, of one round; differences within a page's rounds are averaged.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reference import plain_numbers as plain
from reference.plain_loads import (
    AT_LEAST_ITS_LIMIT,
    INFINITY,
    OF_THE_INSTRUMENT,
    OUTCOMES,
    Bounds,
    Trial,
    cold_queries,
    read_trials,
)
from reference.reported import Told
from synthetic_dataset import RTT_MS

from resolab.plan import ComparisonKind, Condition, Plan, pool_pages
from resolab.plan.factors import applies, format_level
from resolab.report.plots import combination_label, level_label

Arms = Mapping[str, Sequence[Trial]]
Pair = tuple[Bounds, Bounds]
SLOW_MS = 3_000.0
WITH_HANDSHAKE = {"dot", "doh", "doh3", "doq"}


class Reference:
    """One dataset."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.plan = pool_pages(plan)
        self.trials = read_trials(folder, pages_as_one=plan.samples_pages)
        self.arms = _by_condition(self.trials)
        self.level = 0.95 if plan.stop is None else 0.97
        self.has_rounds = any(len({one.block for one in arm}) < len(arm) for arm in self.arms.values())
        self.known = [
            one
            for one in OUTCOMES
            if one in AT_LEAST_ITS_LIMIT or any(_of(trial, one) is not None for trial in self.trials)
        ]
        self.compared = [one for one in self.plan.comparisons() if one.kind is not ComparisonKind.AA]

    def name(self, one: Condition) -> str:
        """Name a condition as figures do."""
        varying = [word for factor in self.plan.list_varying_factors() if applies(factor, one)
                   for word in [level_label(factor, format_level(getattr(one, factor), factor))]]  # fmt: skip
        copy = [f"copy {one.replicate}"] if one.replicate > 1 else []
        return combination_label(one.dns_transport, one.http_version, one.requested_handshake_mode, [*varying, *copy])

    def pairs(self, outcome: str, one: Condition, other: Condition, arms: Arms | None = None) -> dict[int, list[Pair]]:
        """Return what both conditions say, by block, of each of its rounds in which both say something."""
        arms = self.arms if arms is None else arms
        told = [
            {trial.round: bounds for trial in arms.get(side.id, []) if (bounds := trial.says(outcome)) is not None}
            for side in (one, other)
        ]
        found: dict[int, list[Pair]] = {}
        for key in sorted(told[0].keys() & told[1].keys()):
            found.setdefault(key[0], []).append((told[0][key], told[1][key]))
        return found

    def differences(
        self, outcome: str, one: Condition, other: Condition, arms: Arms | None = None
    ) -> dict[int, Bounds]:
        """Subtract within each round, then average a block's."""
        pairs = self.pairs(outcome, one, other, arms)
        return {block: plain.mean([plain.minus(*pair) for pair in rounds]) for block, rounds in pairs.items()}

    def sides(self, outcome: str, one: Condition, other: Condition) -> tuple[list[Bounds], list[Bounds]]:
        """Average what each condition says in the rounds that pairs are of."""
        rounds = self.pairs(outcome, one, other).values()
        own, against = ([plain.mean([pair[side] for pair in block]) for block in rounds] for side in (0, 1))
        return own, against

    def of_condition(self, outcome: str, condition: str) -> list[Bounds]:
        """Return what a condition's blocks say: of several rounds their mean."""
        blocks: dict[int, list[Bounds]] = {}
        for trial in self.arms.get(condition, []):
            if (bounds := trial.says(outcome)) is not None:
                blocks.setdefault(trial.block, []).append(bounds)
        return [plain.mean(rounds) for rounds in blocks.values()]


def plainly_told(folder: Path, plan: Plan) -> Told:
    """Say what the report has to."""
    one = Reference(folder, plan)
    told = Told()
    for part in (
        _of_outcomes,
        _of_figures,
        _of_answer,
        _of_effects,
        _of_sensitivity,
        _of_exchanges,
        _of_trouble,
        _of_handshakes,
    ):
        told |= part(one)
    return told


def _by_condition(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for one in trials:
        found.setdefault(one.condition, []).append(one)
    return found


def _of(trial: Trial, outcome: str) -> float | None:
    return None if trial.load is None else trial.load.get(OUTCOMES[outcome])


def _estimate(key: tuple[str, ...], one: plain.Found) -> Told:
    return {
        (*key, "low"): one.low, (*key, "high"): one.high, (*key, "ci_low"): one.ci_low, (*key, "ci_high"): one.ci_high,
        (*key, "n"): one.n,
    }  # fmt: skip


def _of_outcomes(ref: Reference) -> Told:
    told = Told()
    for outcome in ref.known:
        for condition in ref.plan.conditions():
            arm = ref.arms.get(condition.id, [])
            told |= _estimate(
                ("median", outcome, condition.id), plain.median_of(ref.of_condition(outcome, condition.id), ref.level)
            )
            told["told", outcome, condition.id, "count"] = sum(one.value(outcome) is not None for one in arm)
        every = [one for one in ref.plan.comparisons() if one.kind is not ComparisonKind.AA]
        copies = [one for one in ref.plan.comparisons() if one.kind is ComparisonKind.AA]
        for family in (every, copies):
            told |= _of_family(ref, outcome, [(one.treatment, one.baseline) for one in family])
    return told


def _of_family(ref: Reference, outcome: str, family: Sequence[tuple[Condition, Condition]]) -> Told:
    told, p_values = Told(), {}
    for one, other in family:
        key = (outcome, one.id, other.id)
        differences = list(ref.differences(outcome, one, other).values())
        told |= _estimate(("difference", *key), plain.median_of(differences, ref.level))
        told |= _estimate(("shift", *key), plain.shift_of(differences, ref.level))
        own, against = ref.sides(outcome, one, other)
        low, high = plain.delta_of(own, against) if own else (None, None)
        told["delta", *key, "low"], told["delta", *key, "high"] = low, high
        change = plain.change_of(own, against)
        told["change", *key, "low"], told["change", *key, "high"] = change.low, change.high
        told["test", *key, "p"] = p = plain.p_of(differences)
        told["test", *key, "p after Holm"] = None
        if p is not None:
            p_values[key] = p
    for key, adjusted in zip(p_values, plain.holm(list(p_values.values())), strict=True):
        told["test", *key, "p after Holm"] = adjusted
    return told


def _baselined(ref: Reference) -> list[tuple[Condition, Condition]]:
    conditions = [one for one in ref.plan.conditions() if one.replicate == 1]
    return [(one, ref.plan.find_baseline(one)) for one in conditions if ref.plan.find_baseline(one) != one]


def _of_figures(ref: Reference) -> Told:
    """Say what tables and figures of each outcome have."""
    told, compared = Told(), _baselined(ref)
    for outcome in ref.known:
        is_told = any(one.value(outcome) is not None for one in ref.trials)
        if outcome == "plt_sum" or not (outcome == "plt" or is_told):
            continue
        for condition in ref.plan.conditions():
            arm = ref.arms.get(condition.id, [])
            if outcome == "plt" or any(one.value(outcome) is not None for one in arm):
                told |= _of_loads(ref, outcome, condition, arm)
        changes = {one.id: plain.change_of(*ref.sides(outcome, one, other)) for one, other in compared}
        pairs = [len(ref.differences(outcome, one.treatment, one.baseline)) for one in ref.compared]
        if any(pairs):
            told["comparisons", outcome, "pairs"] = sum(pairs)
        if not any(one.n for one in changes.values()):
            continue
        for one, other in compared:
            found = plain.median_of(list(ref.differences(outcome, one, other).values()), ref.level)
            key = (one.page, one.profile, ref.name(one))
            _put(told, (f"{outcome}_difference", *key), {
                "paired_difference_ms": found.value, "ci_low_ms": found.ci_low, "ci_high_ms": found.ci_high,
                "pairs_count": found.n, "censored_count": found.bounds_count,
            })  # fmt: skip
            change = changes[one.id]
            _put(told, (f"{outcome}_change", *key), {
                "relative_change_ratio": change.value, "relative_change_low_ratio": change.low,
                "relative_change_high_ratio": change.high, "pairs_count": change.n, "censored_count": change.bounds_count,
            })  # fmt: skip
    return told


def _of_answer(ref: Reference) -> Told:
    """Say the verdict on every comparison, and count the verdicts."""
    told, counts, has_interval = Told(), Counter[str](), False
    for one in ref.compared:
        key = ("answer", one.treatment.id, one.baseline.id)
        differences = list(ref.differences("plt", one.treatment, one.baseline).values())
        found, margin = plain.median_of(differences, ref.level), ref.plan.analysis.equivalence_margin
        within = margin is not None and bool(
            _equivalence((), differences, margin.of(RTT_MS[one.treatment.profile]), 1 - ref.level)["is_alike",]
        )
        verdict = "equivalent" if within else "not decided"
        if found.ci_low is not None and found.ci_high is not None:
            has_interval = True
            verdict = "slower" if found.ci_low > 0 else "faster" if found.ci_high < 0 else verdict
        counts[verdict] += 1
        usable = [
            load for side in (one.treatment, one.baseline) for load in ref.arms.get(side.id, []) if load.is_usable
        ]
        failed = sum(load.failure is not None for load in usable)
        told |= _estimate(key, found)
        told |= {(*key, "verdict"): verdict, (*key, "within margin"): int(within)}
        told |= {(*key, "failed"): failed, (*key, "loads"): len(usable)}
    return told | {("sentence", "verdicts", name): count for name, count in counts.items() if has_interval}


def _put(told: Told, key: tuple[str, ...], columns: Mapping[str, float | str | None]) -> None:
    told |= {(*key, column): value for column, value in columns.items()}


def _of_loads(ref: Reference, outcome: str, condition: Condition, arm: Sequence[Trial]) -> Told:
    usable = [one for one in arm if one.is_usable]
    lost, failed = len(arm) - len(usable), sum(one.failure is not None for one in usable)
    reached = sum(_handshake(one) == one.head["requested_handshake_mode"] for one in usable)
    key = ("loads", outcome, condition.page, condition.profile, ref.name(condition))
    return {
        (*key, "trials"): str(len(arm)), (*key, "failed"): str(failed) + (f" + {lost} lost" if lost else ""),
        (*key, "handshake reached"): f"{reached}/{len(usable)}",
    }  # fmt: skip


def _handshake(trial: Trial) -> str | None:
    return None if trial.load is None else trial.load.get("handshake_mode")


def _any_profile(one: Condition) -> str:
    return replace(one, profile="any").id


def _of_effects(ref: Reference) -> Told:
    told, outcome = Told(), "plt"
    compared = list(dict.fromkeys((one.treatment, one.baseline) for one in ref.compared))
    for one, other in compared:
        key = (one.profile, _any_profile(one), _any_profile(other))
        differences = list(ref.differences(outcome, one, other).values())
        margin = ref.plan.analysis.equivalence_margin
        if margin is not None:
            told |= _equivalence(
                ("equivalence", *key), differences, margin.compute_ms(RTT_MS[one.profile]), 1 - ref.level
            )
        if not ref.has_rounds:
            told |= _slow(ref, ("slow_loads", *key), [pair for (pair,) in ref.pairs(outcome, one, other).values()])
    gains = [
        (full, early) for early in ref.plan.conditions() if early.replicate == 1
        if early.requested_handshake_mode == "zero_rtt"
        for full in ref.plan.conditions() if full.replicate == 1
        if full.requested_handshake_mode == "full" and _without_mode(full) == _without_mode(early)
    ]  # fmt: skip
    families: dict[tuple[str, str, str], list[tuple[Condition, Condition]]] = {}
    for one, other in dict.fromkeys([*compared, *gains]):
        families.setdefault((one.page, _any_profile(one), _any_profile(other)), []).append((one, other))
    for name in ref.known:
        for key, members in families.items():
            told |= _slope(ref, name, key, members)
    return told


def _without_mode(one: Condition) -> Condition:
    return replace(one, requested_handshake_mode="full")  # type: ignore[arg-type]


def _equivalence(key: tuple[str, ...], differences: Sequence[Bounds], margin: float, significance: float) -> Told:
    p = None
    if differences:
        lower, upper = [low + margin for low, _ in differences], [margin - high for _, high in differences]
        p = max(plain.sign_tail(lower), plain.sign_tail(upper))
    is_alike = int(p is not None and p <= significance + 1e-9)
    return {(*key, "p_value"): p, (*key, "pairs_count"): len(differences), (*key, "is_alike"): is_alike}


def _slow(ref: Reference, key: tuple[str, ...], pairs: Sequence[Pair]) -> Told:
    slow = [(own[0] > SLOW_MS, other[0] > SLOW_MS) for own, other in pairs]
    own, other = (sum(one[side] for one in slow) for side in (0, 1))
    if not own and not other:
        return {}
    kept = [plain.minus(*pair) for pair, is_slow in zip(pairs, slow, strict=True) if not any(is_slow)]
    both, size = sum(all(one) for one in slow), len(slow)
    return {
        (*key, "share_ratio"): own / size, (*key, "baseline_share_ratio"): other / size,
        (*key, "p_value"): plain.mcnemar(own - both, other - both), (*key, "n"): size,
        (*key, "difference_ratio"): (own - other) / size, (*key, "neither_slow_pairs_count"): len(kept),
        (*key, "neither_slow_difference_ms"): plain.median_of(kept, ref.level).value,
    }  # fmt: skip


def _slope(
    ref: Reference, name: str, key: tuple[str, str, str], members: Sequence[tuple[Condition, Condition]]
) -> Told:
    blocks: dict[int, list[tuple[float, Bounds]]] = {}
    for one, other in members:
        for block, bounds in ref.differences(name, one, other).items():
            blocks.setdefault(block, []).append((RTT_MS[one.profile], bounds))
    slopes = [plain.slope_of(points) for points in blocks.values() if len({rtt for rtt, _ in points}) >= 3]
    if not slopes:
        return {}
    found, key = plain.median_of(slopes, ref.level), ("slopes", name, *key)  # type: ignore[assignment]
    return {
        (*key, "slope_rtts"): found.value, (*key, "ci_low_slope_rtts"): found.ci_low,
        (*key, "ci_high_slope_rtts"): found.ci_high, (*key, "n"): found.n, (*key, "profiles_count"): len(members),
    }  # fmt: skip


def _reached(trial: Trial) -> bool:
    """Whether neither the page nor its look-up had another handshake than the one asked for, as far as it got."""
    load, head = trial.load, trial.head
    if load is None:
        return False
    failed = load.get("failure") is not None
    mode, asked = load.get("handshake_mode"), head["requested_handshake_mode"]
    if mode != asked and not (mode is None and failed):
        return False
    state = load.get("dns_connection_state")
    if state is None:
        return True
    if state != head["dns_connection_state"]:
        return False
    mode = load.get("dns_handshake_mode")
    right = mode == head["requested_dns_handshake_mode"] or (mode is None and failed)
    return state == "warm" or head["dns_transport"] not in WITH_HANDSHAKE or right


def _of_sensitivity(ref: Reference) -> Told:
    choices: Mapping[str, Callable[[Trial], bool]] = {
        "all loads": lambda _: True, "without flagged trials": lambda one: not one.flags,
        "only handshakes that were reached": _reached,
    }  # fmt: skip
    told = Told()
    for name, takes in choices.items():
        arms = _by_condition(one for one in ref.trials if takes(one))
        for one in ref.compared:
            differences = list(ref.differences("plt", one.treatment, one.baseline, arms).values())
            found = plain.median_of(differences, ref.level)
            _put(told, ("sensitivity", one.treatment.id, one.baseline.id, name), {
                "pairs_count": found.n, "value_ms": found.value, "ci_low_ms": found.ci_low, "ci_high_ms": found.ci_high,
            })  # fmt: skip
    return told


def _of_exchanges(ref: Reference) -> Told:
    groups: dict[tuple[str, ...], list[tuple[float | None, str | None]]] = {}
    for trial, query in cold_queries(ref.trials):
        head, took = trial.head, query.get("query_response_time_ns")
        key = (head["profile"], f"{head['resolver_extra_rtt_ms']:g}", head["resolver_cache"], query["dns_transport"],
               query.get("requested_handshake_mode") or "full")  # fmt: skip
        groups.setdefault(key, []).append((None if took is None else took / 1e6, query.get("handshake_mode")))
    told: Told = {("exchange table", "n"): sum(map(len, groups.values())), ("exchange table", "failed"): 0}
    for levels, found in groups.items():
        times, key = [one for one, _ in found], ("exchanges", *levels)
        failed, rtt = sum(one is None for one in times), RTT_MS[levels[0]] + float(levels[1])
        bounds = [(INFINITY if one is None else one,) * 2 for one in times]
        told |= _estimate(key, plain.median_of(bounds, ref.level))  # type: ignore[arg-type]
        told[*key, "failed"] = failed
        told[*key, "reached"] = sum(levels[3] not in WITH_HANDSHAKE or mode == levels[4] for _, mode in found)
        ended = sorted(one for one in times if one is not None)
        shares = (f"{one / rtt:.6g}@{(rank + 1) / len(times):.6g}" for rank, one in enumerate(ended))
        told[*key, "curve"] = " ".join(shares)
        told["exchange table", "failed"] += failed  # type: ignore[operator]
    return told


def _of_trouble(ref: Reference) -> Told:
    failures: Counter[tuple[str, str, str]] = Counter()
    flags: Counter[tuple[str, str]] = Counter()
    for trial in ref.trials:
        if trial.failure is not None:
            failures["page load", trial.failure, trial.condition] += 1
        flags.update((flag, trial.condition) for flag in trial.flags)
        for query in trial.queries:
            if query.get("failure") is not None:
                failures[
                    f"{query['purpose']} query over {query['dns_transport']}", query["failure"], trial.condition
                ] += 1
    told: Told = {("failures", *key, "count"): count for key, count in failures.items()}
    told |= {("flags", *key, "count"): count for key, count in flags.items()}
    of_loads = {key: count for key, count in failures.items() if key[0] == "page load"}
    lost = {key: count for key, count in of_loads.items() if key[1] in {*OF_THE_INSTRUMENT, "no_measured_load"}}
    total, lost_total = sum(of_loads.values()) - sum(lost.values()), sum(lost.values())
    beside, flagged = failures.total() - total - lost_total, flags.total()
    lost_words = f"{lost_total} more {'was' if lost_total == 1 else 'were'} lost to the instrument" if lost else ""
    line = f"Failures and flags: {total} of {len(ref.trials)} loads failed{', ' if lost else ''}{lost_words}"
    line += f", and {beside} look-ups, warm-up loads or connections beside them" if beside else ""
    line += f"; {flagged or 'no'} flag{'' if flagged == 1 else 's'}"
    told["sentence", "failures"] = line if total or lost or beside or flagged else "Failures and flags: none"
    classes: Counter[str] = Counter()
    for (_, failure, _), count in of_loads.items():
        classes[failure] += count
    told["sentence", "loads failed"] = f"{total} of {len(ref.trials)} loads failed|{sorted(classes.items())}"
    told["sentence", "loads lost"] = lost_words
    for profile, trials in _grouped(ref.trials, lambda one: str(one.head["profile"])).items():
        windows = [one for trial in trials for one in trial.summaries]
        told["lateness", profile, "windows"] = 2 * len(windows)
        told["lateness", profile, "packets"] = sum(
            one[side]["packets_out_count"] for one in windows for side in ("up", "down")
        )
    return told


def _grouped(trials: Iterable[Trial], key: Callable[[Trial], str]) -> dict[str, list[Trial]]:
    found: dict[str, list[Trial]] = {}
    for one in trials:
        found.setdefault(key(one), []).append(one)
    return found


def _of_handshakes(ref: Reference) -> Told:
    counts: Counter[tuple[str, ...]] = Counter()
    for trial in ref.trials:
        head, load = trial.head, trial.load
        for query in trial.queries:
            asked = query.get("requested_handshake_mode")
            if query["purpose"] == "measured" and query.get("connection") != "warm" and asked is not None:
                levels = (None, None, None, query["dns_transport"], None, asked, query.get("handshake_mode"))
                counts["cold DNS exchange", *map(str, levels)] += 1
        if load is None:
            continue
        way = (head["dns_transport"], head["resolver_path"])
        page = (head["browser"], head["http_version"], head["h3_discovery"], *way, head["requested_handshake_mode"])
        counts["page load", *map(str, (*page, load.get("handshake_mode")))] += 1
        state, asked = load.get("dns_connection_state"), head["dns_connection_state"]
        if state is None:
            continue
        look_up = (head["browser"], None, None, *way)
        counts["connection of the page look-up", *map(str, (*look_up, asked, state))] += 1
        if asked == "cold" and head["dns_transport"] in WITH_HANDSHAKE:
            modes = (head["requested_dns_handshake_mode"], load.get("dns_handshake_mode"))
            counts["page look-up", *map(str, (*look_up, *modes))] += 1
    return {("handshakes", *key, "count"): count for key, count in counts.items()}
