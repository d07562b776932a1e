"""The plan that a dataset was made by, read back out of its manifest.

For: reports and comparisons of finished datasets. Not for: resuming a run, which needs the pages and profiles, too.
"""

from dataclasses import replace

from resolab.plan import EVERY_PAGE, Plan, over_pages, parse_plan
from resolab.store import Dataset


def is_live(plan: Plan) -> bool:
    """Whether a plan measures on the live network: nobody set its round trips, and no edge judged what happened."""
    return plan.live is not None


def plan_of(dataset: Dataset) -> Plan:
    """Read the plan; pages and profiles may have left the project since, the dataset has what it needs of them.

    On the live network the vantage point stands for the profile: nothing is compared across two of them.
    Where the plan samples pages, it comes with one page for all, and from now on the dataset's conditions are so, too.
    """
    manifest = dataset.manifest
    sites = None if manifest.live is None else [one.page for one in manifest.live.sites]
    begun_with = manifest.pages() or sites
    plan = parse_plan(manifest.plan_text, str(dataset.folder / "plan.toml"), corpus=None, begun_with=begun_with)
    if is_live(plan):
        dataset.take_places_as_profiles()
        places = tuple(dataset.vantage_points()) or (plan.vantage_point,)
        plan = replace(plan, factors=replace(plan.factors, levels={**plan.factors.levels, "profile": places}))
    if plan.samples_pages:
        dataset.take_pages_as_one(EVERY_PAGE)
    return over_pages(replace(plan, seed=manifest.seed, blocks=manifest.blocks))
