"""Loss, from trains too slow to fill the link.

For: arrays in, checks out. Not for: drops of a full queue.
"""

import math
from collections.abc import Sequence

from resolab.basics.records import CalibrationCheck, DirectionProfile
from resolab.lab.calibration.requested_values import LossModel
from resolab.lab.calibration.train import Train
from resolab.lab.calibration.verdict import judge_value, report_value

STANDARD_ERRORS = 4.0


def loss_check(trains: Sequence[Train], way: DirectionProfile) -> CalibrationCheck:
    """Judge the lost share over all trains of one direction together; a link without loss must lose no packet."""
    direction = trains[0].direction
    sent = sum(len(train.sent_ms) for train in trains)
    got = sum(train.lost_count for train in trains) / sent
    asked = LossModel.from_direction(way)
    if way.trace_file is not None or way.cross_traffic is not None or way.policer is not None:
        # The queue may have been full, or the bucket empty.
        return report_value("loss", direction, asked=asked.ratio, got=got, n=sent)
    tolerance = STANDARD_ERRORS * math.sqrt(asked.variance_per_packet / sent)
    return judge_value("loss", direction, asked=asked.ratio, got=got, tolerance=tolerance, n=sent)
