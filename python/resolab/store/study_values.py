"""The values of a study's trials, one row for each finished trial without a failure, and the number of failures.

For: sections of studies. Not for: outcomes as contributions of trials (`outcomes`), or statistics.
"""

from collections.abc import Collection, Mapping

import msgspec

from resolab.basics.wording import format_count
from resolab.store.dataset import Dataset

STUDY_VALUES = """
SELECT t.trial_id, t.block, t.condition, map(list(v.name), list(v.value)) AS values
FROM study_values AS v JOIN trials AS t USING (trial_id)
WHERE v.failure IS NULL AND v.value IS NOT NULL
GROUP BY t.trial_id, t.block, t.position, t.condition
ORDER BY t.block, t.position
"""


FAILED_TRIALS = """
SELECT t.condition, count(DISTINCT t.trial_id) AS count
FROM study_values AS v JOIN trials AS t USING (trial_id)
WHERE v.failure IS NOT NULL
GROUP BY t.condition
"""


class StudyValuesRow(msgspec.Struct, kw_only=True, frozen=True):
    """The values of one trial, by name with unit."""

    trial_id: str
    block: int
    condition: str
    values: dict[str, float]


def read_study_values(dataset: Dataset) -> dict[str, list[StudyValuesRow]]:
    """Return the trials of each condition, by the condition's identifier, in the order they ran."""
    found: dict[str, list[StudyValuesRow]] = {}
    for row in msgspec.convert(dataset.sql(STUDY_VALUES), list[StudyValuesRow]):
        found.setdefault(row.condition, []).append(row)
    return found


def count_failed_trials(dataset: Dataset) -> dict[str, int]:
    """Count the failed trials of each condition with a failure, by the condition's identifier."""
    return {str(row["condition"]): int(row["count"]) for row in dataset.sql(FAILED_TRIALS)}


def describe_failed_trials(failed: Mapping[str, int], shown: Collection[str]) -> str:
    """Return a sentence on failed trials and on conditions without any other trial; empty without a failure."""
    if not failed:
        return ""
    told = f" Failed, without times: {format_count(sum(failed.values()), 'trial')}."
    without = sorted(set(failed) - set(shown))
    return f"{told} Without a successful trial: {', '.join(without)}." if without else told
