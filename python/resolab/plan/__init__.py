"""Plans: a study's question, its conditions and their order in a block.

For: reading and checking a plan file, the corpus of pages and profiles available to plans, conditions, baselines,
orders and seeds. Not for: running anything or judging results.
"""

from resolab.plan.access_link import access_rtt_ms
from resolab.plan.analysis import Analysis, EquivalenceMargin, Estimand, OutcomeName
from resolab.plan.comparison import ComparisonKind, ComparisonRule, PlannedComparison
from resolab.plan.condition import Baseline, Condition, Factors
from resolab.plan.corpus import Corpus
from resolab.plan.factors import FACTORS, OPTIONAL_FACTORS
from resolab.plan.key_exchange import KeyExchange
from resolab.plan.live import LiveSettings, LiveSite
from resolab.plan.load import load_plan, parse_plan
from resolab.plan.model import Plan, Repeat
from resolab.plan.order import block_order, find_page, page_order, stream_seed
from resolab.plan.pages.page_file import RESOLVER_NAME, Page
from resolab.plan.settings import (
    DecisionCriterion,
    Design,
    EdgeSettings,
    Instrument,
    Limits,
    PageCertificates,
    PageDistances,
    PageSettings,
    QuerySettings,
    ResolverSettings,
    StopRule,
    StopSettings,
    Unit,
)
from resolab.plan.unit import EVERY_PAGE, find_counting_condition, pool_pages, trials_a_block

__all__ = [
    "EVERY_PAGE",
    "FACTORS",
    "OPTIONAL_FACTORS",
    "RESOLVER_NAME",
    "Analysis",
    "Baseline",
    "ComparisonKind",
    "ComparisonRule",
    "Condition",
    "Corpus",
    "DecisionCriterion",
    "Design",
    "EdgeSettings",
    "EquivalenceMargin",
    "Estimand",
    "Factors",
    "Instrument",
    "KeyExchange",
    "Limits",
    "LiveSettings",
    "LiveSite",
    "OutcomeName",
    "Page",
    "PageCertificates",
    "PageDistances",
    "PageSettings",
    "Plan",
    "PlannedComparison",
    "QuerySettings",
    "Repeat",
    "ResolverSettings",
    "StopRule",
    "StopSettings",
    "Unit",
    "access_rtt_ms",
    "block_order",
    "find_counting_condition",
    "find_page",
    "load_plan",
    "page_order",
    "parse_plan",
    "pool_pages",
    "stream_seed",
    "trials_a_block",
]
