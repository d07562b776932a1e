"""The effect of a lost packet on twenty names in one message, and on twenty messages: names waiting for a retry.

For: the part `loss` of `scripts/bench partial`, over a path with packet loss. Not for: running (`testbed`), paths
without loss (`figures`).
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benches.common.part import BenchPart
from benches.dns.cold import pause_ms, rates
from benches.partial import closed_form, testbed
from benches.partial.figures import PartialResponseBench
from benches.partial.testbed import NamesExchange
from resolab.plan import Corpus
from resolab.stats.sample import Sample
from resolab.stats.tail_share import TailShares, compare_shares_beyond

PROFILE = "lossy-4g-h20"
TRANSPORTS = ("doudp", "dot", "doq")
PATIENCE_RTTS = 0.5
"""The time beyond the round trips of an exchange before a name is late."""
ROUNDS_FACTOR = 5
"""The number of rounds for each round of the part `names`: an event in a few of a hundred needs a hundred."""
RETRY_S = 2.0
"""The approximate extra time of a round by losses; DoUDP sends a query again after 5 s."""


@dataclass(frozen=True)
class LossFigures:
    """The figures of a transport."""

    transport: str
    rounds: TailShares
    """The rounds with any late name, of one message (treatment) and of one by one."""
    late_names: tuple[float, float]
    """The share of late names in all names, in one message and one by one."""
    mean_ms: tuple[float, float]
    """The mean response time of all names."""


def estimate_s(bench: PartialResponseBench) -> float:
    """Estimate the duration, in s."""
    return sum(_transport_s(bench, one) for one in _transports(bench))


def _transports(bench: PartialResponseBench) -> list[str]:
    return [one for one in TRANSPORTS if one in bench.transports]


def _transport_s(bench: PartialResponseBench, transport: str) -> float:
    round_ms = closed_form.round_trips(transport, "full") * rates(PROFILE).rtt_ms + pause_ms(PROFILE)
    return ROUNDS_FACTOR * bench.rounds_count * (2 * round_ms / 1e3 + RETRY_S)


def measure(bench: PartialResponseBench) -> list[BenchPart]:
    """Measure every transport over a common path."""
    return [_part(bench, asyncio.run(_measure(bench)))]


async def _measure(bench: PartialResponseBench) -> list[LossFigures]:
    found = []
    async with testbed.run_bed(PROFILE, [0.0] * bench.names_count, bench.scratch) as bed, bed.edge("full"):
        for transport in _transports(bench):
            bench.progress.step(f"{transport}, {PROFILE}", _transport_s(bench, transport))
            arms = await bed.ask(transport, "full", ROUNDS_FACTOR * bench.rounds_count)
            found.append(figure(transport, *arms))
    return found


def figure(transport: str, in_message: Sequence[NamesExchange], one_by_one: Sequence[NamesExchange]) -> LossFigures:
    """Compare the arms of a transport."""
    limit_ms = (closed_form.round_trips(transport, "full") + PATIENCE_RTTS) * rates(PROFILE).rtt_ms
    treatment, baseline = (Sample.exact([each.times_ms[-1] for each in arm]) for arm in (in_message, one_by_one))
    every = [[time_ms for each in arm for time_ms in each.times_ms] for arm in (in_message, one_by_one)]
    late = [sum(time_ms > limit_ms for time_ms in times) / len(times) for times in every]
    means = [statistics.fmean(times) for times in every]
    return LossFigures(
        transport, compare_shares_beyond(treatment, baseline, limit_ms), (late[0], late[1]), (means[0], means[1])
    )


def compute_expected_shares(loss_ratio: float, names_count: int) -> tuple[float, float]:
    """Return the shares of rounds with a lost packet: a datagram in each direction, for all names and for each name."""
    arrives = (1 - loss_ratio) ** 2
    return 1 - arrives, 1 - arrives**names_count


def _part(bench: PartialResponseBench, found: Sequence[LossFigures]) -> BenchPart:
    title = f"{bench.names_count} names over {PROFILE}: rounds with a late name, late names, one message / one by one"
    columns = ["transport", "n", "rounds with one", "difference", "names", "mean ms"]
    part = BenchPart("loss", title, columns)
    loss_ratio = Corpus.from_project().profile(PROFILE).up.loss_ratio
    one, each = compute_expected_shares(loss_ratio, bench.names_count)
    part.remarks = [
        f"late: more than {PATIENCE_RTTS:g} round trips beyond those of the exchange",
        "shares with Wilson's interval, paired difference with Newcombe's",
        f"expected over DoUDP, a datagram each way: {one:.3f} / {each:.3f} of the rounds, {one:.3f} of the names",
    ]
    for it in found:
        rounds, difference = it.rounds, it.rounds.difference
        shown = [
            f"{share.value:.3f} [{share.ci_low:.3f}, {share.ci_high:.3f}]"
            for share in (rounds.treatment, rounds.baseline)
        ]
        apart = f"{difference.value:+.3f} [{difference.ci_low:+.3f}, {difference.ci_high:+.3f}]"
        names = " / ".join(f"{share:.4f}" for share in it.late_names)
        means = " / ".join(f"{mean:.1f}" for mean in it.mean_ms)
        part.add(
            [it.transport, str(difference.n), " / ".join(shown), apart, names, means],
            {
                "transport": it.transport,
                "rounds": [rounds.treatment.value, rounds.baseline.value],
                "difference": [difference.value, difference.ci_low, difference.ci_high],
                "late_names": it.late_names,
                "mean_ms": it.mean_ms,
            },
        )
    return part
