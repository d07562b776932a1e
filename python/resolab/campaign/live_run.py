"""The live part of a dataset's manifest. Not for: the rest of the manifest (`manifests`)."""

from dataclasses import asdict

from resolab.plan import Plan
from resolab.plan.manners import HARD_CAPS
from resolab.store.manifest import LiveRun, LiveSiteEntry


def live_run(plan: Plan) -> LiveRun | None:
    """Describe the live part of a run; return `None` for a plan for the lab."""
    live = plan.live
    if live is None:
        return None
    drawn = live.site_list
    return LiveRun(
        vantage_point=live.vantage_point,
        operator_url=live.operator_url,
        opt_out=live.opt_out,
        sites=[LiveSiteEntry(page=one.name, url=one.url, rank=one.rank) for one in live.sites.values()],
        list_id=None if drawn is None else drawn.list_id,
        list_sha256=None if drawn is None else drawn.sha256,
        list_ranks=[] if drawn is None else list(drawn.ranks),
        list_sample=None if drawn is None else drawn.sample,
        resolvers={
            name: {str(transport): endpoint.url for transport, endpoint in one.endpoints.items()}
            for name, one in live.resolvers.items()
        },
        caps=asdict(HARD_CAPS.lower(live.caps)),
    )
