"""`resolab plan check`, `plan power`, `plan schema`, `plan new`: a plan's trials before the run.

For: conditions, trials, expected duration and exclusions of a plan file, for people and as JSON. Not for: the check
itself (`plan`).
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.table import Table

from resolab.basics.errors import MachineError
from resolab.basics.records import ResolverCache
from resolab.basics.wording import format_count
from resolab.campaign.block_count_check import too_few_blocks
from resolab.campaign.decidable_margins import DecidableMargin, describe_margins, list_decidable_margins
from resolab.campaign.expectation import estimate_duration_s
from resolab.campaign.manifests import describe_programs
from resolab.campaign.power import PowerAims
from resolab.campaign.progress import duration_text
from resolab.cli.console import Console
from resolab.cli.plan.power import compute_power, make_console, power_json, print_power, print_result
from resolab.plan import ComparisonKind, Condition, Corpus, Plan, load_plan, pool_pages, trials_a_block
from resolab.plan.factors import EVERY_FACTOR, format_level, list_differing_factors, selects
from resolab.plan.kind import list_factors_of_kind
from resolab.plan.schema import plan_schema
from resolab.stats import pairs_for_significance
from resolab.store import open_dataset

SIGNIFICANCE = 0.05
RESOLVER_IDLE_MS = 30_000
"""The idle time-out of the edge's resolver (docs/formats/edge.md), in ms."""


def run(options: argparse.Namespace) -> int:
    """Run one action of `resolab plan`."""
    return {"schema": _schema, "power": _power, "check": _check, "new": _new}[options.action](options)


def _check(options: argparse.Namespace) -> int:
    plan = load_plan(options.plan, seed=options.seed, blocks=options.blocks)
    corpus = Corpus.from_project(plan.own_pages)
    expected_s = estimate_duration_s(plan, corpus)
    least = _least_blocks(plan)
    least_s = expected_s if least == plan.blocks else estimate_duration_s(plan, corpus, least)
    power = None if options.pilot is None else compute_power(plan, options.pilot, PowerAims())
    margins = _list_margins(plan, options.pilot)
    if options.json:
        described = {**_build_json(plan, expected_s, least_s), "margins": [_margin_json(one) for one in margins]}
        print(json.dumps(described if power is None else {**described, "power": power_json(power)}))
        return 0
    _print(plan, expected_s, least_s, margins, Console())
    if power is not None:
        Console().print(f"by the pilot {options.pilot}:", highlight=False, soft_wrap=True, markup=False)
        print_power(power, make_console())
    return 0


def _list_margins(plan: Plan, pilot: Path | None) -> list[DecidableMargin]:
    if pilot is None or not plan.expectations:
        return list_decidable_margins(plan)
    with open_dataset(pilot) as dataset:
        return list_decidable_margins(plan, dataset)


def _margin_json(found: DecidableMargin) -> dict[str, Any]:
    one = found.expectation
    return {
        "expectation": one.name,
        "kind": one.kind.value,
        "bound": one.bound,
        "by": "pilot" if found.comparison is not None else "reference",
        "treatment": None if found.comparison is None else found.comparison.treatment.id,
        "spread_ms": found.spread_ms,
        "smallest_ms": found.smallest if one.margin_ms is not None else None,
        "smallest_percent": None if one.margin_ms is not None else found.smallest,
        "enough_blocks": found.is_enough,
    }


def _power(options: argparse.Namespace) -> int:
    plan = load_plan(options.plan)
    asked = PowerAims(options.effect_ms, options.width_ms, options.margin_ms, options.most_blocks)
    return print_result(compute_power(plan, options.pilot, asked), as_json=options.json)


def _least_blocks(plan: Plan) -> int:
    return plan.blocks if plan.stop is None else min(plan.blocks, plan.stop.min_blocks)


def _build_json(plan: Plan, expected_s: float, least_s: float) -> dict[str, Any]:
    compared = pool_pages(plan)
    conditions = compared.conditions()
    return {
        "plan": plan.name,
        "question": plan.question,
        "seed": plan.seed,
        "blocks_count": plan.blocks,
        "unit": plan.design.unit,
        "pages": [*plan.factors.page],
        "conditions_count": len(conditions),
        "trials_count": plan.blocks * trials_a_block(plan),
        "too_few_blocks": too_few_blocks(plan),
        "paths_count": plan.instrument.paths,
        "expected_duration_s": round(expected_s, 1),
        "least_blocks_count": _least_blocks(plan),
        "least_duration_s": round(least_s, 1),
        "comparisons": [
            {"name": one.name, "kind": one.kind, "treatment": one.treatment.id, "baseline": one.baseline.id}
            for one in compared.comparisons()
        ],
        "varying": [*list_differing_factors(compared.conditions())],
        "exclusions": [
            {"levels": dict(selection), "conditions_count": count} for selection, count in _exclusions(compared)
        ],
        "conditions": [
            {"condition": one.id, **_levels(one), "baseline": compared.find_baseline(one).id} for one in conditions
        ],
    }


