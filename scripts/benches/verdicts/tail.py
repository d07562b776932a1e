"""A resolver with a second of waiting in 5 % of its queries: the check of the median beside the check of the share.

For: `scripts/bench verdicts`. Not for: real resolvers. Each block has a query over each arm, with a spread of 5 ms, the
spread of exchanges on a quiet machine.
"""

from dataclasses import replace
from statistics import median

import numpy as np

from benches.common.part import BenchPart
from benches.verdicts.alike import EXPECTED
from benches.verdicts.campaigns import decide
from resolab.campaign.checks.decision import Verdict, judge_share
from resolab.plan.expectation import ExpectationKind
from resolab.report.verdicts.evidence import count_tails
from resolab.stats import Sample, measure_spread

BLOCKS = 400
NOISE_MS = 5.0 / np.sqrt(2)
RESPONSE_MS, WAIT_MS, WAIT_SHARE, SLOW_MS = 20.0, 1_000.0, 0.05, 500.0
MARGIN_MS, BOUND_PERCENT = 2.0, 1.0
LEAST_CAUGHT_PERCENT = 95.0
SHARE = replace(
    EXPECTED, kind=ExpectationKind.SLOW_SHARE_AT_MOST, margin_percent=None, share_percent=BOUND_PERCENT, slow_ms=SLOW_MS
)


def measure(campaigns_count: int, seed: int) -> BenchPart:
    """Simulate runs with and without the waits."""
    part = BenchPart(
        "tail", f"{campaigns_count} simulated runs of at most {BLOCKS} blocks, % and medians",
        ["treatment", "time met", "time not met", "pairs named in a tail", "share met", "share not met",
         "after blocks", "verdict"],
    )  # fmt: skip
    for share in (0.0, WAIT_SHARE):
        _add(part, share, campaigns_count, np.random.default_rng([seed, int(1_000 * share)]))
    part.remarks.append(
        f"time: not slower than {MARGIN_MS:g} ms, looked at after each block; "
        f"share: at most {BOUND_PERCENT:g} % above {SLOW_MS:g} ms"
    )
    return part


def _add(part: BenchPart, share: float, count: int, rng: np.random.Generator) -> None:
    times: list[Verdict] = []
    shares: list[tuple[Verdict, int]] = []
    named: list[int] = []
    for _ in range(count):
        baseline, treatment = RESPONSE_MS + rng.normal(0.0, NOISE_MS, (2, BLOCKS))
        treatment = treatment + WAIT_MS * (rng.random(BLOCKS) < share)
        times.append(decide(treatment - baseline - MARGIN_MS)[0])
        differences = Sample.exact(treatment - baseline)
        named.append(count_tails(differences, measure_spread(differences))[0])
        shares.append(_judge(treatment.tolist()))
    verdicts = [one for one, _ in shares]
    wanted = Verdict.NOT_MET if share else Verdict.MET
    right = 100 * verdicts.count(wanted) / count
    blocks = [after for one, after in shares if one is not Verdict.UNDECIDED]
    judged = ("met" if right >= LEAST_CAUGHT_PERCENT else "MISSED") if share else ""
    percents = [100 * found.count(one) / count for found in (times, verdicts) for one in (Verdict.MET, Verdict.NOT_MET)]
    cells = [
        f"waits 1 s in {share:.0%}", *(f"{one:.1f}" for one in percents[:2]), f"{median(named):g}",
        *(f"{one:.1f}" for one in percents[2:]), f"{median(blocks):g}" if blocks else "none", judged,
    ]  # fmt: skip
    part.add(cells, {"wait_share": share, "percents": percents, "named_pairs_median": median(named)})


def _judge(times_ms: list[float]) -> tuple[Verdict, int]:
    """Look after each block, until the first verdict."""
    for blocks in range(1, len(times_ms) + 1):
        verdict = judge_share(SHARE, [*times_ms[:blocks]]).verdict
        if verdict is not Verdict.UNDECIDED:
            return verdict, blocks
    return Verdict.UNDECIDED, len(times_ms)
