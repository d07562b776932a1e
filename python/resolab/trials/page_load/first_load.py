"""Load a page once in its original form: count the requests, and list the missing parts.

For: writing a page's description. Not for: measuring; a single load gives no time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.records import EdgeQueryRecord, EdgeRequestRecord, PageLoadRecord, Record, ResourceRecord
from resolab.basics.urls import split_url
from resolab.lab.layout import PageSite
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.draft import PlanDraft, plan_text
from resolab.plan.pages.own_pages import read_page_name
from resolab.trials.page_load.judgement import list_answered_requests
from resolab.trials.page_load.runner import PageLoadRunner

_NOT_ASKED_BY_PAGES = "/favicon.ico"
_ERRORS_FROM = 400
_NO_SUCH_NAME = ("NXDOMAIN", "REFUSED")
"""The rcodes of missing names; REFUSED is for names outside the lab's."""


@dataclass(frozen=True, slots=True)
class PageCensus:
    """The requests of a page's first load."""

    requests_count: int
    """The number of successful requests, including the document."""
    missing: Sequence[str]
    """The URLs of the page's hosts without a file, with the status, and names without a host."""
    failure: str | None
    """The reason for the failure of the load, if any."""


async def load_first(folder: str) -> PageCensus:
    """Load the page in a folder in Chromium over a link without delay or loss."""
    plan = _plan(folder)
    corpus = Corpus.from_project(plan.own_pages)
    (condition,) = plan.conditions()
    site = assign_sites(corpus, plan.factors.page, plan.pages.distances)[read_page_name(folder)]
    async with PageLoadRunner(plan, corpus, plan.seed) as testbed:
        result = await testbed.run_trial(condition, "first")
    requests = [one for one in result.records if isinstance(one, EdgeRequestRecord)]
    given = list_answered_requests(requests, site)
    refused = {
        f"https://{one.authority}{one.path} ({one.status})"
        for one in requests
        if one.status >= _ERRORS_FROM
        and (one.authority.partition(":")[0], one.path) not in given
        and one.path != _NOT_ASKED_BY_PAGES
    }
    nameless = {f"https://{name} (no host of the page has that name)" for name in unknown_names(result.records, site)}
    load = next((one for one in result.records if isinstance(one, PageLoadRecord) and one.measured), None)
    failure = (
        "the trial ended without a load" if load is None else load.failure and (load.failure_detail or load.failure)
    )
    return PageCensus(len(given), sorted(refused | nameless), failure)


def unknown_names(records: Iterable[Record], site: PageSite) -> set[str]:
    """List the names requested by the page without being hosts of the page.

    The browser does not look up names beyond the lab; only its own list of resources has these names.
    """
    names = set()
    for one in records:
        if isinstance(one, ResourceRecord):
            names.add(split_url(one.url).hostname or "")
        elif isinstance(one, EdgeQueryRecord) and one.rcode in _NO_SUCH_NAME:
            names.add(one.qname.rstrip(".").lower())
    return names - {"", *site.hosts}


def _plan(folder: str) -> Plan:
    levels = {
        "page": [folder],
        "profile": ["ideal"],
        "dns_transport": ["doudp"],
        "http_version": ["h2"],
        "requested_handshake_mode": ["full"],
    }
    draft = PlanDraft("first-load", "What is this page made of?", seed=1, blocks=1, levels=levels, paths={})
    return parse_plan(plan_text(draft, Path(folder)), folder, Corpus.from_project())
