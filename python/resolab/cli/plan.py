"""`resolab plan check` and `plan schema`: what a plan would run, before it runs.

For: conditions, trials, expected duration and exclusions of one plan file, for people and as JSON. Not for: checking
itself; that is the plan's.
"""

import argparse
import json
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

from resolab.campaign.progress import duration_text
from resolab.plan import Condition, Corpus, Plan, load_plan
from resolab.plan.expectation import expected_duration_s
from resolab.plan.factors import FACTORS, OPTIONAL_FACTORS, selects, word_of
from resolab.plan.schema import plan_schema

ALL_FACTORS = (*FACTORS, "resolver_path", *OPTIONAL_FACTORS)


def run(options: argparse.Namespace) -> int:
    """Carry out one action."""
    return _schema() if options.action == "schema" else _check(options)


def _check(options: argparse.Namespace) -> int:
    plan = load_plan(options.plan, seed=options.seed, blocks=options.blocks)
    corpus = Corpus.of_project()
    links = {name: corpus.profile(name) for name in plan.factors.profile}
    rtt_ms = {name: link.up.one_way_delay_ms + link.down.one_way_delay_ms for name, link in links.items()}
    expected_s = expected_duration_s(plan, rtt_ms)
    if options.json:
        print(json.dumps(_described(plan, expected_s)))
    else:
        _print(plan, expected_s, Console())
    return 0


def _described(plan: Plan, expected_s: float) -> dict[str, Any]:
    conditions = plan.conditions()
    return {
        "plan": plan.name,
        "question": plan.question,
        "seed": plan.seed,
        "blocks_count": plan.blocks,
        "conditions_count": len(conditions),
        "trials_count": plan.blocks * len(conditions),
        "expected_duration_s": round(expected_s, 1),
        "varying": [*_varying(plan)],
        "exclusions": [
            {"levels": dict(selection), "conditions_count": count} for selection, count in _exclusions(plan)
        ],
        "conditions": [
            {"condition": one.id, **_levels(one), "baseline": plan.baseline_of(one).id} for one in conditions
        ],
    }


def _print(plan: Plan, expected_s: float, console: Console) -> None:
    conditions = plan.conditions()

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    say(f"{plan.name}: {plan.question}")
    trials = plan.blocks * len(conditions)
    say(f"{len(conditions)} conditions in {plan.blocks} blocks: {trials} trials, about {duration_text(expected_s)}")
    table = Table(box=None, pad_edge=False, show_header=False)
    for factor in ALL_FACTORS:
        words = dict.fromkeys([*plan.words(factor), *(word_of(getattr(one, factor), factor) for one in conditions)])
        table.add_row(factor, ", ".join(words) if factor in _varying(plan) else f"{', '.join(words)} (held)")
    console.print(table, highlight=False)
    for selection, count in _exclusions(plan):
        keys = ", ".join(f"{factor} = {json.dumps(list(words))}" for factor, words in selection.items())
        say(f"excluded: {count} combinations with {keys}")
    for condition in conditions:
        reference = plan.baseline_of(condition)
        say(f"  {condition.id}" + ("  (baseline)" if reference == condition else ""))


def _varying(plan: Plan) -> list[str]:
    conditions = plan.conditions()
    return [factor for factor in ALL_FACTORS if len({getattr(one, factor) for one in conditions}) > 1]


def _exclusions(plan: Plan) -> list[tuple[Any, int]]:
    """Each exclusion with the combinations it matches; one that two exclusions match counts in both."""
    every = plan.combinations()
    return [(selection, sum(selects(selection, one) for one in every)) for selection in plan.exclude]


def _levels(condition: Condition) -> dict[str, str]:
    return {factor: word_of(getattr(condition, factor), factor) for factor in ALL_FACTORS}


def _schema() -> int:
    sys.stdout.write(json.dumps(plan_schema(), indent=2) + "\n")
    return 0
