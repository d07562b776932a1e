"""Progress is for people at a terminal who wait."""

import io

from recorded_queries import DEAD, DOT, recorded
from rich.console import Console

from resolab.cli.query import progress as progress_module
from resolab.cli.query.bar import bar
from resolab.cli.query.progress import QueryProgressLine
from resolab.extras.queries import QueryPhase


def progress(*, terminal, monkeypatch, queries):
    clock = iter(range(1000))
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: float(next(clock)))
    output = io.StringIO()
    with QueryProgressLine(len(queries), Console(file=output, force_terminal=terminal, width=80)) as shown:
        for one in queries:
            shown.take(one)
    return output.getvalue()


def test_it_counts_failures_and_says_how_long_it_will_take(monkeypatch):
    records = recorded()
    output = progress(terminal=True, monkeypatch=monkeypatch, queries=records)
    assert f"/{len(records)} queries" in output
    assert "ETA" in output
    assert "failed" in output


def test_it_is_silent_where_nobody_looks(monkeypatch):
    assert progress(terminal=False, monkeypatch=monkeypatch, queries=recorded()) == ""


def test_the_time_left_is_by_the_pace_so_far(monkeypatch):
    clock = iter([0.0])
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: next(clock, 0.0))
    shown = QueryProgressLine(400, Console(file=io.StringIO()))
    for one in [next(one for one in recorded() if one.resolver == resolver) for resolver in (DOT, DEAD)]:
        shown.take(one)
    assert shown.line(1.0) == "2/400 queries, 1 failed, ETA 3 min 19 s"


def test_a_bar_has_each_phase_by_its_share():
    split = [(QueryPhase.TCP_CONNECT, 1.0), (QueryPhase.TLS_HANDSHAKE, 2.0), (QueryPhase.QUERY_EXCHANGE, 1.0)]
    assert bar(split, 4.0, 20, unit_ms=1).plain == "cccccttttttttttxxxxx"
    assert bar(split, 10.0, 20, unit_ms=1).plain == "ccttttxx"
    assert bar(split, 4000.0, 20, unit_ms=1).plain == "t"
    assert bar([], 4.0, 20, unit_ms=1).plain == ""


def test_a_bar_too_short_for_its_phases_says_them():
    split = [
        (QueryPhase.TCP_CONNECT, 1e6),
        (QueryPhase.TLS_HANDSHAKE, 2e6),
        (QueryPhase.OTHER, 1e4),
        (QueryPhase.QUERY_EXCHANGE, 1e6),
    ]
    assert bar(split, 4e9, 30, unit_ms=1e-6).plain == "t c 1.000 t 2.000 x 1.000"
    assert bar(split, 4e9, 12, unit_ms=1e-6).plain == "t"
    # What has one phase only is told by the time beside it.
    assert bar(split[:1], 4e9, 30, unit_ms=1e-6).plain == "c"
