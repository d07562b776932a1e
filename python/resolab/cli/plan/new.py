"""The command `resolab plan new`: a plan file from levels on the command line. Not for: its text (`plan.draft`)."""

import argparse
from typing import TYPE_CHECKING

from resolab.basics.errors import ConfigurationError, UsageError
from resolab.basics.records import TrialKind
from resolab.basics.wording import format_count
from resolab.cli.console import Console
from resolab.cli.plan.arguments import DEFAULTS
from resolab.plan import load_plan
from resolab.plan.condition import list_needed_factors
from resolab.plan.draft import BLOCKS_TO_A_VERDICT, PlanDraft, SoftwareDraft, plan_text, write_question
from resolab.plan.expectation import TIME_KINDS
from resolab.plan.factors import EVERY_FACTOR
from resolab.plan.software import EDGE
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
    software = {name: SoftwareDraft(template, program) for name, template, program in options.software}
    if len(software) < len(options.software):
        raise UsageError("plan new: --software has a name twice; give each its own")
    if software:
        # A single build is compared with the lab's own server.
        defaults["resolver_software"] = list(software) if len(software) > 1 else [EDGE, *software]
    given |= {factor: words for factor, words in defaults.items() if given[factor] is None}
    levels = {factor: words for factor, words in given.items() if words is not None and factor != "resolver_path"}
    ways = given["resolver_path"]
    margins_ms = {kind: margin for kind in TIME_KINDS if (margin := getattr(options, str(kind))) is not None}
    draft = PlanDraft(
        name=file.stem,
        question=options.question or write_question(levels, kind),
        seed=options.seed,
        blocks=options.blocks if options.blocks is not None else BLOCKS_TO_A_VERDICT if margins_ms else 8,
        levels=levels,
        kind=kind,
        paths={} if ways is None else dict.fromkeys(levels["dns_transport"], ways),
        software=software,
        margins_ms=margins_ms,
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
