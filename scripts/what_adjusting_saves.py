"""Print the savings by adjusting in datasets: the variance left, and the loads for intervals as wide as the plain ones.

For: the figure for a run or a published dataset, a row per comparison and a summary per part; for copies (A/A) also the
share of intervals excluding 0, adjusted and plain. Not for: the value of the estimates (`coverage_of_adjusted.py`); the
report has the same table of a run.

Of a published dataset without the table of requests, a page counts as settled if the page has one host.
"""

import argparse
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from resolab.basics.installation import project_root
from resolab.plan import ComparisonKind, Plan, parse_plan
from resolab.report.findings.adjusted import adjust_comparisons
from resolab.report.findings.parts import AdjustedComparison
from resolab.stats import Estimate
from resolab.store import ensure_tables, load_manifest, open_dataset


def adjusted_of(folder: Path, kinds: Sequence[ComparisonKind]) -> list[AdjustedComparison]:
    """Adjust the comparisons of a dataset of either kind."""
    manifest = load_manifest(folder)
    plan = parse_plan(manifest.plan_text, str(folder / "plan.toml"), corpus=None)
    ensure_tables(folder)
    with open_dataset(folder) as dataset:
        has_requests = "requests" not in dataset.missing_tables
        settled = dataset.settled_conditions() if has_requests else settled_by_pages(plan)
        return adjust_comparisons(plan, dataset.measured_loads(), settled, kinds)


def settled_by_pages(plan: Plan) -> set[str]:
    """Return the conditions with all parts of their page on one host."""
    files = {page: project_root() / "pages" / page / "page.toml" for page in plan.factors.page}
    hosts = {page: _hosts_count(tomllib.loads(file.read_text("utf-8"))) for page, file in files.items()}
    return {one.id for one in plan.conditions() if hosts[one.page] == 1}


def _hosts_count(page: dict[str, object]) -> int:
    resources = page.get("resource", [])
    assert isinstance(resources, list)
    return len({page["host"], *(one.get("host", page["host"]) for one in resources)})


def print_rows(found: Iterable[AdjustedComparison]) -> None:
    """Print a row per comparison and part."""
    print("| treatment | part | pairs | p of the part | plain ms | adjusted ms | variance left | loads it takes |")
    print("|" + " --- |" * 8)
    for one in found:
        words = (
            one.comparison.treatment.id,
            one.part.name,
            str(one.plain_ms.n),
            "" if one.p_value is None else f"{one.p_value:.3f}",
            _text(one.plain_ms),
            f"refused: {one.refused}" if one.adjusted_ms is None else _text(one.adjusted_ms),
            "" if one.variance_ratio is None else f"{one.variance_ratio:.2f}",
            "" if one.loads_ratio is None else f"{one.loads_ratio:.2f}",
        )
        print(f"| {' | '.join(words)} |")


def print_summary(found: Sequence[AdjustedComparison], *, copies: bool) -> None:
    """Print median and range of each part's remaining variance and needed loads, by page and over all."""
    print("| part | page | comparisons | refused | variance left | loads it takes, refused ones as 1 |")
    print("|" + " --- |" * 6)
    for part in dict.fromkeys(one.part.name for one in found):
        of_part = [one for one in found if one.part.name == part]
        for page in (*dict.fromkeys(one.comparison.treatment.page for one in of_part), "all"):
            group = [one for one in of_part if page in {"all", one.comparison.treatment.page}]
            refused = sum(one.refused is not None for one in group)
            # Where the adjusted estimate is refused there is the plain one, which takes all of its loads.
            loads = [one.loads_ratio if one.refused is None else 1.0 for one in group]
            ratios = [one.variance_ratio for one in group], loads if any(one.loads_ratio for one in group) else []
            print(f"| {part} | {page} | {len(group)} | {refused} | {' | '.join(map(_span, ratios))} |")
    if copies:
        for part in dict.fromkeys(one.part.name for one in found):
            print(f"copies, {part}: {_excluding([one for one in found if one.part.name == part])}")


def _span(ratios: Iterable[float | None]) -> str:
    known = [one for one in ratios if one is not None]
    return f"{np.median(known):.2f} ({min(known):.2f} to {max(known):.2f})" if known else ""


def _excluding(group: Sequence[AdjustedComparison]) -> str:
    offered = [one for one in group if one.adjusted_ms is not None]
    adjusted = sum(one.adjusted_ms is not None and one.adjusted_ms.ci_contains_zero is False for one in offered)
    plain = sum(one.plain_ms.ci_contains_zero is False for one in offered)
    return f"of {len(offered)} intervals {adjusted} exclude 0 adjusted, {plain} plain"


def _text(one: Estimate) -> str:
    if one.value is None:
        return ""
    ends = "" if one.ci_low is None else f" [{one.ci_low:+.1f}, {one.ci_high:+.1f}]"
    return f"{one.value:+.1f}{ends}"


def main() -> None:
    """Print the tables of each dataset."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DATASET")
    parser.add_argument("--copies", action="store_true", help="of A/A copies instead of the plan's comparisons")
    parser.add_argument("--summary", action="store_true", help="the summary only")
    options = parser.parse_args()
    kinds = (ComparisonKind.AA,) if options.copies else (ComparisonKind.PLANNED, ComparisonKind.ALL)
    for folder in options.datasets:
        found = adjusted_of(folder, kinds)
        print(f"\n{folder}\n")
        if not options.summary:
            print_rows(found)
            print()
        print_summary(found, copies=options.copies)


if __name__ == "__main__":
    main()
