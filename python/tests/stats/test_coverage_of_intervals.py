"""The intervals hold the truth about as often as they say, and their width is not bought by always being wide."""

import numpy as np
import pytest

from resolab.stats import Sample, bootstrap, paired_difference, relative_change


@pytest.fixture(autouse=True)
def fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "RESAMPLES_COUNT", 400)


@pytest.mark.parametrize("blocks", [6, 15])
def test_paired_difference_covers_the_truth(blocks: int) -> None:
    rng = np.random.default_rng(blocks)
    held, rounds = 0, 150
    for seed in range(rounds):
        drift = rng.lognormal(5, 0.5, blocks)
        treatment = drift + 10 + rng.normal(0, 4, blocks)
        estimate = paired_difference(Sample.exact(treatment), Sample.exact(drift + rng.normal(0, 4, blocks)), seed=seed)
        assert estimate.ci_low is not None
        assert estimate.ci_high is not None
        held += estimate.ci_low <= 10 <= estimate.ci_high
    assert 0.86 <= held / rounds <= 0.995


def test_relative_change_covers_the_truth() -> None:
    rng = np.random.default_rng(5)
    held, rounds = 0, 120
    for seed in range(rounds):
        baseline, treatment = rng.normal(100, 5, 12), rng.normal(120, 5, 12)
        estimate = relative_change(Sample.exact(treatment), Sample.exact(baseline), seed=seed)
        assert estimate.ci_low is not None
        assert estimate.ci_high is not None
        held += estimate.ci_low <= 0.2 <= estimate.ci_high
    assert 0.86 <= held / rounds <= 0.995
