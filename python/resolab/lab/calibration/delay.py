"""Delay, delay variation and packet order, from a sparse train of small packets.

For: arrays in, checks out. Not for: sending the train.
"""

import math

import numpy as np

from resolab.basics.records import CalibrationCheck, DirectionProfile
from resolab.lab.calibration.requested_values import serialisation_ms
from resolab.lab.calibration.spread import DelaySpread
from resolab.lab.calibration.train import Floats, Train
from resolab.lab.calibration.verdict import judge_value, report_value

DELAY_TOLERANCE_MS = 0.2
P99_ERROR_TOLERANCE_MS = 0.5
STANDARD_ERRORS = 4.0
INDEPENDENT_VALUES_NEEDED = 20
LOW_QUANTILE = 0.01


def delay_checks(train: Train, way: DirectionProfile) -> list[CalibrationCheck]:
    """Judge a train too sparse to fill the link."""
    if not len(train.delays_ms):
        return [judge_value("delay", train.direction, asked=way.one_way_delay_ms, got=math.inf, tolerance=0.0, n=0)]
    spread = DelaySpread.from_direction(way)
    return [
        *(_steady(train, way) if spread is None else _check_varying_delay(train, way, spread)),
        *_order(train, spread),
    ]


def _steady(train: Train, way: DirectionProfile) -> list[CalibrationCheck]:
    asked = way.one_way_delay_ms + serialisation_ms(way, train.packet_bytes)
    delays, n = train.delays_ms, len(train.delays_ms)
    if way.trace_file is not None or way.cross_traffic is not None:
        # What a packet waits for its opportunity, or for others, is no error.
        return [report_value("delay", train.direction, asked=asked, got=float(np.quantile(delays, LOW_QUANTILE)), n=n)]
    median, p99 = (float(value) for value in np.quantile(delays, [0.5, 0.99]))
    return [
        judge_value("delay", train.direction, asked=asked, got=median, tolerance=DELAY_TOLERANCE_MS, n=n),
        judge_value(
            "delay_p99_error", train.direction, asked=0.0, got=p99 - asked, tolerance=P99_ERROR_TOLERANCE_MS, n=n
        ),
    ]


def _check_varying_delay(train: Train, way: DirectionProfile, spread: DelaySpread) -> list[CalibrationCheck]:
    delays = train.delays_ms - serialisation_ms(way, train.packet_bytes)
    of_mean = spread.independent_of_mean(train.span_ms, len(delays))
    of_spread = spread.independent_of_spread(train.span_ms, len(delays))
    if spread.lognormal:
        mean, deviation = _lognormal(delays, spread, of_mean, of_spread)
    else:
        mean, deviation = _normal(delays, spread, of_mean, of_spread)
    disturbed = way.trace_file is not None or way.cross_traffic is not None
    return [
        _check_quantity("delay", train, mean, judge=not disturbed and of_mean >= 1),
        _check_quantity("jitter", train, deviation, judge=not disturbed and of_spread >= INDEPENDENT_VALUES_NEEDED),
    ]


def _normal(
    delays: Floats, spread: DelaySpread, of_mean: float, of_spread: float
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return requested value, measured value and tolerance, for the mean and for the standard deviation."""
    asked = spread.deviation_ms
    mean_tolerance = DELAY_TOLERANCE_MS + STANDARD_ERRORS * asked / math.sqrt(max(of_mean, 1.0))
    deviation = float(np.std(delays)) * _compute_bias_factor(of_mean)
    deviation_tolerance = STANDARD_ERRORS * asked / math.sqrt(2 * max(of_spread, 1.0))
    return (spread.mean_ms, float(np.mean(delays)), mean_tolerance), (asked, deviation, deviation_tolerance)


def _lognormal(
    delays: Floats, spread: DelaySpread, of_mean: float, of_spread: float
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Compute these values from the logarithms, to keep a few large values of a skewed delay from misleading.

    The logarithms of the delays are normal. The compared delay is then the median. The deviation is computed from the
    standard deviation of the logarithms.
    """
    scale = spread.log_deviation
    logs = np.log(np.maximum(delays, 1e-3))
    median = math.exp(spread.log_mean)
    mean_step = STANDARD_ERRORS * scale / math.sqrt(max(of_mean, 1.0))
    mean_tolerance = DELAY_TOLERANCE_MS + median * math.expm1(mean_step)
    got_scale = float(np.std(logs)) * _compute_bias_factor(of_mean)
    high_scale = scale * (1 + STANDARD_ERRORS / math.sqrt(2 * max(of_spread, 1.0)))

    def deviation(of_scale: float) -> float:
        return spread.mean_ms * math.sqrt(math.expm1(of_scale**2))

    tolerance = deviation(high_scale) - spread.deviation_ms
    return (
        (median, math.exp(float(np.mean(logs))), mean_tolerance),
        (spread.deviation_ms, deviation(got_scale), tolerance),
    )


def _compute_bias_factor(independent: float) -> float:
    """Return the factor correcting the bias of the standard deviation about an estimated mean."""
    return math.sqrt(independent / (independent - 1)) if independent > 2 else 1.0


def _check_quantity(
    quantity: str, train: Train, values: tuple[float, float, float], *, judge: bool
) -> CalibrationCheck:
    asked, got, tolerance = values
    n = len(train.delays_ms)
    if judge:
        return judge_value(quantity, train.direction, asked=asked, got=got, tolerance=tolerance, n=n)
    return report_value(quantity, train.direction, asked=asked, got=got, n=n)


def _order(train: Train, spread: DelaySpread | None) -> list[CalibrationCheck]:
    overtaken, n = train.overtaken_count(), len(train.delays_ms)
    if spread is not None and spread.per_packet:
        return [report_value("reordering", train.direction, asked=None, got=overtaken, n=n)]
    return [judge_value("reordering", train.direction, asked=0.0, got=overtaken, tolerance=0.0, n=n)]
