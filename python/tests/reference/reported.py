"""What a report says of a dataset, number by number, by the table or figure it stands in.

For: one side of a comparison. Not for: what is right (`plain_told`).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from resolab.report.answer.rows import answer_rows
from resolab.report.answer.sentences import verdict_sentence
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings, OutcomeFindings
from resolab.report.parts.comparison_tables import comparison_table
from resolab.report.parts.effect_tables import effect_tables
from resolab.report.parts.failure_sentences import failures_line, trouble_sentence
from resolab.report.parts.figures import outcome_drawings
from resolab.report.parts.outcome_tables import further_outcomes, outcome_table
from resolab.report.parts.sensitivity import sensitivity_table
from resolab.report.parts.tables import exchange_table
from resolab.report.plots import Drawing
from resolab.report.plots.save import Value
from resolab.report.sections.reading import Reading
from resolab.stats import Estimate
from resolab.store import Dataset, build_tables, open_dataset
from resolab.studies.h20.figures import SECTION as H20
from resolab.studies.h20.statuses import status_table
from resolab.studies.s24.figures import SECTION as S24

Told = dict[tuple[str, ...], Value]
"""By table or figure, the levels that a row stands for, and column."""
DIFFERENCE = ("paired_difference_ms", "ci_low_ms", "ci_high_ms", "pairs_count", "censored_count")
CHANGE = (
    "relative_change_ratio", "relative_change_low_ratio", "relative_change_high_ratio", "pairs_count", "censored_count",
)  # fmt: skip
PAIRED = ("pairs_count", "censored_count", "median_ms", "median_low_ms", "median_high_ms", "survivor_pairs_count",
          "survivor_median_ms")  # fmt: skip
COUNTS = ("n_count", "failed_count")
SIDES = ("dns_transport", "resolver_extra_rtt_ms", "resolver_cache", "further_levels")


def reported(folder: Path) -> Told:
    """Make what the report of a dataset shows."""
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
        told = _of_loads(findings) | _of_answer(findings) | _of_exchanges(findings) | _of_trouble(findings)
        return told | _of_hounsel(dataset, findings) | _of_sengupta(dataset, findings)


def _put(
    told: Told, name: str, rows: Iterable[Mapping[str, Value]], keys: Sequence[str], columns: Sequence[str]
) -> None:
    for row in rows:
        for column in columns:
            told[name, *(str(row[key]) for key in keys), column] = row[column]


def _of_loads(findings: Findings) -> Told:
    told: Told = {}
    shown = [findings.plt, *further_outcomes(findings)]
    for found in shown:
        for drawing in outcome_drawings(findings, found):
            columns = DIFFERENCE if drawing.name.endswith("_difference") else CHANGE
            _put(told, drawing.name, drawing.rows, ("page", "profile", "combination"), columns)
        told |= _of_tables(findings, found)
    for found in (findings.plt, *findings.further):
        told |= _of_outcome(found)
    keys = {
        "slopes": ("outcome", "page", "treatment", "baseline"), "equivalence": ("profile", "treatment", "baseline"),
        "slow_loads": ("profile", "treatment", "baseline"),
    }  # fmt: skip
    columns = {
        "slopes": ("slope_rtts", "ci_low_slope_rtts", "ci_high_slope_rtts", "n", "profiles_count"),
        "equivalence": ("p_value", "pairs_count", "is_alike"),
        "slow_loads": ("share_ratio", "baseline_share_ratio", "p_value", "n", "difference_ratio",
                       "neither_slow_pairs_count", "neither_slow_difference_ms"),
    }  # fmt: skip
    for table in effect_tables(findings):
        _put(told, table.name, table.rows, keys[table.name], columns[table.name])
    sensitivity = sensitivity_table(findings).rows
    values = ("pairs_count", "value_ms", "ci_low_ms", "ci_high_ms")
    _put(told, "sensitivity", sensitivity, ("treatment", "baseline", "loads"), values)
    return told


def _of_answer(findings: Findings) -> Told:
    """Read the first screen: a row for each comparison, and the verdicts counted in its first sentence."""
    told, rows = Told(), answer_rows(findings)
    for row in rows:
        key = ("answer", row.comparison.treatment.id, row.comparison.baseline.id)
        told |= _estimate(key, row.estimate)
        told |= {(*key, "verdict"): str(row.verdict), (*key, "within margin"): int(row.within_margin)}
        told |= {(*key, "failed"): row.failed_count, (*key, "loads"): row.loads_count}
    for count, verdict in re.findall(
        r"(\d+) (?:is |are )?(slower|faster|equivalent|not decided)", verdict_sentence(findings, rows)
    ):
        told["sentence", "verdicts", verdict] = int(count)
    return told


def _of_tables(findings: Findings, found: OutcomeFindings) -> Told:
    """Read counts of loads off the printed table."""
    table, told = outcome_table(findings, found), Told()
    places = {name: list(table.columns).index(name) for name in ("trials", "failed", "handshake reached")}
    for row in table.rows:
        for name, place in places.items():
            told["loads", found.outcome.name, row[0], row[1], row[2], name] = row[place]
    pairs = comparison_table(findings, found)
    if "pairs" in pairs.columns:
        place = list(pairs.columns).index("pairs")
        told["comparisons", found.outcome.name, "pairs"] = sum(int(row[place]) for row in pairs.rows)
    return told


def _of_outcome(found: OutcomeFindings) -> Told:
    told, name = Told(), found.outcome.name
    for result in found.conditions:
        told |= _estimate(("median", name, result.condition.id), result.median_ms)
        told["told", name, result.condition.id, "count"] = result.told_count
    for pair in (*found.comparisons, *found.aa):
        key = (name, pair.comparison.treatment.id, pair.comparison.baseline.id)
        told |= _estimate(("difference", *key), pair.difference_ms) | _estimate(("shift", *key), pair.shift_ms)
        told["test", *key, "p"] = pair.p_value
        told["test", *key, "p after Holm"] = pair.adjusted_p_value
        told["delta", *key, "low"], told["delta", *key, "high"] = pair.delta.low, pair.delta.high
        told["change", *key, "low"], told["change", *key, "high"] = pair.change.low, pair.change.high
    return told


def _estimate(key: tuple[str, ...], one: Estimate) -> Told:
    return {
        (*key, "low"): one.low, (*key, "high"): one.high, (*key, "ci_low"): one.ci_low, (*key, "ci_high"): one.ci_high,
        (*key, "n"): one.n,
    }  # fmt: skip


def _of_exchanges(findings: Findings) -> Told:
    told = Told()
    for one in findings.exchanges:
        levels = (one.profile, f"{one.resolver_extra_rtt_ms:g}", one.resolver_cache, one.dns_transport)
        key = ("exchanges", *levels, one.requested_handshake_mode)
        told |= _estimate(key, one.median_ms)
        told[*key, "failed"], told[*key, "reached"] = one.failed_count, one.reached_count
        points = zip(one.round_trips, one.shares, strict=True)
        told[*key, "curve"] = " ".join(f"{trips:.6g}@{share:.6g}" for trips, share in points)
    table = exchange_table(findings)
    for column in ("n", "failed"):
        place = list(table.columns).index(column)
        told["exchange table", column] = sum(int(row[place]) for row in table.rows)
    return told


def _of_trouble(findings: Findings) -> Told:
    told: Told = {("sentence", "failures"): failures_line(findings)}
    of_loads, _, _ = trouble_sentence(findings).partition("; flags, kept")
    counts = re.match(r"\d+ of \d+ loads failed", of_loads)
    lost = re.search(r"\d+ more \w+ lost to the instrument", of_loads)
    listed = sorted((name, int(count)) for name, count in re.findall(r"(\w+) (\d+)[,)]", of_loads))
    told["sentence", "loads failed"] = f"{counts and counts[0]}|{listed}"
    told["sentence", "loads lost"] = lost[0] if lost else ""
    for one in findings.failures:
        told["failures", one.kind, one.failure, one.condition, "count"] = one.count
    for flag in findings.flags:
        told["flags", flag.flag, flag.condition, "count"] = flag.count
    for hands in findings.handshakes:
        levels = (
            hands.browser, hands.http_version, hands.h3_discovery, hands.dns_transport, hands.resolver_path,
            hands.requested_handshake_mode, hands.handshake_mode,
        )  # fmt: skip
        told["handshakes", hands.kind, *map(str, levels), "count"] = hands.count
    for late in findings.lateness:
        told["lateness", late.profile, "windows"] = late.windows_count
        told["lateness", late.profile, "packets"] = late.packets_count
    table = status_table(findings)
    for row in table.rows:
        for column, cell in zip(table.columns[3:], row[3:], strict=True):
            told["statuses", *row[:3], str(column)] = cell
    return told


def _of_hounsel(dataset: Dataset, findings: Findings) -> Told:
    told, reading = Told(), Reading(dataset, findings)
    if not H20.applies(reading):
        return told
    h20 = H20.build(reading)
    for drawing in h20.drawings:
        rows = drawing.rows
        if drawing.name in {"h20_fig1", "h20_fig3"}:
            keys = ("profile", "resolver_cache", "dns_transport", "requested_handshake_mode", "connection")
            _put(told, drawing.name, rows, keys, (*COUNTS, "median_ms", "median_ci_low_ms", "median_ci_high_ms"))
        elif drawing.name == "h20_fig2":
            keys = ("profile", *(f"{side}_{name}" for side in ("row", "column") for name in SIDES))
            _put(told, drawing.name, rows, keys, PAIRED)
        elif drawing.name != "amortisation":
            keys = ("profile", *(f"{side}_{name}" for side in ("treatment", "baseline") for name in SIDES))
            _put(told, drawing.name, rows, keys, PAIRED)
            failed = re.search(r"(\d+ of \d+) loads failed", drawing.caption)
            told[drawing.name, "caption"] = failed and failed[1]
            told[drawing.name, "left out"] = _left_out(drawing)
    for table in h20.tables:
        if table.name == "h20_table1":
            keys = ("profile", "resolver_cache", "dns_transport", "further_levels", "status")
            columns = ("loads_count", "total_count", "share_ratio", "ci_low_ratio", "ci_high_ratio")
            _put(told, table.name, table.rows, keys, columns)
        if table.name == "h20_amortisation":
            columns = ("cold_mean_ms", "warm_mean_ms", "do53_mean_ms", "cold_count", "warm_count", "do53_count",
                       "failed_count", "do53_retried_ratio")  # fmt: skip
            _put(told, table.name, table.rows, ("profile", "resolver_cache", "dns_transport"), columns)
    return told


def _left_out(drawing: Drawing) -> int:
    """Read off a caption how many loads are in none of the numbers for what became of them."""
    found = re.search(r"Left out: (\d+) loads? that the instrument lost", drawing.caption)
    return int(found[1]) if found else 0


def _of_sengupta(dataset: Dataset, findings: Findings) -> Told:
    told, reading = Told(), Reading(dataset, findings)
    if not S24.applies(reading):
        return told
    s24 = S24.build(reading)
    for drawing in s24.drawings:
        if drawing.name in {"s24_fig10", "s24_fig10_plt_sum"}:
            ours = [row for row in drawing.rows if row["study"] == "ours"]
            _put(told, drawing.name, ours, ("page", "profile", "combination"), COUNTS)
        if drawing.name == "s24_fig8":
            rows = [row for row in drawing.rows if row["relative_change_low_ratio"] is not None]
            _put(told, drawing.name, rows, ("page", "profile", "combination"), CHANGE)
        if drawing.name in {"s24_fig3", "s24_fig8"}:
            told[drawing.name, "left out"] = _left_out(drawing)
        if drawing.name in {"s24_fig5", "s24_fig7"}:
            _put(told, drawing.name, drawing.rows, ("panel", "curve"), COUNTS)
    for table in s24.tables:
        if table.name == "s24_connects":
            _put(told, table.name, table.rows, ("panel", "what"), (*COUNTS, "median_round_trips"))
    return told
