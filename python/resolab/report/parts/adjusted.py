"""The comparisons adjusted by parts unaffected by the treatment, beside the plain comparisons, as a table.

For: rounding and words. Not for: the estimates (`findings.adjusted`).
"""

import numpy as np

from resolab.report.findings.findings import Findings
from resolab.report.findings.parts import AdjustedComparison
from resolab.report.parts.comparison_tables import p_text
from resolab.report.parts.labels import name_combination
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table, both_text
from resolab.report.plots import number_text
from resolab.report.plots.save import Value
from resolab.stats import Estimate

NAME = "adjusted"
_COLUMNS = (
    "page", "profile", "treatment", "against", "pairs", "part", "moves the part by ms", "p",
    "paired difference of PLT, ms", "adjusted, ms", "variance left", "loads it takes",
)  # fmt: skip
_WORDS = {"after_last_byte": "after the last byte", "after_first_byte": "after the first byte"}
_NOTE = (
    "Never instead of the plain difference. Both are medians of the same pairs; the adjusted one has the part's chance "
    "taken out, with an estimated coefficient (Rosenbaum 2002; CUPED, Deng et al. 2013), and is right only if the "
    "treatment does not move the part: by how much it may is the shift of the part (Hodges-Lehmann), whether it does "
    "its p (signed ranks); at 5 % the adjusted estimate is refused. A move within that shift's interval is not found "
    "out, and goes into the adjusted estimate without widening it. After the first byte the assumption is the stronger "
    "one; it is made only where loads neither look up nor connect after it. Variance left: of the differences, as a "
    "share; above a half there is no adjusted estimate. Loads it takes: for an interval as wide as the plain one, as a "
    "share, where both have one level (from eight pairs on)."
)


def build_adjusted_tables(findings: Findings) -> list[NamedTable]:
    """Return a list with the table, or an empty list without rows."""
    found = findings.adjusted
    if not found:
        return []
    table = Table(_COLUMNS, [_cells(findings, one) for one in found], frozenset((0, 1, 2, 3, 5, 9)))
    title = "Adjusted by what the treatment cannot move"
    return [
        NamedTable(
            NAME, title, table, [build_adjusted_row(one) for one in found], f"{_NOTE} {_describe_saving(findings)}"
        )
    ]


def _cells(findings: Findings, one: AdjustedComparison) -> tuple[str, ...]:
    treatment, baseline = one.comparison.treatment, one.comparison.baseline
    return (
        treatment.page,
        treatment.profile,
        name_combination(findings, treatment),
        name_combination(findings, baseline),
        str(one.plain_ms.n),
        _WORDS[one.part.name],
        both_text(one.moved_ms, signed=True),
        p_text(one.p_value),
        both_text(one.plain_ms, signed=True),
        f"refused: {one.refused}" if one.adjusted_ms is None else both_text(one.adjusted_ms, signed=True),
        "" if one.variance_ratio is None else number_text(one.variance_ratio, 2),
        "" if one.loads_ratio is None else number_text(one.loads_ratio, 2),
    )


def _describe_saving(findings: Findings) -> str:
    """Return a sentence with the median of the remaining variance for each part."""
    texts = []
    for name, words in _WORDS.items():
        left = [one.variance_ratio for one in findings.adjusted if one.part.name == name]
        known = [one for one in left if one is not None]
        if known:
            middle, least, most = (number_text(float(one), 2) for one in (np.median(known), min(known), max(known)))
            texts.append(f"{words} {middle} ({least} to {most}; {len(known)} comparisons)")
    return f"Median of the variance left: {'; '.join(texts)}." if texts else ""


def build_adjusted_row(one: AdjustedComparison) -> dict[str, Value]:
    """Return a comparison as numbers for the CSV."""
    return {
        "page": one.comparison.treatment.page,
        "profile": one.comparison.treatment.profile,
        "treatment": one.comparison.treatment.id,
        "baseline": one.comparison.baseline.id,
        "part": one.part.name,
        "pairs_count": one.plain_ms.n,
        **_estimate("part_shift", one.moved_ms),
        "p_value": one.p_value,
        **_estimate("difference", one.plain_ms),
        **_estimate("adjusted", one.adjusted_ms),
        **_estimate("instant_difference", one.without_part_ms),
        "loads_ratio": one.loads_ratio,
        "variance_ratio": one.variance_ratio,
        "refused": "" if one.refused is None else str(one.refused),
    }


def _estimate(name: str, one: Estimate | None) -> dict[str, Value]:
    value, low, high = (None, None, None) if one is None else (one.value, one.ci_low, one.ci_high)
    return {f"{name}_ms": value, f"{name}_ci_low_ms": low, f"{name}_ci_high_ms": high}
