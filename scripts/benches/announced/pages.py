"""The savings of real pages by announcing their names, from page models without measurement.

For: the part `pages` of `scripts/bench announced`. Not for: the closed form (`resolab.pages.path`).
"""

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from benches.common.corpus import page_models
from benches.common.part import BenchPart
from benches.common.progress import Progress
from benches.dns.cold import rates
from resolab.pages.model import PageModel
from resolab.pages.path import AnnouncementMode, predict_lookups

TRANSPORT = "doh"
NAME_DELAYS_MS = (0.0, 60.0)
SOME_MS = 5.0


@dataclass(frozen=True)
class AnnouncementBench:
    """The settings of a computation."""

    progress: Progress
    profile: str


@dataclass(frozen=True)
class Saving:
    """The savings in the loads of all pages, in ms."""

    announced: str
    name_delay_ms: float
    pages_count: int
    lower_quartile_ms: float
    median_ms: float
    upper_quartile_ms: float
    without_count: int
    """The number of pages with a saving below 5 ms."""


def estimate_s(_bench: AnnouncementBench) -> float:
    """Estimate the duration, in s."""
    return 30.0


def measure(bench: AnnouncementBench) -> list[BenchPart]:
    """Walk through every page model of the corpus."""
    bench.progress.step("page models", estimate_s(bench))
    models = list(page_models())
    title = (
        f"{len(models)} real pages over {bench.profile}, {TRANSPORT}, by their structure: what a load would save, ms"
    )
    columns = ["announced", "name delay", "lower quartile", "median", "upper quartile", f"pages below {SOME_MS:g} ms"]
    part = BenchPart("pages", title, columns)
    told = [one for one in AnnouncementMode if one is not AnnouncementMode.NOT]
    for delay_ms, announced in itertools.product(NAME_DELAYS_MS, told):
        one = compare_loads(models, announced, delay_ms, rates(bench.profile).rtt_ms)
        cells = [announced.value, f"{delay_ms:g}", f"{one.lower_quartile_ms:.0f}", f"{one.median_ms:.0f}"]
        part.add([*cells, f"{one.upper_quartile_ms:.0f}", f"{one.without_count} of {one.pages_count}"], asdict(one))
    part.remarks.append("every host a round trip away, server times and transfers as recorded, a cold connection")
    return [part]


def compare_loads(
    models: Sequence[PageModel], announced: AnnouncementMode, name_delay_ms: float, rtt_ms: float
) -> Saving:
    """Compare each page's load with and without announcement."""
    saved = [
        _load_ms(model, AnnouncementMode.NOT, name_delay_ms, rtt_ms) - _load_ms(model, announced, name_delay_ms, rtt_ms)
        for model in models
    ]
    lower, median, upper = statistics.quantiles(saved, n=4, method="inclusive")
    few = sum(one < SOME_MS for one in saved)
    return Saving(announced.value, name_delay_ms, len(saved), lower, median, upper, few)


def _load_ms(model: PageModel, announced: AnnouncementMode, name_delay_ms: float, rtt_ms: float) -> float:
    return predict_lookups(
        model,
        dns_transport=TRANSPORT,
        resolver_rtt_ms=rtt_ms,
        round_trip_ms=rtt_ms,
        announced=announced,
        recursion_ms=name_delay_ms,
    ).load_ms
