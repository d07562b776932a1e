"""Two-sample tests of the benchmark: right where tables hold, right with ties, and as likely as they say."""

import numpy as np
import pytest
from scipy import stats

from benches.pages import compare as comparing
from benches.pages.compare import compare
from benches.pages.numbers import NUMBERS, numbers_of
from benches.pages.page_relations import measure_numbers
from resolab.pages.generated import generate


def test_without_ties_it_is_kolmogorov_s_and_smirnov_s():
    draw = np.random.default_rng(1)
    first, second = draw.normal(size=120), draw.normal(0.4, size=40)
    found = compare(first, second, seed=1)
    exact = stats.ks_2samp(first, second)
    assert found.distance == pytest.approx(exact.statistic)
    assert found.ks_p == pytest.approx(exact.pvalue, abs=0.01)
    assert found.is_rejected == (min(exact.pvalue, found.ad_p) < 0.05)


def test_with_ties_it_rejects_as_often_as_it_says(monkeypatch):
    monkeypatch.setattr(comparing, "PERMUTATIONS", 300)
    draw = np.random.default_rng(2)
    p = np.array(
        [compare(draw.integers(0, 4, 60) * 1.0, draw.integers(0, 4, 20) * 1.0, seed).ks_p for seed in range(200)]
    )
    assert 0.005 < np.mean(p < 0.05) < 0.10
    assert np.mean(p < 0.5) > 0.3


def test_pages_that_differ_are_told_apart_and_others_are_not():
    pages = [generate(1, number) for number in range(1, 61)]
    others = [generate(2, number) for number in range(1, 41)]
    few = [generate(2, number, hosts=3) for number in range(1, 41)]
    ours = numbers_of(pages)
    assert set(ours) == set(NUMBERS)
    assert not compare(ours["hosts"], numbers_of(others)["hosts"], 1).is_rejected
    assert compare(ours["hosts"], numbers_of(few)["hosts"], 1).is_rejected


def test_what_pages_are_made_of_is_found_again_in_them():
    said = list(measure_numbers([generate(1, number) for number in range(1, 151)]))
    (line,) = [one for one in said if one.startswith("ln sites over ln hosts")]
    slope = float(line.split("slope ")[1].split(",")[0])
    assert 0.8 < slope < 1.15
    assert any(one.startswith("Zipf slope of the other hosts: ") for one in said)
