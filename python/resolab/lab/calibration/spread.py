"""The intended variation of a link's delay: the numbers of a profile's jitter.

For: mean, spread, quantiles, and the number of independent values in a time span. Not for: measured delays (`delay`).
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import ndtri

from resolab.basics.records import DirectionProfile, Jitter, JitterDistribution

INTERVAL_DEVIATIONS = 10.0
MIN_INTERVAL_MS = 10.0
"""The link's own defaults for `interval_ms`."""
MEAN_INFLATION = 2.0 * math.asinh(1.0) ** 2
"""Variance of the mean over many intervals, divided by the variance for independent values: (sqrt(2) asinh 1)^2."""
SPREAD_INFLATION = 1.0 + 2.0 * (math.pi / 4 - 0.5) ** 2
"""The same ratio for the mean square: 1 + 2 c^2, with the correlation of neighbours c = pi/4 - 1/2."""
RARE = 1e-4
"""Delays outside the quantiles RARE and 1 - RARE are regarded as impossible."""


@dataclass(frozen=True, slots=True)
class DelaySpread:
    """The distribution of a varying one-way delay."""

    mean_ms: float
    deviation_ms: float
    interval_ms: float
    lognormal: bool
    per_packet: bool
    quantiles_ms: tuple[float, ...] = ()

    @classmethod
    def from_direction(cls, way: DirectionProfile) -> Self | None:
        """Read the distribution of a direction's delay; return `None` for a constant delay."""
        if way.jitter is None:
            return None
        mean_ms, deviation_ms = way.one_way_delay_ms, way.jitter.standard_deviation_ms or 0.0
        quantiles = tuple(way.jitter.quantiles_ms or ())
        if quantiles:
            added_ms, deviation_ms = _moments(np.array(quantiles))
            mean_ms += added_ms
        if deviation_ms == 0.0:
            return None
        return cls(
            mean_ms=mean_ms,
            deviation_ms=deviation_ms,
            interval_ms=_interval_ms(way.jitter, deviation_ms),
            lognormal=not quantiles and way.jitter.distribution is JitterDistribution.LOGNORMAL and mean_ms > 0,
            per_packet=way.jitter.per_packet_reordering,
            quantiles_ms=tuple(way.one_way_delay_ms + value for value in quantiles),
        )

    @property
    def log_deviation(self) -> float:
        """The standard deviation of the logarithm of a log-normal delay."""
        return math.sqrt(math.log1p((self.deviation_ms / self.mean_ms) ** 2))

    @property
    def log_mean(self) -> float:
        """The mean of the logarithm of a log-normal delay in ms."""
        return math.log(self.mean_ms) - self.log_deviation**2 / 2

    def width_ms(self) -> float:
        """Return the largest difference between two delays, apart from rare values beyond `RARE`."""
        if self.quantiles_ms:
            return self.quantiles_ms[-1] - self.quantiles_ms[0]
        number = float(ndtri(1 - RARE))
        if self.lognormal:
            return math.exp(self.log_mean) * 2 * math.sinh(self.log_deviation * number)
        return 2 * number * self.deviation_ms

    def largest_ms(self) -> float:
        """Return the largest delay, apart from rare values beyond `RARE`."""
        return self.mean_ms + self.width_ms()

    def intervals_count(self, span_ms: float, packets_count: int) -> float:
        """Return the number of independent delay values in a time span."""
        return float(packets_count) if self.per_packet else span_ms / self.interval_ms

    def independent_of_mean(self, span_ms: float, packets_count: int) -> float:
        """Return the number of independent values with an equal error of the mean."""
        inflation = 1.0 if self.per_packet else MEAN_INFLATION
        return self.intervals_count(span_ms, packets_count) / inflation

    def independent_of_spread(self, span_ms: float, packets_count: int) -> float:
        """Return the number of independent values with an equal error of the standard deviation."""
        inflation = 1.0 if self.per_packet else SPREAD_INFLATION
        return self.intervals_count(span_ms, packets_count) / inflation


def _interval_ms(jitter: Jitter, deviation_ms: float) -> float:
    return jitter.interval_ms or max(MIN_INTERVAL_MS, INTERVAL_DEVIATIONS * deviation_ms)


def _moments(quantiles: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> tuple[float, float]:
    """Return mean and standard deviation of a distribution linear between equally spaced quantiles."""
    low, high = quantiles[:-1], quantiles[1:]
    mean = float(np.mean((low + high) / 2))
    square = float(np.mean((low * low + low * high + high * high) / 3))
    return mean, math.sqrt(max(0.0, square - mean * mean))
