"""Print the share of simulated intervals that hold the truth, as the tables of docs/method/statistics.md.

For: choosing an interval's method and knowing what it is worth. Not for: the tests, which ask less of fewer rounds.
"""

import argparse
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from resolab.stats import (
    STOPPING_LEVEL,
    STOPPING_MIN_BLOCKS,
    Estimate,
    Sample,
    bootstrap,
    change_of_medians,
    cliffs_delta,
    hodges_lehmann,
    median,
    paired_difference,
    quantile,
    relative_change,
    restricted,
    restricted_mean,
    width_reached,
)
from resolab.stats.coverage import DATA, coverage, pair_of, truth_of

BLOCKS = (6, 8, 12, 20, 30, 60)
LIMIT = 220.0
CAP = 60
Method = Callable[[str, int, np.random.Generator, int], Estimate]


def _one(kind: str, n: int, rng: np.random.Generator) -> Sample:
    return Sample.exact(DATA[kind](rng, n))


def _pair(kind: str, n: int, rng: np.random.Generator, **effect: float) -> tuple[Sample, Sample]:
    treatment, baseline = pair_of(kind, rng, n, **effect)
    return Sample.exact(treatment), Sample.exact(baseline)


def _two(kind: str, n: int, rng: np.random.Generator) -> tuple[Sample, Sample]:
    return _one(kind, n, rng), _one(kind, n, rng)


METHODS: dict[str, Method] = {
    "median": lambda kind, n, rng, _: median(_one(kind, n, rng)),
    "quantile 0.9": lambda kind, n, rng, _: quantile(_one(kind, n, rng), 0.9),
    "paired difference": lambda kind, n, rng, _: paired_difference(*_pair(kind, n, rng, add=10)),
    "relative change": lambda kind, n, rng, seed: relative_change(*_pair(kind, n, rng, factor=1.2), seed=seed),
    "shift of pairs": lambda kind, n, rng, _: hodges_lehmann(*_pair(kind, n, rng, add=10), paired=True),
    "shift of two samples": lambda kind, n, rng, _: hodges_lehmann(*_two(kind, n, rng)),
    "change of medians": lambda kind, n, rng, _: change_of_medians(*_two(kind, n, rng)),
    "Cliff's delta": lambda kind, n, rng, _: cliffs_delta(*_two(kind, n, rng)),
    "restricted mean": lambda kind, n, rng, seed: restricted_mean(_one(kind, n, rng), LIMIT, seed=seed),
}


def _truth(name: str, kind: str) -> float:
    known = {"paired difference": 10.0, "shift of pairs": 10.0, "relative change": 0.2}
    statistics: dict[str, Callable[[np.ndarray], float]] = {
        "median": np.median,
        "quantile 0.9": lambda values: np.quantile(values, 0.9),
        "restricted mean": lambda values: np.minimum(values, LIMIT).mean(),
    }
    return truth_of(kind, statistics[name]) if name in statistics else known.get(name, 0.0)


def _estimate(method: Method, kind: str, n: int, rng: np.random.Generator, number: int) -> Estimate:
    return method(kind, n, rng, number)


def _row(words: Sequence[str]) -> str:
    return f"| {' | '.join(words)} |"


def print_methods(rounds: int, only: str) -> None:
    """Print a row per method and kind of data, a column per number of blocks."""
    print(_row(("method", "data", *map(str, BLOCKS))))
    print(_row(("---",) * (len(BLOCKS) + 2)))
    for name, method in METHODS.items():
        if only and only not in name:
            continue
        for kind in DATA:
            truth = _truth(name, kind)
            shares = [coverage(partial(_estimate, method, kind, n), truth, rounds) for n in BLOCKS]
            print(_row((name, kind, *(f"{share * 100:.1f}" for share in shares))), flush=True)


def print_stopping(rounds: int) -> None:
    """Print what is left of the level when a run stops as soon as the interval of the difference is narrow enough."""
    targets = (15, 25, 45)
    print(_row(("level, least blocks", "data", *(f"stops near {target}" for target in targets))))
    print(_row(("---",) * (len(targets) + 2)))
    for level, least in ((0.95, 6), (0.95, 12), (STOPPING_LEVEL, STOPPING_MIN_BLOCKS)):
        for kind in ("skewed", "bimodal", "tied"):
            shares = [_stopped(kind, level, least, target, rounds) for target in targets]
            print(_row((f"{level * 100:g} %, {least}", kind, *(f"{share * 100:.1f}" for share in shares))), flush=True)


def _stopped(kind: str, level: float, least: int, target: int, rounds: int) -> float:
    widths = np.random.default_rng(2)
    typical = [paired_difference(*_pair(kind, target, widths)).ci_width or 0.0 for _ in range(200)]
    width = float(np.median(typical))

    def stopped(rng: np.random.Generator, _: int) -> Estimate:
        treatment, baseline = _pair(kind, CAP, rng)
        for blocks in range(least, CAP + 1):
            first = range(blocks)
            estimate = paired_difference(treatment.take(first), baseline.take(first), level=level)
            if width_reached(estimate, width):
                break
        return estimate

    return coverage(stopped, 0.0, rounds)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=2_000, help="simulations per cell (default: %(default)d)")
    parser.add_argument("--only", default="", help="only methods whose name has this; `stopping` for the rule")
    options = parser.parse_args()
    # A fifth of the resamples makes the ends noisier and leaves their level.
    bootstrap.RESAMPLES_COUNT = restricted.RESAMPLES_COUNT = 999
    if options.only != "stopping":
        print_methods(options.rounds, options.only)
    if options.only in {"", "stopping"}:
        print()
        print_stopping(max(1, options.rounds // 2))


if __name__ == "__main__":
    main()
