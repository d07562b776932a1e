"""Dependent numbers of a page: a Gaussian copula with the rank correlations of real pages.

A rank correlation r is a normal correlation of 2 sin(pi r / 6). The matrix is shrunk towards independence until the
matrix is positive definite. Not for: the meaning of scores (`margins`, `totals`).
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache

from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.published import SPEARMAN, VARIABLES

Matrix = list[list[float]]
_SHRINK = 0.01
_LEAST = 1e-6


def draw_scores(chance: UniformStream, given: Mapping[str, float]) -> dict[str, float]:
    """Draw a score for each variable: given scores stay, the others are drawn conditionally."""
    order = (*given, *(name for name in VARIABLES if name not in given))
    factor = _factor(order)
    innovations: list[float] = []
    scores: dict[str, float] = {}
    for row, name in zip(factor, order, strict=True):
        known = math.fsum(weight * one for weight, one in zip(row, innovations, strict=False))
        own = row[len(innovations)]
        innovations.append((given[name] - known) / own if name in given else chance.normal())
        scores[name] = known + own * innovations[-1]
    return scores


def normal_correlations() -> Matrix:
    """Return the correlation matrix used for drawing, in the order of the variables."""
    exact = [[1.0 if a == b else 2 * math.sin(math.pi * SPEARMAN[a][b] / 6) for b in _PLACES] for a in _PLACES]
    share = 1.0
    while not _is_positive(made := [[_shrunk(exact, a, b, share) for b in _PLACES] for a in _PLACES]):
        share -= _SHRINK
    return made


_PLACES = range(len(VARIABLES))


def _shrunk(exact: Matrix, a: int, b: int, share: float) -> float:
    return 1.0 if a == b else share * exact[a][b]


@cache
def _factor(order: tuple[str, ...]) -> Matrix:
    whole = normal_correlations()
    places = [VARIABLES.index(name) for name in order]
    return _cholesky([[whole[a][b] for b in places] for a in places])


def _is_positive(matrix: Matrix) -> bool:
    try:
        return all(row[place] ** 2 > _LEAST for place, row in enumerate(_cholesky(matrix)))
    except ValueError:
        return False


def _cholesky(matrix: Sequence[Sequence[float]]) -> Matrix:
    """Factor a matrix; raise ValueError when the matrix is not positive definite."""
    factor = [[0.0] * len(matrix) for _ in matrix]
    for a, row in enumerate(matrix):
        for b in range(a + 1):
            left = row[b] - math.fsum(factor[a][c] * factor[b][c] for c in range(b))
            factor[a][b] = math.sqrt(left) if a == b else left / factor[b][b]
    return factor
