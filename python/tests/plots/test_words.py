import math

import numpy as np
import pytest

from resolab.report.plots import combination_label, estimate_text, interval_text, number_text
from resolab.stats import Sample, median

LIMIT = [30_000.0] * 4


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (12.34, "+12.3"),
        (-12.36, "-12.4"),
        (0.04, "0.0"),
        (-0.04, "0.0"),
        (math.inf, "∞"),
        (-math.inf, "-∞"),
        (None, "n/a"),
    ],
)
def test_signed_numbers(number: float | None, text: str) -> None:
    assert number_text(number, signed=True) == text


def test_estimates_are_numbers_or_bounds() -> None:
    assert estimate_text(median(Sample.exact([1.0, 2.0, 3.0]), seed=1), 2) == "2.00"
    assert estimate_text(median(Sample.from_censored([1.0, 2.0, None, None], LIMIT), seed=1)) == "≥ 2.0"
    assert estimate_text(median(Sample.exact([math.inf] * 2), seed=1)) == "never"
    assert estimate_text(median(Sample.exact([-math.inf] * 2), seed=1)) == "not determined"
    assert estimate_text(median(Sample.exact([]), seed=1)) == "n/a"
    minus = Sample(np.array([-math.inf]), np.array([5.0]))
    assert estimate_text(median(minus, seed=1)) == "≤ 5.0"
    assert estimate_text(median(Sample(minus.low, -minus.low), seed=1)) == "not determined"


def test_intervals() -> None:
    assert interval_text(median(Sample.exact([0.5] * 6)), scale=100, signed=True) == "[+50.0, +50.0]"
    assert interval_text(median(Sample.exact([1.0]))) == ""


def test_combinations() -> None:
    assert combination_label("doq", "h3", "zero_rtt") == "DoQ + H3 0-RTT"
