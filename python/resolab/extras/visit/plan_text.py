"""A visit as a live plan: the loads take the same steps, under the same rules, as the loads of a campaign.

For: the plan's text, and the plan's condition for each visit. Not for: running the plan (`visit_loop`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.basics.protocols import transport_position
from resolab.basics.records import BrowserKind
from resolab.basics.toml_text import key_text, value_text
from resolab.extras.visit.comparison import choose_baseline
from resolab.extras.visit.configurations import ResolverConfiguration
from resolab.extras.visit.order import PlannedVisitLoad
from resolab.plan import Condition, Corpus, Plan, parse_plan
from resolab.plan.manners import plain_url

NAME = "visit"
SOURCE = "resolab visit"


@dataclass(frozen=True, slots=True, kw_only=True)
class VisitRequest:
    """The settings given on the command line."""

    urls: Sequence[str]
    """The page URLs, with their schemes."""
    compared: Sequence[ResolverConfiguration]
    browser: BrowserKind
    operator_url: str
    opt_out: str | None
    seed: int
    timeout_s: float


def page_url(text: str) -> str:
    """Return a page's URL in the plan's normal form; without a scheme the URL is https."""
    return plain_url(text if "://" in text else f"https://{text}")


def write_plan(asked: VisitRequest, corpus: Corpus | None = None) -> Plan:
    """Write the plan and parse the text as any plan; raises `ConfigurationError` for invalid values."""
    return parse_plan(plan_text(asked), SOURCE, corpus or Corpus.from_project())


def plan_text(asked: VisitRequest) -> str:
    """Write the plan as TOML."""
    transports = sorted({one.dns_transport for one in asked.compared}, key=transport_position)
    names = list(dict.fromkeys(one.name for one in asked.compared))
    baseline = choose_baseline(asked.compared)
    lines = [
        f"name = {value_text(NAME)}",
        'question = "Over which resolver and transport do these pages load fastest?"',
        f"seed = {asked.seed}",
        "[network]",
        'kind = "live"',
        f"vantage_point = {value_text(NAME)}",
        f"operator_url = {value_text(asked.operator_url)}",
        *([] if asked.opt_out is None else [f"opt_out = {value_text(asked.opt_out)}"]),
        "[sites]",
        f"urls = {value_text(asked.urls)}",
        *(line for name in names for line in _resolver(name, asked.compared)),
        "[factors]",
        f"resolver = {value_text(names)}",
        f"dns_transport = {value_text(transports)}",
        f"browser = {value_text([asked.browser])}",
        "[baseline]",
        f"resolver = {value_text(baseline.name)}",
        f"dns_transport = {value_text(baseline.dns_transport)}",
        "[limits]",
        f"page_timeout_s = {asked.timeout_s}",
    ]
    return "\n".join(lines) + "\n"


def _resolver(name: str, compared: Sequence[ResolverConfiguration]) -> list[str]:
    addresses = [f"{one.dns_transport} = {value_text(one.url)}" for one in compared if one.name == name]
    return [f"[resolvers.{key_text(name)}]", *addresses]


def find_conditions(plan: Plan, visits: Sequence[PlannedVisitLoad]) -> Mapping[PlannedVisitLoad, Condition]:
    """Find the condition of each visit."""
    assert plan.live is not None
    pages = {site.url: name for name, site in plan.live.sites.items()}
    known = {(one.page, one.resolver, one.dns_transport): one for one in plan.conditions()}
    return {one: known[pages[one.url], one.configuration.name, one.configuration.dns_transport] for one in set(visits)}
