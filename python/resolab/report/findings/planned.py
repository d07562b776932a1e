"""The plan that a dataset was made by, read back out of its manifest.

For: reports and comparisons of finished datasets. Not for: resuming a run, which needs the pages and profiles, too.
"""

from dataclasses import replace

from resolab.plan import EVERY_PAGE, Plan, over_pages, parse_plan
from resolab.store import Dataset


def plan_of(dataset: Dataset) -> Plan:
    """Read the plan; pages and profiles may have left the project since, the dataset has what it needs of them.

    Where the plan samples pages, it comes with one page for all, and from now on the dataset's conditions are so, too.
    """
    manifest = dataset.manifest
    plan = parse_plan(manifest.plan_text, str(dataset.folder / "plan.toml"), corpus=None, begun_with=manifest.pages())
    if plan.samples_pages:
        dataset.take_pages_as_one(EVERY_PAGE)
    return over_pages(replace(plan, seed=manifest.seed, blocks=manifest.blocks))
