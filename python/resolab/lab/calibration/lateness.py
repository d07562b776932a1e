"""The path's own account of the whole calibration.

For: a summary in, checks out. Not for: the results of the probes.
"""

from resolab.basics.records import CalibrationCheck, LinkDirection, PathSummaryRecord
from resolab.lab.calibration.verdict import judge_value

LATENESS_LIMIT_MS = 0.5


def path_checks(summary: PathSummaryRecord) -> list[CalibrationCheck]:
    """Judge lateness, and packets lost by the instrument itself, for each direction."""
    checks = []
    for direction, window in ((LinkDirection.UP, summary.up), (LinkDirection.DOWN, summary.down)):
        n = window.packets_out_count
        if window.lateness_p99_ns is not None:
            got = window.lateness_p99_ns / 1e6
            checks.append(judge_value("lateness_p99", direction, asked=0.0, got=got, tolerance=LATENESS_LIMIT_MS, n=n))
        drops = window.dropped_device_count
        checks.append(judge_value("device_drops", direction, asked=0.0, got=drops, tolerance=0.0, n=n))
    return checks
