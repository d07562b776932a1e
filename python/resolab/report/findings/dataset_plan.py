"""The plan of a dataset, read from its manifest.

For: reports and comparisons of finished datasets. Not for: resuming a run; resuming also needs the pages and profiles.
"""

from dataclasses import replace

from resolab.plan import EVERY_PAGE, Plan, parse_plan, pool_pages
from resolab.store import Dataset


def is_live(plan: Plan) -> bool:
    """Return True for a plan on the live network, without set round-trip times and without an edge judging loads."""
    return plan.live is not None


def read_plan(dataset: Dataset) -> Plan:
    """Read the plan; pages and profiles may be gone from the project, and the dataset has all needed parts.

    On the live network the vantage point replaces the profile: no comparison spans two vantage points. For sampled
    pages the plan has one page for all; this function gives the dataset's conditions the same page.
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
    return pool_pages(replace(plan, seed=manifest.seed, blocks=manifest.blocks))
