"""The claims allowed in sentences about published datasets.

For: equivalence with the number of candidate comparisons, means and counts with their intervals, medians over sites,
and the arms behind a sentence about a cause. Not for: reading tables (`published`) or printing (`words`).
"""

import itertools
import re
from collections.abc import Mapping, Sequence

import numpy as np
import scipy

from quotes.published import PublishedDatasets, Row
from resolab.stats import (
    Amortisation,
    BatchedMean,
    EquivalenceTest,
    Estimate,
    Sample,
    amortisation,
    compute_paired_p_value,
    equivalence,
    estimate_clustered_median,
    holm,
    subtract_pairs,
)

_RECORDED = re.compile(r"-\d{4}-\d{2}$")
SIGNIFICANCE = 0.05
RESAMPLES_COUNT = 4_999


def counted(p_values: Sequence[float]) -> Mapping[str, int]:
    """Count the significant results: each test alone, and after Holm (1979) over all of these tests."""
    return {
        "n": sum(value <= SIGNIFICANCE for value in p_values),
        "after_holm": sum(value <= SIGNIFICANCE for value in holm(p_values)),
        "of": len(p_values),
    }


class Claims:
    """Claims about the datasets in a folder."""

    def __init__(self, published: PublishedDatasets) -> None:
        self._published = published

    def alike(self, file: str, treatment: str, baseline: str) -> Mapping[str, int]:
        """Count the rows of a report's equivalence tests with these endings of conditions."""
        rows = [
            row
            for row in self._published.rows(file)
            if row["treatment"].endswith(treatment) and row["baseline"].endswith(baseline)
        ]
        return counted([row["p_value"] for row in rows])

    def within(
        self, dataset: str, outcome: str, treatment: Row, baseline: Row, margin_ms: float, *, around_ms: float = 0.0
    ) -> float:
        """Test the median of paired differences against a value by two one-sided sign tests; return the p-value."""
        own, other = self._published.pairs(dataset, outcome, treatment, baseline)
        differences = subtract_pairs(own, other)
        moved = Sample(differences.low - around_ms, differences.high - around_ms)
        found = equivalence(moved, margin_ms, test=EquivalenceTest.SIGN).p_value
        if found is None:
            message = f"{dataset}: no pairs of {dict(treatment)} and {dict(baseline)}"
            raise LookupError(message)
        return found

    def relative(self, dataset: str, outcome: str, treatment: Row, baseline: Row) -> Estimate:
        """Estimate the median over blocks of the ratio of both arms less one."""
        own, other = self._published.pairs(dataset, outcome, treatment, baseline)
        return median_of(list(own.low / other.low - 1))

    def mean_difference(self, dataset: str, outcome: str, treatment: Row, baseline: Row, *, seed: int) -> Row:
        """Estimate the mean of paired differences, with percentiles of resampled blocks."""
        own, other = self._published.pairs(dataset, outcome, treatment, baseline)
        return _mean(subtract_pairs(own, other), seed)

    def paid_back(self, dataset: str, profile: str, transport: str, count: int = 23) -> Row:
        """Return the break-even number of queries of a connection by means, and the extra time of `count` queries.

        Blocks are the batches. Values in ms are with their interval; the count has Fieller's interval.
        """
        found = self._amortisation(dataset, profile, transport, count)
        ends = [found.extra_ms[0], found.extra_ci_low_ms[0], found.extra_ci_high_ms[0]]
        return {
            "count": found.break_even_count,
            "saved": found.saved_ms,
            "extra": dict(zip(("value", "ci_low", "ci_high"), map(float, ends), strict=True)),
        }

    def copies(self, dataset: str, outcome: str) -> Row:
        """Compare each two copies of a condition: p by signed ranks, and 95 % of the medians' sizes as a floor."""
        by_condition: dict[str, dict[float, dict[int, Row]]] = {}
        for load in self._published.loads(dataset):
            condition = load["condition"].rpartition(".copy")[0] or load["condition"]
            by_condition.setdefault(condition, {}).setdefault(load["replicate"], {})[load["block"]] = load
        p_values, sizes = [], []
        for copies in by_condition.values():
            for one, other in itertools.combinations(sorted(copies), 2):
                blocks = sorted(copies[one].keys() & copies[other].keys())
                own, base = ([copies[copy][block][outcome] for block in blocks] for copy in (one, other))
                p_values.append(compute_paired_p_value(Sample.exact(own), Sample.exact(base)))
                sizes.append(abs(float(np.median(np.subtract(own, base)))))
        return {"p_values": p_values, "floor_ms": float(np.quantile(sizes, 0.95))}

    def carry_over(self, dataset: str) -> Mapping[str, float]:
        """Test the dependence of a load's rank within its condition on the trial before (Kruskal-Wallis)."""
        loads = sorted(self._published.loads(dataset), key=lambda load: (load["block"], load["position"]))
        of_condition: dict[str, list[int]] = {}
        for number, load in enumerate(loads):
            of_condition.setdefault(load["condition"].rpartition(".copy")[0] or load["condition"], []).append(number)
        ranks = np.zeros(len(loads))
        for numbers in of_condition.values():
            ranks[numbers] = scipy.stats.rankdata([loads[number]["plt_ms"] for number in numbers]) / len(numbers)
        after = [number for number in range(1, len(loads)) if loads[number]["block"] == loads[number - 1]["block"]]
        found = {}
        for factor in ("page", "profile", "dns_transport", "resolver_path", "browser"):
            groups: dict[object, list[float]] = {}
            for number in after:
                groups.setdefault(loads[number - 1][factor], []).append(float(ranks[number]))
            found[factor] = float(scipy.stats.kruskal(*groups.values()).pvalue)
        return found

    def by_site(self, rows: Sequence[Row], column: str) -> Estimate:
        """Estimate the median of a column over pages, with the pages of a site as a cluster."""
        sites = [self.site_of(row["page"]) for row in rows]
        return estimate_clustered_median(Sample.exact([row[column] for row in rows]), sites)

    @staticmethod
    def site_of(page: str) -> str:
        """Return the site of a recorded page: the page's name without the date of its recording."""
        return _RECORDED.sub("", page)

    def parted(self, dataset: str, *arms: Row) -> str:
        """Print nothing; fail when a dataset lacks an arm needed to separate a cause from others."""
        for levels in arms:
            if not self._published.loads(dataset, **levels):
                message = f"{dataset} has no loads of {dict(levels)}: the cause is not parted from others"
                raise ValueError(message)
        return ""

    def _amortisation(self, dataset: str, profile: str, transport: str, count: int) -> Amortisation:
        queries = self._published.queries(dataset, profile=profile)
        blocks = sorted({one["block"] for one in queries})
        cold, warm, unconnected = (
            _batched([one for one in queries if one["dns_transport"] == of and one["connection"] == state], blocks)
            for of, state in ((transport, "cold"), (transport, "warm"), ("doudp", None))
        )
        return amortisation(cold, warm, unconnected, [count])


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Test two shares, each as count and total, by Fisher's exact test; return the two-sided p-value."""
    table = np.array([[count, total - count] for count, total in (first, second)])
    return float(scipy.stats.fisher_exact(table).pvalue)


def mean_of(values: Sequence[float], *, seed: int) -> Row:
    """Estimate a mean, with percentiles of resampled values."""
    return _mean(Sample.exact(values), seed)


def median_of(values: Sequence[float]) -> Estimate:
    """Estimate a median between order statistics."""
    return estimate_clustered_median(Sample.exact(values), range(len(values)))


def _mean(sample: Sample, seed: int) -> Row:
    values = sample.low
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, values.size, (RESAMPLES_COUNT, values.size))].mean(axis=1)
    low, high = np.quantile(means, ((1 - 0.95) / 2, (1 + 0.95) / 2))
    return {"value": float(values.mean()), "ci_low": float(low), "ci_high": float(high)}


def _batched(queries: Sequence[Row], blocks: Sequence[object]) -> BatchedMean:
    times = {
        block: [one["query_response_time_ns"] / 1e6 for one in queries if one["block"] == block] for block in blocks
    }
    return BatchedMean.from_arrays([sum(of) for of in times.values()], [len(of) for of in times.values()])
