"""Twenty names with delays typical of recursion: by a distribution with a heavy tail.

For: the part `drawn` of `scripts/bench partial`. Not for: running (`testbed`), a single late name (`figures`).

The delays are the distribution's quantiles at equal distances. Every exchange therefore has the whole distribution, and
no exchange has more of its tail by chance; the assignment to names is random. By the closed form, the answers come in
the order of their delays, each delayed against an immediate answer. Over TCP, a lone answer is a segment, and a first
window has ten segments (RFC 6928). Answers behind a full window come a round trip later; these answers are counted
instead of judged.
"""

import asyncio
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from benches.common.part import BenchPart
from benches.dns import flights
from benches.dns.cold import pause_ms, rates
from benches.partial import closed_form, testbed
from benches.partial.figures import LIMIT_MS, OUTCOMES, PartialResponseBench, estimate_text
from benches.partial.testbed import NamesExchange
from resolab.stats.medians import estimate_paired_difference
from resolab.stats.sample import Sample

TRANSPORTS = ("doudp", "dotcp", "dot", "doh", "doh3", "doq")
OVER_TCP = ("dotcp", "dot", "doh")
"""The transports with possible full first windows; over other transports no answer may be behind."""
LEAST_MS, SHAPE = 10.0, 1.2
"""The Pareto distribution: no answer comes sooner, and of 40 answers one takes more than 216 ms."""
SEED = 1


@dataclass(frozen=True)
class TransportFigures:
    """The figures of a transport."""

    transport: str
    in_message: Sequence[NamesExchange]
    one_by_one: Sequence[NamesExchange]
    beyond_ms: Sequence[Sequence[float]]
    """The lateness of answers against the closed form, in their order, for each exchange in one message with separable
    flights."""
    behind_count: tuple[float, float]
    """The number of answers held until the acknowledgement of others, in one message and one by one; medians."""


def delays_ms(names_count: int) -> list[float]:
    """Return the delay of each name."""
    shares = [(place + 0.5) / names_count for place in range(names_count)]
    found = [round(LEAST_MS * (1 - share) ** (-1 / SHAPE), 3) for share in shares]
    random.Random(SEED).shuffle(found)
    return found


def estimate_s(bench: PartialResponseBench) -> float:
    """Estimate the duration, in s."""
    return sum(_transport_s(bench, one) for one in _transports(bench))


def _transports(bench: PartialResponseBench) -> list[str]:
    return [one for one in TRANSPORTS if one in bench.transports]


def _transport_s(bench: PartialResponseBench, transport: str) -> float:
    round_ms = closed_form.round_trips(transport, "full") * rates(bench.profile).rtt_ms + pause_ms(bench.profile)
    return 2 * bench.rounds_count * (round_ms + max(delays_ms(bench.names_count))) / 1e3


def measure(bench: PartialResponseBench) -> list[BenchPart]:
    """Measure every transport over a common path."""
    return [_part(bench, asyncio.run(_measure(bench)))]


async def _measure(bench: PartialResponseBench) -> list[TransportFigures]:
    found = []
    delays, link = delays_ms(bench.names_count), rates(bench.profile)
    async with testbed.run_bed(bench.profile, delays, bench.scratch) as bed, bed.edge("full"):
        for transport in _transports(bench):
            bench.progress.step(f"{transport}, drawn delays", _transport_s(bench, transport))
            in_message, one_by_one = await bed.ask(transport, "full", bench.rounds_count)
            beyond = [one for each in in_message if (one := compute_lateness_ms(each, delays, link)) is not None]
            behind = [
                statistics.median(behind_count(one, delays, link.rtt_ms) for one in arm)
                for arm in (in_message, one_by_one)
            ]
            found.append(TransportFigures(transport, in_message, one_by_one, beyond, (behind[0], behind[1])))
    return found


def compute_lateness_ms(exchange: NamesExchange, delays: Sequence[float], link: flights.Rates) -> list[float] | None:
    """Return the lateness of each answer against the closed form; None without separable flights."""
    judged = closed_form.judge(exchange, "full", max(delays), link)
    if judged is None:
        return None
    pairs = zip(exchange.times_ms, sorted(delays), strict=True)
    return [time_ms - judged.first_closed_form_ms - delay_ms for time_ms, delay_ms in pairs]


def behind_count(exchange: NamesExchange, delays: Sequence[float], rtt_ms: float) -> int:
    """Count the answers held up by more than half a round trip, relative to the first answer and their delays."""
    least_ms, first_ms = min(delays), exchange.times_ms[0]
    pairs = zip(exchange.times_ms, sorted(delays), strict=True)
    return sum(time_ms - first_ms - (delay_ms - least_ms) > rtt_ms / 2 for time_ms, delay_ms in pairs)


def _median_of_prompt(beyond: Sequence[float], rtt_ms: float) -> float:
    return statistics.median(one for one in beyond if one <= rtt_ms / 2)


def _part(bench: PartialResponseBench, found: Sequence[TransportFigures]) -> BenchPart:
    delays, rtt_ms = sorted(delays_ms(bench.names_count)), rates(bench.profile).rtt_ms
    title = (
        f"{bench.names_count} names over {bench.profile}, late by {delays[0]:.0f} to {delays[-1]:.0f} ms (Pareto from "
        f"{LEAST_MS:g} ms, shape {SHAPE:g}); cold, full handshakes"
    )
    columns = ["transport", "n", "c: first", "median", "last", "behind"]
    columns += ["less one by one: first", "last", "all, on average"]
    part = BenchPart("drawn delays", title, [*columns, "verdict"])
    part.remarks = [
        "c: what an answer in one message comes later than k x RTT + bytes x 8 / rate + its delay; medians, ms",
        "behind: more than half a round trip later after the first than by their delays, one message / one by one",
        "median: of those that are not behind",
        "less one by one: medians of paired differences, ms, 95 % intervals of order statistics",
        f"must: the median of each c within {LIMIT_MS:g} ms; none behind but over TCP",
    ]
    for one in found:
        columns_ms = [(each[0], _median_of_prompt(each, rtt_ms), each[-1]) for each in one.beyond_ms]
        beyond = [statistics.median(column) for column in zip(*columns_ms, strict=True)]
        shown = [f"{value:.2f}" for value in beyond] or ["-"] * 3
        shown.append(" / ".join(f"{count:g}" for count in one.behind_count))
        data: dict[str, object] = {"transport": one.transport, "beyond_ms": beyond}
        data["behind_count"] = one.behind_count
        for name in ("first", "last", "mean"):
            arms = [Sample.exact([OUTCOMES[name](each) for each in arm]) for arm in (one.in_message, one.one_by_one)]
            estimate = estimate_paired_difference(*arms)
            shown.append(estimate_text(estimate))
            data[name] = [estimate.value, estimate.ci_low, estimate.ci_high]
        is_met = bool(beyond) and all(abs(value) <= LIMIT_MS for value in beyond)
        is_met = is_met and (one.transport in OVER_TCP or not any(one.behind_count))
        verdict = "met" if is_met and len(one.beyond_ms) * 2 > len(one.in_message) else "MISSED"
        part.add([one.transport, str(len(one.beyond_ms)), *shown, verdict], data)
    return part
