"""The value of a hit ratio to real pages, by their models, without loads.

For: the part `pages` of `scripts/bench client-subnet`. Not for: hit ratios (`model`), or loads.

Each name is in the resolver's cache by chance, with the probability of the trace's closed form. A missing name takes
the authority's time. Both caches use the same random numbers; the draws of a page are therefore pairs.
"""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benches.client_subnet import model
from benches.client_subnet.figures import ClientSubnetBench
from benches.client_subnet.traces import TRACES
from benches.common.corpus import page_models
from benches.common.part import BenchPart
from benches.dns.cold import rates
from resolab.pages.model import PageModel
from resolab.pages.path import predict_lookups

DRAWS_COUNT = 40
TRANSPORT, PROFILE = "doudp", "4g"
PAGES_S = 25.0
"""The approximate duration for a trace, in s."""


@dataclass(frozen=True)
class LoadTimeDifference:
    """The difference of load times of all pages, with client subnets less without, in ms."""

    pages_count: int
    lower_quartile_ms: float
    """The lower quartile of the pages' means."""
    median_ms: float
    upper_quartile_ms: float
    slowest_ms: float
    """The 95th percentile of all draws of all pages."""


def estimate_s(_bench: ClientSubnetBench) -> float:
    """Estimate the duration, in s."""
    return PAGES_S * len(TRACES)


def measure(bench: ClientSubnetBench) -> list[BenchPart]:
    """Walk through every page model of the corpus."""
    models = list(page_models())
    title = f"{len(models)} real pages over {PROFILE}, {TRANSPORT}, by their structure: later with client subnets, ms"
    columns = ["trace", "hit ratio without", "with", "lower quartile", "median", "upper quartile", "95 % of loads"]
    part = BenchPart("pages", title, columns)
    for trace in TRACES:
        bench.progress.step(f"page models, {trace.name}", PAGES_S)
        without, by_subnet = (
            model.compute_hit_ratio(trace, bench.rate_per_s, bench.ttl_s, by_subnet=one) for one in (False, True)
        )
        one = worth(models, without, by_subnet, bench.delay_ms, bench.seed)
        cells = [trace.name, f"{without:.1%}", f"{by_subnet:.1%}", f"{one.lower_quartile_ms:.1f}"]
        cells += [f"{one.median_ms:.1f}", f"{one.upper_quartile_ms:.1f}", f"{one.slowest_ms:.1f}"]
        part.add(cells, asdict(one) | {"trace": trace.name, "hit_ratios": [without, by_subnet]})
    part.remarks.append(
        f"means of {DRAWS_COUNT} draws a page, a name's hit by the closed form of the trace, a miss "
        f"{bench.delay_ms:g} ms later; hits of one page's names are drawn one by one"
    )
    return [part]


def worth(
    models: Sequence[PageModel], without: float, by_subnet: float, delay_ms: float, seed: int
) -> LoadTimeDifference:
    """Draw the names in each cache, and compare the loads."""
    rng = np.random.default_rng(seed)
    later = [_later_ms(one, rng.random((DRAWS_COUNT, len(one.hosts))), without, by_subnet, delay_ms) for one in models]
    lower, median, upper = statistics.quantiles(map(statistics.fmean, later), n=4, method="inclusive")
    every = [one for of_page in later for one in of_page]
    return LoadTimeDifference(
        len(models), lower, median, upper, statistics.quantiles(every, n=20, method="inclusive")[-1]
    )


def _later_ms(
    page: PageModel, chances: "np.typing.NDArray[np.float64]", without: float, by_subnet: float, delay_ms: float
) -> list[float]:
    return [
        _load_ms(page, drawn >= by_subnet, delay_ms) - _load_ms(page, drawn >= without, delay_ms) for drawn in chances
    ]


def _load_ms(page: PageModel, missed: "np.typing.NDArray[np.bool_]", delay_ms: float) -> float:
    rtt_ms = rates(PROFILE).rtt_ms
    return predict_lookups(
        page,
        dns_transport=TRANSPORT,
        resolver_rtt_ms=rtt_ms,
        round_trip_ms=rtt_ms,
        recursion_ms=delay_ms,
        misses=set(np.flatnonzero(missed).tolist()),
    ).load_ms
