"""The command `resolab plan new`: a plan file from levels on the command line. Not for: its text (`plan.draft`)."""

import argparse
from typing import TYPE_CHECKING

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import TrialKind
from resolab.basics.wording import format_count
from resolab.cli.console import Console
from resolab.cli.plan.arguments import DEFAULTS
from resolab.plan import load_plan
from resolab.plan.condition import list_needed_factors
from resolab.plan.draft import PlanDraft, plan_text, write_question
from resolab.plan.factors import EVERY_FACTOR
from resolab.store import write_named

if TYPE_CHECKING:
    from pathlib import Path


def run(options: argparse.Namespace) -> int:
    """Write the plan, and print a summary; an existing file is not changed."""
    file: Path = options.file
    if file.suffix != ".toml":
        raise ConfigurationError(f"could not write {file}: a plan's file ends in .toml")
    kind = TrialKind(options.kind)
    given = {factor: getattr(options, factor) for factor in EVERY_FACTOR}
    defaults = {factor: words for factor, words in DEFAULTS.items() if factor in list_needed_factors(kind)}
    if kind is TrialKind.FETCH:
        defaults["dns_transport"] = ["doh3", "doq"]
    given |= {factor: words for factor, words in defaults.items() if given[factor] is None}
    levels = {factor: words for factor, words in given.items() if words is not None and factor != "resolver_path"}
    ways = given["resolver_path"]
    draft = PlanDraft(
        name=file.stem,
        question=options.question or write_question(levels, kind),
        seed=options.seed,
        blocks=options.blocks,
        levels=levels,
        kind=kind,
        paths={} if ways is None else dict.fromkeys(levels["dns_transport"], ways),
    )
    text = plan_text(draft, file.absolute().parent)
    if file.exists():
        raise ConfigurationError(f"{file} is there; change it, or give another name")
    write_named(file, text.encode())
    plan = load_plan(file)
    conditions = len(plan.conditions())
    size = f"{format_count(conditions, 'condition')} in {format_count(plan.blocks, 'block')}"
    said = f"{file}: {size}; `resolab plan check {file}` says how long it takes"
    Console().print(said, highlight=False, markup=False, soft_wrap=True)
    return 0
