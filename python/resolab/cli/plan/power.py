"""`resolab plan power`: blocks and hours from a pilot, as a table and as JSON.

For: words and rounding. Not for: the numbers (`campaign.power`).
"""

import json
import sys
from pathlib import Path
from typing import Any

from rich.table import Table

from resolab.campaign.power import AimResult, ComparisonPower, PlanPower, PowerAims, pilot_problem, plan_power
from resolab.cli.console import Console
from resolab.plan import Plan
from resolab.plan.factors import format_level, list_differing_factors
from resolab.stats import BlocksNeeded
from resolab.store import ensure_tables, open_dataset

_COLUMNS = ("comparison", "against", "pairs", "pilot's ms", "to see", "blocks", "hours")
_NUMBERS = {"pairs", "pilot's ms", "hours"}
PIPED_WIDTH = 200
NOTE = (
    "Blocks until the comparison is decided with a chance of 80 %, 6 the least asked for; in brackets its 95 % "
    "interval by resampling the pilot's pairs. Hours: of the comparison's two conditions, by its seconds a trial."
)


def compute_power(plan: Plan, pilot: Path, asked: PowerAims) -> PlanPower:
    """Open the pilot and compute the blocks and hours."""
    ensure_tables(pilot)
    with open_dataset(pilot) as dataset:
        return plan_power(plan, dataset, asked)


def print_power(found: PlanPower, console: Console) -> None:
    """Print a line for each comparison and aim, and the needs of the whole plan."""
    table = Table(box=None, pad_edge=False)
    for column in _COLUMNS:
        table.add_column(column, justify="right" if column in _NUMBERS else "left")
    for row in found.rows:
        for number, answer in enumerate(row.answers):
            table.add_row(*(_format_comparison(row) if number == 0 else [""] * 4), *_format_answer(row, answer))
    console.print(table, highlight=False)

    def say(text: str) -> None:
        console.print(text, highlight=False, soft_wrap=True, markup=False)

    say(NOTE)
    for aim, total in found.totals.items():
        say(f"whole plan, {aim}: {_total_text(total)}")


def make_console() -> Console:
    """Make a console for the table: a pipe or a file has no width, so nothing is cut there."""
    return Console(width=None if sys.stdout.isatty() else PIPED_WIDTH)


def _format_comparison(row: ComparisonPower) -> tuple[str, ...]:
    one = row.comparison
    name = one.treatment.id if one.name == one.treatment.id else f"{one.name}: {one.treatment.id}"
    factors = list_differing_factors((one.treatment, one.baseline))
    differing = [format_level(getattr(one.baseline, factor), factor) for factor in factors]
    difference = "" if row.difference_ms is None else f"{row.difference_ms:+.1f}"
    return name, " ".join(differing), str(row.pairs_count), difference


def _format_answer(row: ComparisonPower, answer: AimResult) -> tuple[str, str, str]:
    blocks = pilot_problem(row) if answer.needed is None else blocks_text(answer.needed)
    return answer.aim, blocks, "" if answer.hours is None else f"{answer.hours:.2g}"


def blocks_text(needed: BlocksNeeded) -> str:
    """Return a number of blocks with its interval as text."""
    if needed.blocks is None and needed.low is None:
        return f"not within {needed.most}"
    blocks = f"not within {needed.most}" if needed.blocks is None else str(needed.blocks)
    high = f"> {needed.most}" if needed.high is None else str(needed.high)
    return f"{blocks} [{needed.low}, {high}]"


def _total_text(total: tuple[int, float, float] | None) -> str:
    if total is None:
        return "no number, as some comparison has none"
    blocks, together, apart = total
    return (
        f"{blocks} blocks; {together:.2g} h with all conditions in each, "
        f"{apart:.2g} h if each runs as long as a comparison needs it"
    )


def power_json(found: PlanPower) -> dict[str, Any]:
    """Describe the results for programs; null: no number, or not within the maximum number of blocks."""
    return {
        "most_blocks_count": found.most_blocks,
        "comparisons": [
            {
                "name": row.comparison.name,
                "treatment": row.comparison.treatment.id,
                "baseline": row.comparison.baseline.id,
                "pilot_pairs_count": row.pairs_count,
                "pilot_difference_ms": row.difference_ms,
                "answers": [_answer_json(row, answer) for answer in row.answers],
            }
            for row in found.rows
        ],
        "plan": [
            {
                "aim": aim,
                "blocks_count": None if total is None else total[0],
                "all_conditions_hours": None if total is None else round(total[1], 3),
                "needed_conditions_hours": None if total is None else round(total[2], 3),
            }
            for aim, total in found.totals.items()
        ],
    }


def _answer_json(row: ComparisonPower, answer: AimResult) -> dict[str, Any]:
    needed = answer.needed
    return {
        "aim": answer.aim,
        "blocks_count": None if needed is None else needed.blocks,
        "blocks_low_count": None if needed is None else needed.low,
        "blocks_high_count": None if needed is None else needed.high,
        "hours": None if answer.hours is None else round(answer.hours, 4),
        "problem": pilot_problem(row) if needed is None else None,
    }


def print_result(found: PlanPower, *, as_json: bool) -> int:
    """Print the result as JSON or as a table."""
    if as_json:
        print(json.dumps(power_json(found)))
    else:
        print_power(found, make_console())
    return 0
