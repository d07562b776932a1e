"""Trains through a link that is computed, not emulated: what the evaluations are tried on."""

import math

import numpy as np

from resolab.basics.records import DirectionProfile, Jitter, LinkDirection
from resolab.lab.calibration.requested_values import compute_charged_bytes
from resolab.lab.calibration.train import Train

UP = LinkDirection.UP


def through(way, *, packets_count, packet_bytes, interval_us, lateness_ms=0.03, seed=1, pause_ms=0.0):
    """A train through droptail queue, rate and delay of `way`, each packet late by up to twice the mean."""
    random = np.random.default_rng(seed)
    sent = np.arange(packets_count) * interval_us / 1e3
    sent[packets_count // 4 :] += pause_ms
    received = np.full(packets_count, np.nan)
    lost = random.random(packets_count) < way.loss_ratio
    busy_until, starts = 0.0, []
    packet_ms = compute_charged_bytes(way, packet_bytes) * 8e3 / way.rate_bps if way.rate_bps else 0.0
    limit = math.inf if way.queue_bytes is None else way.queue_bytes // packet_bytes
    for index, at in enumerate(sent):
        starts = [one for one in starts if one > at]
        if lost[index] or (busy_until > at and len(starts) + 1 > limit):
            continue
        start = max(at, busy_until)
        starts += [start] if start > at else []
        busy_until = start + packet_ms
        received[index] = busy_until
    received += delays(way, received, random) + random.random(packets_count) * 2 * lateness_ms
    return Train(UP, packet_bytes, sent, received)


def delays(way, at_ms, random):
    if way.jitter is None or way.jitter.standard_deviation_ms is None:
        return way.one_way_delay_ms
    interval = way.jitter.interval_ms or max(10.0, 10 * way.jitter.standard_deviation_ms)
    knots = random.standard_normal(int(np.nanmax(at_ms) / interval) + 2)
    place = np.nan_to_num(at_ms) / interval
    index, later = place.astype(int), place % 1
    number = ((1 - later) * knots[index] + later * knots[index + 1]) / np.hypot(1 - later, later)
    if way.jitter.distribution is None:
        return way.one_way_delay_ms + way.jitter.standard_deviation_ms * number
    scale = math.sqrt(math.log1p((way.jitter.standard_deviation_ms / way.one_way_delay_ms) ** 2))
    return np.exp(math.log(way.one_way_delay_ms) - scale**2 / 2 + scale * number)


def link(one_way_delay_ms=20.0, **more):
    return DirectionProfile(one_way_delay_ms=one_way_delay_ms, **more)


def jittered(deviation_ms, distribution=None, **more):
    return Jitter(standard_deviation_ms=deviation_ms, distribution=distribution, **more)


def only(checks, quantity):
    (found,) = [check for check in checks if check.quantity == quantity]
    return found
