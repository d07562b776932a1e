"""The values of a study's trials, one row for each finished trial without a failure.

For: sections of studies. Not for: outcomes as contributions of trials (`outcomes`), or statistics.
"""

import msgspec

from resolab.store.dataset import Dataset

STUDY_VALUES = """
SELECT t.trial_id, t.block, t.condition, map(list(v.name), list(v.value)) AS values
FROM study_values AS v JOIN trials AS t USING (trial_id)
WHERE v.failure IS NULL AND v.value IS NOT NULL
GROUP BY t.trial_id, t.block, t.position, t.condition
ORDER BY t.block, t.position
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
