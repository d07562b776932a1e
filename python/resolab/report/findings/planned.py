"""The plan that a dataset was made by, read back out of its manifest.

For: reports and comparisons of finished datasets. Not for: resuming a run, which needs the pages and profiles, too.
"""

from dataclasses import replace

from resolab.plan import Plan, parse_plan
from resolab.store import Dataset


def plan_of(dataset: Dataset) -> Plan:
    """Read the plan; pages and profiles may have left the project since, the dataset has what it needs of them."""
    manifest = dataset.manifest
    plan = parse_plan(manifest.plan_text, str(dataset.folder / "plan.toml"), corpus=None)
    return replace(plan, seed=manifest.seed, blocks=manifest.blocks)