def _print(plan: Plan, expected_s: float, least_s: float, margins: Sequence[DecidableMargin], console: Console) -> None:
    pages, few, plan = plan.factors.page, too_few_blocks(plan), pool_pages(plan)
    conditions = plan.conditions()

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    say(f"{plan.name}: {plan.question}")
    trials = plan.blocks * len(conditions)
    several = f", {plan.instrument.paths} at a time" if plan.instrument.paths > 1 else ""
    expected = f"{trials} trials{several}, about {duration_text(expected_s)}"
    say(f"{format_count(len(conditions), 'condition')} in {format_count(plan.blocks, 'block')}: {expected}")
    if plan.samples_pages:
        say(_describe_sample(len(pages), plan.blocks))
    if few is not None:
        say(f"warning: {few}")
    for line in (
        *_describe_browsers(plan),
        *_comparisons(plan, least_s),
        *_analysis(plan),
        *describe_margins(plan, margins),
    ):
        say(line)
    table = Table(box=None, pad_edge=False, show_header=False)
    differing = list_differing_factors(conditions)
    for factor in list_factors_of_kind(plan.kind, plan.study):
        if factor == "page" and plan.samples_pages:
            table.add_row(factor, ", ".join(pages))
            continue
        words = dict.fromkeys(
            [*plan.words(factor), *(format_level(getattr(one, factor), factor) for one in conditions)]
        )
        table.add_row(factor, ", ".join(words) if factor in differing else f"{', '.join(words)} (held)")
    console.print(table, highlight=False)
    for selection, count in _exclusions(plan):
        keys = ", ".join(f"{factor} = {json.dumps(list(words))}" for factor, words in selection.items())
        say(f"excluded: {count} combinations with {keys}")
    for condition in conditions:
        reference = plan.find_baseline(condition)
        note = "  (copy)" if condition.replicate > 1 else "  (baseline)" if reference == condition else ""
        say(f"  {condition.id}{note}")


def _describe_browsers(plan: Plan) -> list[str]:
    """Return a line for each browser of a plan with own builds; a missing program is a warning before the run."""
    try:
        programs = describe_programs(plan)
    except MachineError as error:
        return [f"warning: {error}"]
    return [f"browser {name}: {one.version}, {one.path}" for name, one in programs.items()]


def _describe_sample(pages_count: int, blocks: int) -> str:
    """Return the loaded pages as text, for a plan with one page per block."""
    rounds, rest = divmod(blocks, pages_count)
    if not rounds:
        loaded = f"{blocks} of {pages_count} pages, drawn by the seed"
    elif blocks == pages_count:
        loaded = f"each of {pages_count} pages once"
    else:
        often = "once" if rounds == 1 else f"{rounds} times"
        more = f", {rest} of them once more" if rest else ""
        loaded = f"each of {pages_count} pages {often}{more}, in rounds, of which a page's mean counts"
    return f"the page is the unit: a block loads one page under every condition; {loaded}; comparisons are over pages"


def _comparisons(plan: Plan, least_s: float) -> list[str]:
    """Return the comparisons as text, with the effect of a stopping rule."""
    counts = Counter(one.kind for one in plan.comparisons())
    words = {"planned": "named in the plan", "all": "with the baseline", "aa": "of copies with each other (A/A)"}
    lines = [f"comparisons: {', '.join(f'{count} {words[kind]}' for kind, count in counts.items()) or 'none'}"]
    for rule in plan.comparison_rules:
        pairs = sum(one.name == rule.name for one in plan.comparisons())
        lines.append(f"  {rule.name}: {pairs}")
    if plan.stop is not None and plan.stop.drops_conditions:
        lines.append(
            f"decides each comparison by itself from {_least_blocks(plan)} blocks on (about {duration_text(least_s)}) "
            f"and drops conditions that no open one needs; ends after {format_count(plan.blocks, 'block')} in any case"
        )
    elif plan.stop is not None:
        in_ms = plan.stop.ci_width_ms is not None
        width = f"{plan.stop.ci_width_ms:g} ms" if in_ms else f"{plan.stop.ci_width_ratio:g} of the baseline's median"
        lines.append(
            f"stops from {_least_blocks(plan)} blocks on (about {duration_text(least_s)}) when every interval is at "
            f"most {width} wide, after {format_count(plan.blocks, 'block')} in any case"
        )
    return lines


def _analysis(plan: Plan) -> list[str]:
    """Return the deciding outcome, the margin and the delay of a cache miss as text, and too few blocks for Holm."""
    margin = plan.analysis.equivalence_margin
    told = "none: nothing can be called equivalent"
    if margin is not None:
        told = f"{margin.ms:g} ms" if margin.ms is not None else f"{margin.rtts:g} round trips"
    lines = [f"primary outcome: {plan.analysis.primary}; equivalence margin: {told}"]
    if any(one.resolver_cache is ResolverCache.MISS or one.resolver_miss_ratio for one in plan.conditions()):
        lines.append(f"an answer missing from the resolver's cache takes {plan.resolver.miss_delay_ms:g} ms longer")
    count = sum(one.kind is not ComparisonKind.AA for one in plan.comparisons())
    needed = pairs_for_significance(count, SIGNIFICANCE) if count else 0
    if plan.stop is None and plan.blocks < needed:
        lines.append(
            f"{format_count(count, 'comparison')} can be significant after Holm's correction from {needed} blocks on"
        )
    if any(one.idle_gap_ms >= RESOLVER_IDLE_MS for one in plan.conditions()):
        lines.append(f"warning: the lab's resolver closes a connection after {RESOLVER_IDLE_MS} ms without a query")
    lines += [f"expects: {one.name}: {str(one.kind).replace('_', ' ')} {one.bound}" for one in plan.expectations]
    return lines


def _exclusions(plan: Plan) -> list[tuple[Any, int]]:
    """Return each exclusion with its number of combinations; a combination matching two exclusions counts in both."""
    every = plan.combinations()
    return [(selection, sum(selects(selection, one) for one in every)) for selection in plan.exclude]


def _levels(condition: Condition) -> dict[str, str]:
    return {factor: format_level(getattr(condition, factor), factor) for factor in EVERY_FACTOR}


def _new(options: argparse.Namespace) -> int:
    from resolab.cli.plan import new

    return new.run(options)


def _schema(_options: argparse.Namespace) -> int:
    sys.stdout.write(json.dumps(plan_schema(), indent=2) + "\n")
    return 0
