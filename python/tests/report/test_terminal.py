"""The summary at the end of a run: one line a comparison, its numbers against the loads."""

import statistics
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.report import terminal_summary
from resolab.report.findings.analysis import analyse
from resolab.report.narrow_table import TerminalTable
from resolab.report.terminal import times_text
from resolab.stats import Estimate, Method
from resolab.store import build_tables, open_dataset
from resolab.store.outcomes import PLT


def change(value: float | None, low: float | None, high: float | None) -> Estimate:
    return Estimate(value, value, low, high, 9 if value is not None else 0, 0, 0.95, Method.PERCENTILE)


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (change(0.23, 0.19, 0.31), "1.23 times as long [1.19, 1.31]"),
        (change(-0.5, -0.6, -0.375), "0.50 times as long [0.40, 0.62]"),
        (change(0.01, -0.01, 0.03), "1.01 times as long [0.99, 1.03] (interval contains 1)"),
        (change(0.1, None, None), "9 pairs: too few to tell"),
        (change(0.1, 0.0, float("inf")), "1.10 times as long [1.00, ∞] (interval contains 1)"),
        (change(None, None, None), "n/a"),
    ],
)
def test_a_change_is_said_as_times_as_long(found: Estimate, text: str) -> None:
    assert times_text(found) == text


def test_every_comparison_has_its_line(tmp_path: Path) -> None:
    plan = make_plan(
        PLAN_TEXT.replace('["example", "wikipedia"]', '["example"]')
        .replace('["fiber", "4g"]', '["4g"]')
        .replace("blocks = 6", "blocks = 8")
    )
    folder = make_dataset(tmp_path / "dataset", plan)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)

    def plts(transport: str) -> list[float]:
        wanted = (transport, "full")
        return [
            PLT.value_of_load(load) or 0
            for load in findings.loads
            if (load.dns_transport, load.requested_handshake_mode) == wanted
        ]

    console = Console(width=200)
    with console.capture() as capture:
        console.print(terminal_summary(findings))
    lines = capture.get().splitlines()
    assert "example, 4g" in [line.strip() for line in lines]
    (doh,) = (line for line in lines if line.strip().startswith("DoH + H3 full"))
    base = statistics.median(plts("doudp"))
    assert f" {statistics.median(plts('doh')):.1f} [" in doh
    assert f"{min(plts('doh')):.1f} … {max(plts('doh')):.1f}" in doh
    assert f"{statistics.median(plts('doh')) / base:.2f} times as long [" in doh
    (baseline,) = (line for line in lines if line.strip().startswith("DoUDP + H3 full"))
    assert baseline.rstrip().endswith("baseline")


def printed(width: int) -> list[str]:
    rows = [("example, 4g",), ("  DoH + H3 full, a long label to be folded", "123.4 [1, 2]", "", "8")]
    table = TerminalTable("Times", ("condition", "PLT ms", "range ms", "n"), frozenset({0}), rows)
    console = Console(width=width)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_a_narrow_terminal_gets_lines_with_labels_and_a_wide_one_a_table() -> None:
    assert printed(40) == [
        "Times",
        "example, 4g",
        "DoH + H3 full, a long label to be folded",
        "  PLT ms: 123.4 [1, 2]",
        "  n: 8",
    ]
    wide = printed(80)
    assert "  DoH + H3 full, a long label to be folded  123.4 [1, 2]            8" in wide
    assert all("PLT ms" not in line or "condition" in line for line in wide)
