"""Both tools' loads and their ratios as tables. Not for: measuring, or the arithmetic of a ratio (`comparison`)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from benches.common.part import BenchPart
from benches.peers.comparison import LEAST_TURNS, Loads, ratio
from benches.peers.measure import TOOLS, ToolLoad, ToolsCell

OUTCOMES = {"plt_ms": "PLT", "response_start_ms": "first byte"}
WHAT_DIFFERS = """\
browsertime starts a driver and a browser for each load, and loads once in it: what a browser makes ready once is in
it; resolab's measured load is the second of a fresh context in a browser that goes on running"""
WHAT_SECONDS_ARE = """\
seconds a load, all in: browsertime's invocation by its iterations; resolab's whole trial (our client's own exchange of
the name, warm-up, closing, measured load, judgement)"""
WHAT_WAITS_ARE = """\
browsertime waits by itself in every load: before it first asks whether the page is complete (5 s, unless told), and 2 s
after its browser's end"""
WHAT_RATIOS_ARE = """\
browsertime's over resolab's, for an interval of the same width: loads as sd^2, time as sd^2 x seconds a load; by CV: of
the same share of the mean"""
WHAT_FEW_ROUNDS_SAY = """\
(lowest..highest) with fewer: the ratio with each round left out once. It says how much hangs on one round and is no
interval: loads of a round may be alike, and few rounds do not tell how much rounds differ"""


def loads(cells: Sequence[ToolsCell], start_seconds: float) -> BenchPart:
    """Show each tool's loads in each cell."""
    columns = ["page", "profile", "tool", "loads", "rounds", "seconds a load"]
    part = BenchPart("loads", "by each tool, in turn, h2, cold, Do53", columns)
    part.columns += [f"{label} {what}" for label in OUTCOMES.values() for what in ("median ms", "sd ms", "CV")]
    part.columns.append("load average")
    for cell in cells:
        for tool in TOOLS:
            _add(part, cell, tool)
    part.remarks = [
        _line(WHAT_DIFFERS),
        _line(WHAT_SECONDS_ARE),
        _line(WHAT_WAITS_ARE),
        f"resolab's start, once: {start_seconds:.1f} s, not in the above",
    ]
    reasons = Counter(
        (tool, one.failure) for cell in cells for tool in TOOLS for one in cell.loads[tool] if one.failure
    )
    part.remarks += [f"{tool} failed {count} times: {reason}" for (tool, reason), count in reasons.most_common()]
    return part


def ratios(cells: Sequence[ToolsCell]) -> BenchPart:
    """Show browsertime's cost over resolab's for the same width of an interval."""
    part = BenchPart(
        "ratio", "browsertime over resolab, for the same width of an interval", ["page", "profile", "outcome"]
    )
    part.columns += ["loads", "loads, by CV", "time", "time, by CV", "load average"]
    for cell in cells:
        for outcome, label in OUTCOMES.items():
            one, other = (good(cell.loads[tool], outcome) for tool in TOOLS)
            made = {
                f"{what}_{how}": ratio(one, other, timed=what == "time", relative=how == "relative")
                for what in ("loads", "time")
                for how in ("absolute", "relative")
            }
            texts = ["" if each is None else each.text() for each in made.values()]
            data = {name: None if each is None else asdict(each) for name, each in made.items()}
            row = [cell.page, cell.profile, label, *texts, _load_average(cell)]
            part.add(row, {"page": cell.page, "profile": cell.profile, "outcome": outcome} | data)
    part.remarks = [
        _line(WHAT_RATIOS_ARE),
        f"[95 % interval by the bootstrap-t of log ratios, rounds drawn whole], from {LEAST_TURNS} rounds on",
        _line(WHAT_FEW_ROUNDS_SAY),
    ]
    return part


def good(of_tool: Sequence[ToolLoad], outcome: str) -> Loads:
    """Keep the valid loads: an outcome of each, and its seconds."""
    kept = [one for one in of_tool if one.failure is None and getattr(one, outcome) is not None]
    return Loads.from_sequences(
        [getattr(one, outcome) for one in kept], [one.seconds for one in kept], [one.turn for one in kept]
    )


def _add(part: BenchPart, cell: ToolsCell, tool: str) -> None:
    all_loads = cell.loads[tool]
    kept = {outcome: good(all_loads, outcome).values for outcome in OUTCOMES}
    failed_count = sum(one.failure is not None for one in all_loads)
    count = f"{len(all_loads)}" + (f" ({failed_count} failed)" if failed_count else "")
    seconds = float(np.mean([one.seconds for one in all_loads]))
    row = [cell.page, cell.profile, tool, count, str(len({one.turn for one in all_loads})), f"{seconds:.2f}"]
    for values in kept.values():
        row += _spread(values)
    part.add([*row, _load_average(cell)], {"page": cell.page, "profile": cell.profile, "tool": tool} | _data(all_loads))


def _spread(values: np.ndarray) -> list[str]:
    if not values.size:
        return ["", "", ""]
    median = f"{np.median(values):.1f}"
    if values.size == 1:
        return [median, "", ""]
    sd = float(values.std(ddof=1))
    return [median, f"{sd:.2f}", f"{sd / float(values.mean()):.1%}"]


def _data(all_loads: Sequence[ToolLoad]) -> dict[str, object]:
    return {"loads": [asdict(one) for one in all_loads]}


def _load_average(cell: ToolsCell) -> str:
    return f"{cell.load_average[0]:.2f} to {cell.load_average[1]:.2f}"


def _line(text: str) -> str:
    return text.replace("\n", " ")
