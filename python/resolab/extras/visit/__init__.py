"""Compare resolvers by a few page loads over each, without a plan.

For: configurations, order, the number of loads for the time, verdicts. Not for: loading (`resolab.trials.live`) or
showing (`resolab.cli`).
"""

from resolab.extras.visit.comparison import MARGIN_MS, ConfigurationSummary, VisitVerdict, choose_baseline, summaries
from resolab.extras.visit.configurations import LOCAL, ResolverConfiguration, configurations
from resolab.extras.visit.load_budget import JOINT_LEVEL, VisitExtent, extent, pairs_needed, warn_of_few_pairs
from resolab.extras.visit.load_result import VisitLoad, read_load_result
from resolab.extras.visit.order import PlannedVisitLoad, order
from resolab.extras.visit.plan_text import VisitRequest, find_conditions, page_url, write_plan
from resolab.extras.visit.visit_loop import VisitLoader, visit_all

__all__ = [
    "JOINT_LEVEL",
    "LOCAL",
    "MARGIN_MS",
    "ConfigurationSummary",
    "PlannedVisitLoad",
    "ResolverConfiguration",
    "VisitExtent",
    "VisitLoad",
    "VisitLoader",
    "VisitRequest",
    "VisitVerdict",
    "choose_baseline",
    "configurations",
    "extent",
    "find_conditions",
    "order",
    "page_url",
    "pairs_needed",
    "read_load_result",
    "summaries",
    "visit_all",
    "warn_of_few_pairs",
    "write_plan",
]
