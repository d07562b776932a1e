import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
import synthetic_dataset
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, RTT_MS, Faults, make_dataset, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.report import build_report, terminal_summary
from resolab.report.findings.analysis import analyse
from resolab.store import load_manifest, open_dataset, save_manifest

# Fewer have no interval of a change.
EIGHT_BLOCKS = PLAN_TEXT.replace("blocks = 6", "blocks = 8")


class Reader(HTMLParser):
    """Collects what a browser would fetch, the headings, and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag in {"script", "link", "img", "iframe", "object", "embed", "video", "audio", "base"}:
            self.fetched.append(tag)
        for name, value in attributes:
            if name in {"src", "srcset", "poster", "data", "action"}:
                self.fetched.append(str(value))
            if name in {"href", "xlink:href"}:
                self.links.append(str(value))
            if name == "id":
                self.ids.append(str(value))

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: Path) -> tuple[str, Reader]:
    html = page.read_text()
    reader = Reader()
    reader.feed(html)
    return html, reader


def section(html: str, name: str) -> str:
    return html.partition(f'<section id="{name}">')[2].partition("</section>")[0]


def shown(folder: Path) -> str:
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    console = Console(width=200, record=True, file=None)
    with console.capture() as capture:
        console.print(terminal_summary(findings))
    return " ".join(capture.get().split())


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_dataset(tmp_path_factory.mktemp("clean") / "dataset", make_plan(EIGHT_BLOCKS))
    build_report(folder)
    return folder


@pytest.fixture(scope="module")
def faulty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    faults = Faults(timeouts=True, rejected_early_data=True, late=True)
    folder = make_dataset(tmp_path_factory.mktemp("faulty") / "dataset", faults=faults)
    build_report(folder)
    return folder


def test_the_page_needs_nothing_but_itself(clean: Path) -> None:
    html, reader = read(clean / "report" / "index.html")
    assert reader.fetched == []
    # Matplotlib draws a colour bar as a small picture, which it writes into the address itself.
    assert all(link.startswith(("#", "data:image/png;base64,")) for link in reader.links)
    assert "@import" not in html
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", html))
    assert "http:" not in html
    assert "https:" not in html


def test_every_inner_link_has_its_place(clean: Path) -> None:
    _, reader = read(clean / "report" / "index.html")
    assert {link[1:] for link in reader.links if link.startswith("#")} <= set(reader.ids)


def test_the_answer_comes_first_and_says_what_failed(faulty: Path) -> None:
    html, _ = read(faulty / "report" / "index.html")
    sections = re.findall(r'<section id="([^"]*)">', html)
    assert sections[:3] == ["answer", "numbers", "failures"]
    body = re.sub(r"<h1>.*?</h1>|<p class=\"question\">.*?</p>", "", html.partition("<body>")[2])
    before, _, answer = body.partition('<section id="answer">')
    assert re.sub(r"<[^>]*>", "", before).split() == []
    assert "144 loads failed and count as at least their limit; trials have " in answer.partition("</section>")[0]
    assert "loads failed (page_timeout" in section(html, "sentences")
    summary = re.search(r'<summary class="bad">(Failures and flags: [^<]*)</summary>', html)
    assert summary is not None
    assert re.fullmatch(
        r"Failures and flags: \d+ of 144 loads failed, and \d+ look-ups, .* beside them; \d+ flags", summary[1]
    )
    failures = section(html, "failures")
    assert "page_timeout" in failures
    assert "query_timeout" in failures
    assert "lateness_exceeded" in failures
    assert "Failures: none" not in failures
    assert re.search(r"resumed \d+, 0-RTT \d+", failures)


def test_a_clean_run_says_none_in_green(clean: Path) -> None:
    html = (clean / "report" / "index.html").read_text()
    assert '<summary class="good">Failures and flags: none</summary>' in html
    failures = section(html, "failures")
    assert '<p class="good">Failures: none.</p>' in failures
    assert '<p class="good">Flagged trials: none.</p>' in failures
    assert 'class="bad"' not in failures
    assert "100%" in failures


def test_everything_but_the_answer_is_folded_and_can_be_reached(clean: Path) -> None:
    html, reader = read(clean / "report" / "index.html")
    unfolded = re.sub(r"<details>.*</details>", "", html.partition("<body>")[2], flags=re.DOTALL)
    assert re.findall(r'<section id="([^"]*)">', unfolded) == ["answer", "numbers"]
    assert unfolded.count("<svg") == 2  # one figure, for a wide and for a narrow screen
    parts = re.findall(r'<section id="([^"]*)">', html)
    contents = html.partition("<nav>")[2].partition("</nav>")[0]
    assert set(parts) - {"calibration"} == {link[1:] for link in reader.links if f'"{link}"' in contents}


def test_what_marred_a_run_is_not_folded(tmp_path: Path) -> None:
    html, _ = read(build_report(make_dataset(tmp_path / "d", faults=Faults(trials_count=3))))
    assert re.search(r'<details open>\n<summary class="bad">Failures and flags', html)


def test_every_part_is_there(clean: Path) -> None:
    html, reader = read(clean / "report" / "index.html")
    assert html.count("<svg") == 9
    for wanted in (
        "What do DoH and DoQ",
        "DoQ + H3 full against DoUDP + H3 full",
        "Packets lost by the instrument: 0.",
    ):
        assert wanted in reader.text
    assert "./resolab run plans/made-up.toml --blocks 8" in reader.text
    assert EIGHT_BLOCKS.strip() in reader.text
    assert "n = 8; 95 % intervals by percentile bootstrap" in reader.text
    assert "made-up-20240712T101500Z-7" in reader.text
    files = sorted(file.name for file in (clean / "report" / "figures").iterdir())
    assert files == ["adjusted.csv"] + [
        f"{name}.{kind}"
        for name in (
            "answer",
            "dns_exchange",
            "last_byte_change",
            "last_byte_difference",
            "plt_change",
            "plt_difference",
            "response_start_change",
            "response_start_difference",
        )
        for kind in ("csv", "pdf", "svg")
    ] + ["sensitivity.csv"]


def test_numbers_stand_beside_the_papers(clean: Path) -> None:
    paper = section((clean / "report" / "index.html").read_text(), "paper")
    for number in ("41.03", "286.98", "+52.5 %", "-0.1 %"):
        assert number in paper


def test_the_report_recovers_what_the_data_was_made_from(clean: Path) -> None:
    """DoH costs two round trips more than DoUDP; the difference in the table must be near."""
    row = next(
        row for row in re.findall(r"<tr>(.*?)</tr>", section((clean / "report" / "index.html").read_text(), "loads"))
        if "<td>example</td><td>4g</td><td>DoH + H3 full</td>" in row
    )  # fmt: skip
    cells = re.findall(r">([^<]*)</td>", row)
    assert float(cells[11].split()[0]) == pytest.approx(2 * RTT_MS["4g"], rel=0.1)
    assert cells[12] == f"+{2 * RTT_MS['4g']:.1f}"


def test_the_same_dataset_gives_the_same_page(clean: Path) -> None:
    before = (clean / "report" / "index.html").read_bytes()
    assert build_report(clean).read_bytes() == before


def test_timeouts_raise_the_median_to_a_bound_and_never_lower_it(faulty: Path) -> None:
    loads = section((faulty / "report" / "index.html").read_text(), "loads")
    assert "≥ " in loads
    assert "∞" in loads


@pytest.mark.parametrize("count", [0, 1, 30])
def test_interrupted_runs_have_a_report(tmp_path: Path, count: int) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=count))
    _, reader = read(build_report(folder))
    assert f"interrupted: {count} of 144 trials" in reader.text
    assert f"interrupted, {count} of 144 trials" in shown(folder)
    if count == 0:
        assert "No trial has finished" in reader.text or "no answer yet" in reader.text


def test_a_run_without_any_measured_load_has_a_report(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(no_measured_loads=True))
    html, reader = read(build_report(folder))
    assert "no_measured_load" in section(html, "failures")
    assert html.count("<svg") == 1
    assert "no answer yet" in reader.text
    assert "no_measured_load 144" in shown(folder)
    assert "0 of 144 loads failed, 144 more were lost to the instrument" in reader.text


def test_repeated_trials_and_lost_packets_are_failures_too(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=3, device_drops=2))
    save_manifest(folder, msgspec.structs.replace(load_manifest(folder), instrument_failures_count=4))
    html, _ = read(build_report(folder))
    failures = section(html, "failures")
    assert "The instrument failed 4 times" in failures
    assert "itself lost 6 packets" in failures
    assert "lost by the instrument: 6" in shown(folder)
    assert "instrument failure: 4" in shown(folder)


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=2))
    manifest = load_manifest(folder)
    save_manifest(folder, msgspec.structs.replace(manifest, command_line=["<script>alert(1)</script>"]))
    html, reader = read(build_report(folder))
    assert "script" not in reader.fetched
    assert "&lt;script&gt;" in html


def test_terminal_summary_shows_failures_before_the_comparisons(clean: Path, faulty: Path) -> None:
    assert "0 of 192 loads failed; no trial is flagged." in shown(clean)
    before, found, lines = shown(faulty).partition("Median of the paired differences")
    assert found
    assert "page_timeout" in before
    assert "lateness_exceeded 16" in before
    assert "∞" in lines


def test_one_block_gives_numbers_without_intervals(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 1")))
    _, reader = read(build_report(folder))
    assert "no interval" in reader.text
    assert "no interval for too few values" in reader.text


def test_a_manifest_without_a_profile_is_told(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(trials_count=1))
    save_manifest(folder, msgspec.structs.replace(load_manifest(folder), profiles=[]))
    with pytest.raises(ConfigurationError, match="holds no profile 'fiber'"):
        build_report(folder)


def test_a_link_without_a_round_trip_has_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Profile `ideal` has no delay and no rate: there is nothing to count times, margins or bytes in."""
    monkeypatch.setitem(synthetic_dataset.RTT_MS, "ideal", 0.0)
    monkeypatch.setitem(synthetic_dataset.RATE_BPS, "ideal", None)
    text = EIGHT_BLOCKS.replace('"fiber", "4g"', '"ideal", "fiber"') + "[analysis]\nequivalence_margin_rtts = 0.25\n"
    page = build_report(make_dataset(tmp_path / "dataset", make_plan(text)))
    with (page.parent / "figures" / "equivalence.csv").open() as file:
        # With a margin of nothing nothing is tested, let alone alike.
        assert {row["profile"] for row in csv.DictReader(file)} == {"fiber"}
