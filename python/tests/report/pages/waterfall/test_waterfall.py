"""The waterfall of a load: its phases against the instants of the records, and which load is taken."""

import json
import re
from pathlib import Path

import pytest
from synthetic_dataset import (
    CONNECT_MS,
    EARLY_REQUEST_MS,
    PLAN_TEXT,
    RECEIVE_MS,
    RTT_MS,
    Faults,
    make_dataset,
    make_plan,
)

from resolab.cli.main import main
from resolab.report import draw_load, terminal_waterfall, waterfalls
from resolab.store import build_tables, open_dataset
from resolab.store.outcomes import PLT

TEXT = PLAN_TEXT.replace('["example", "wikipedia"]', '["example"]').replace('["fiber", "4g"]', '["4g"]')
RTT = RTT_MS["4g"]
FULL, EARLY = "example.4g.doudp.h3.full", "example.4g.doudp.h3.zero_rtt"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_dataset(tmp_path_factory.mktemp("waterfall") / "dataset", make_plan(TEXT))
    build_tables(folder)
    return folder


def spans(dataset: Path, condition: str) -> dict[str, tuple[float, float]]:
    (one,) = waterfalls(dataset, condition)
    return {span.phase: (span.start_ms, span.end_ms) for span in one.requests[0].spans}


def test_phases_follow_the_instants(dataset: Path) -> None:
    found = spans(dataset, FULL)
    assert list(found) == ["look-up", "QUIC", "wait", "receive"]
    assert found["look-up"] == pytest.approx((1.0, 1.0 + RTT))
    assert found["QUIC"] == pytest.approx((1.0 + RTT, 1.0 + 2 * RTT + CONNECT_MS))
    assert found["wait"][0] == pytest.approx(1.0 + 2 * RTT + CONNECT_MS)
    assert found["receive"][1] - found["receive"][0] == pytest.approx(RECEIVE_MS)


def test_in_early_data_the_request_leaves_during_the_handshake(dataset: Path) -> None:
    found = spans(dataset, EARLY)
    assert found["wait"][0] == pytest.approx(1.0 + RTT + EARLY_REQUEST_MS)
    assert found["wait"][0] < found["QUIC"][1]


def test_the_median_load_stands_for_a_condition(dataset: Path) -> None:
    with open_dataset(dataset) as opened:
        loads = sorted(
            (PLT.value_of_load(load) or 0, load.trial_id) for load in opened.measured_loads() if load.condition == FULL
        )
    (one,) = waterfalls(dataset, FULL)
    assert len(loads) == 6
    assert one.name == loads[2][1]
    assert [(event.name, event.at_ms) for event in one.events] == [("load", loads[2][0])]
    assert len(waterfalls(dataset)) == 6
    assert waterfalls(dataset, "b001-t000")[0].name == "b001-t000"


def test_the_csv_has_the_instants(dataset: Path) -> None:
    (one,) = waterfalls(dataset, FULL)
    (row,) = draw_load(one).rows
    assert row["url"] == "https://example.resolab.test/"
    assert row["connect_end_ms"] == pytest.approx(1.0 + 2 * RTT + CONNECT_MS)


def test_lines_of_text_are_to_scale(dataset: Path) -> None:
    (one,) = waterfalls(dataset, FULL)
    line = terminal_waterfall(one, 142).plain.splitlines()[2]
    end_ms = max(one.requests[0].end_ms, one.events[0].at_ms)
    # 142 columns less the label, the times and a gap leave 100.
    assert abs(line.count("?") - RTT / end_ms * 100) <= 1
    assert abs(line.count("q") - (RTT + CONNECT_MS) / end_ms * 100) <= 1
    assert terminal_waterfall(one, 142).plain.splitlines()[-1].startswith("load")


def test_the_command_prints_and_draws(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["waterfall", str(dataset), FULL, "-o", str(tmp_path / "one.svg")]) == 0
    assert FULL in capsys.readouterr().out
    assert (tmp_path / "one.svg").read_text().count("<svg") == 1
    assert main(["waterfall", str(dataset), FULL, "-o", str(tmp_path / "one.png")]) == 0
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert main(["waterfall", str(dataset), "b000-t000", "-o", str(tmp_path / "folder")]) == 0
    assert {file.name for file in (tmp_path / "folder").iterdir()} == {
        f"waterfall-b000-t000.{suffix}" for suffix in ("svg", "pdf", "csv")
    }


def test_a_page_has_every_load_drawn_for_both_screens_with_a_table(dataset: Path, tmp_path: Path) -> None:
    page = tmp_path / "loads.html"
    assert main(["waterfall", str(dataset), "-o", str(page)]) == 0
    html = page.read_text()
    assert html.count('class="wide"') == html.count('class="narrow"') == html.count("<table>") == 6
    assert "http:" not in html
    assert "https:" not in html
    (one,) = waterfalls(dataset, FULL)
    title = html.partition(f"<h3>{one.title}</h3>")[2].partition("</section>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", title)
    assert cells[:2] == ["/", f"{one.requests[0].start_ms:.1f}"]
    assert f"{one.requests[0].end_ms:.1f}" in cells
    assert f"{one.events[0].at_ms:.1f}" in cells


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["b999-t999"], "no finished trial and no condition"),
        (["-o", "all.svg"], "6 loads do not fit into one file"),
        ([FULL, "-o", "one.jpg"], ".jpg is none of .svg, .pdf, .png"),
    ],
)
def test_what_cannot_be_drawn_is_said(
    dataset: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["waterfall", str(dataset), *arguments]) == 3
    assert says in capsys.readouterr().err


def test_a_load_that_failed_shows_what_there_was(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "dataset", make_plan(TEXT), Faults(timeouts=True))
    build_tables(folder)
    with open_dataset(folder) as opened:
        failed = next(load.trial_id for load in opened.measured_loads() if load.failure)
    (one,) = waterfalls(folder, failed)
    assert one.title.endswith("failed: page_timeout")
    assert [span.phase for span in one.requests[0].spans] == ["look-up"]
    assert one.events == []


def test_requests_of_other_origins_have_their_host_and_a_bar(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "dataset", make_plan(TEXT))
    file = folder / "trials" / "b000-t000.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    place = next(number for number, line in enumerate(lines) if line["record"] == "resource")
    without = {name: value for name, value in lines[place].items() if not name.endswith("_ms")}
    other = {"url": "https://a1.example.resolab.test/js00.js", "start_ms": 20.0, "response_end_ms": 75.0}
    lines.insert(place + 1, {**without, **other, "initiator_type": "script"})
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (one,) = waterfalls(folder, "b000-t000")
    request = next(each for each in one.requests if "js00" in each.label)
    assert request.label == "a1.example.resolab.test/js00.js"
    assert [(span.phase, span.start_ms, span.end_ms) for span in request.spans] == [("undivided", 20.0, 75.0)]
    assert request.row["host"] == "a1.example.resolab.test"
    text = terminal_waterfall(one, 142).plain
    # The middle goes, so that host and file stay.
    assert "a1.example." in text
    assert "js00.js" in text
    assert "▒" in text
