"""Compare resolvers by a few page loads over each, without a plan.

For: configurations, order, the number of loads for the time, verdicts. Not for: loading (`resolab.live`) or showing
(`resolab.cli`).
"""

from resolab.visit.comparison import MARGIN_MS, ConfigurationSummary, VisitVerdict, baseline_of, summaries
from resolab.visit.configurations import LOCAL, ResolverConfiguration, configurations
from resolab.visit.load_budget import JOINT_LEVEL, VisitExtent, extent, pairs_needed, told_in_words
from resolab.visit.load_result import VisitLoad, loaded
from resolab.visit.order import PlannedVisitLoad, order
from resolab.visit.plan_text import VisitRequest, conditions_of, page_url, plan_of
from resolab.visit.visit_loop import VisitLoader, visit_all

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
    "baseline_of",
    "conditions_of",
    "configurations",
    "extent",
    "loaded",
    "order",
    "page_url",
    "pairs_needed",
    "plan_of",
    "summaries",
    "told_in_words",
    "visit_all",
]
