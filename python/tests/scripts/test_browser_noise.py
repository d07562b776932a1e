"""Where the spread of load times lies: what is made of a trace. No browser is started."""

from typing import Any

import pytest

import browser_noise as script

URL = "https://example.resolab.test/"
MARKS_US = {"navigationStart": 0, "responseEnd": 41_000, "domInteractive": 57_000}
FIRST_MS = 40.0
MAIN, OTHER = {"pid": 7, "tid": 1}, {"pid": 7, "tid": 2}


def mark(name: str, at_us: int, url: str = URL, frame: str = "page", **thread: int) -> dict[str, Any]:
    data = {"data": {"documentLoaderURL": url}} if name == "navigationStart" else {}
    return {"name": name, "ts": at_us, "args": {"frame": frame, **data}, **(thread or MAIN)}


def task(began_us: int, wall_us: int, processor_us: int, name: str = "RunTask", **thread: int) -> dict[str, Any]:
    whole = {"name": name, "ph": "X", "ts": began_us, "dur": wall_us, "tdur": processor_us, "args": {}}
    return {**whole, **(thread or MAIN)}


def trace(load_us: int = 58_000) -> list[dict[str, Any]]:
    """A load that begins a second into the trace, after one of another document."""
    base_us = 1_000_000
    events = [mark("navigationStart", 10, "about:blank"), mark("loadEventStart", 20)]
    events += [mark(name, base_us + at_us) for name, at_us in [*MARKS_US.items(), ("loadEventStart", load_us)]]
    # The blank page before in the same frame, and a picture that is a document.
    events += [mark("domInteractive", base_us + 1_000), mark("responseEnd", base_us + 50_000, frame="picture")]
    # Into the span before the mark; with another inside it, by its other name.
    events += [task(base_us + 40_500, 4_500, 3_000), task(base_us + 40_600, 1_000, 1_000, script.TASKS[1])]
    # Of another thread, and long before.
    return [*events, task(base_us + 45_000, 10_000, 10_000, **OTHER), task(0, 1_000, 1_000)]


def test_a_load_is_split_by_marks_and_by_what_its_main_thread_did() -> None:
    load = script.load_of(trace(), URL, FIRST_MS)
    assert load is not None
    parts = load.parts_ms()
    processor, kept, idle = script.PARTS
    assert parts["responseEnd", processor] == pytest.approx(0.5 * 3 / 4.5)
    assert parts["domInteractive", processor] == pytest.approx(4 * 3 / 4.5)
    assert parts["domInteractive", kept] == pytest.approx(4 * 1.5 / 4.5)
    assert parts["domInteractive", idle] == pytest.approx(12)
    assert sum(parts.values()) == pytest.approx(58)


def test_a_trace_without_all_marks_of_the_document_is_no_load() -> None:
    assert script.load_of([one for one in trace() if one["name"] != "domInteractive"], URL, FIRST_MS) is None
    assert script.load_of(trace(), URL + "other", FIRST_MS) is None


def test_the_shares_of_the_parts_add_up_and_find_what_varies() -> None:
    loads = [script.load_of(trace(load_us), URL, FIRST_MS) for load_us in (58_000, 61_000, 75_000)]
    *parts, whole = script.rows([one for one in loads if one is not None])
    assert sum(one["share"] for one in parts) == pytest.approx(1)
    (varies,) = [one for one in parts if abs(one["share"]) > 1e-9]
    assert (varies["until"], varies["part"]) == ("loadEventStart", "nothing to do")
    assert whole["median_ms"] == pytest.approx(61)
    assert whole["sd_ms"] == pytest.approx(varies["sd_ms"])
