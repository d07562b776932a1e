"""Every command that reads a dataset, on live ones: two vantage points, unknown caches, loads alone, no trial yet."""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from live_dataset import RTT_MS, SITES_COUNT, Truth, make_live_dataset
from rich.console import Console

from resolab.cli.main import main
from resolab.report import build_report, terminal_summary
from resolab.report.build import make_report
from resolab.report.findings.analysis import analyse
from resolab.report.live.answers import live_answers
from resolab.report.live.findings import live_findings
from resolab.report.plots import Drawing
from resolab.store import build_tables, load_manifest, merge_datasets, open_dataset, save_manifest


@pytest.fixture(scope="module", autouse=True)
def figures_without_files() -> Iterator[None]:
    """Draw every figure and save none: files take longer than all the rest, and are tested elsewhere."""

    def save(drawings: Sequence[Drawing], folder: Path) -> list[str]:
        folder.mkdir()
        return ["<svg></svg>" for _ in drawings]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("resolab.report.build.save_drawings", save)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_live_dataset(tmp_path_factory.mktemp("home") / "d", Truth(place="home"))


@pytest.fixture(scope="module")
def both(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of one plan but for the vantage point, all resolvers farther from the second."""
    folder = tmp_path_factory.mktemp("both")
    away = make_live_dataset(folder / "away", Truth(place="away", farther_ms=50.0))
    merge_datasets(folder / "d", [home, away])
    return folder / "d"


def test_two_vantage_points_are_told_apart_and_never_compared(both: Path) -> None:
    build_tables(both)
    with open_dataset(both) as dataset:
        findings = analyse(dataset)
        live = live_findings(dataset, findings)
    assert findings.plan.factors.profile == ("home", "away")
    for _, comparison in findings.plt.compared:
        assert comparison.difference_ms.n == SITES_COUNT
    by_place = {
        (one.condition.profile, one.condition.resolver, str(one.condition.dns_transport)): found.difference_ms.value
        for one, found in findings.plt.compared
    }
    home, away = by_place["home", "quick", "dot"], by_place["away", "quick", "dot"]
    assert home == pytest.approx(3 * RTT_MS["quick"] - RTT_MS["local"], abs=3)
    assert away == pytest.approx(3 * (RTT_MS["quick"] + 50) - RTT_MS["local"] - 50, abs=3)
    assert {one.profile for one in live.pairs} == {"home", "away"}
    assert len(live.pairs) == 2 * 10 * 9
    assert {sentence.split(",")[0] for sentence in live_answers(findings, live)} == {"From home", "From away"}
    assert findings.slopes == []  # no round trip is known of a vantage point


def test_the_page_says_what_there_is_and_leaves_out_what_only_the_lab_has(both: Path) -> None:
    html = make_report(both).page.read_text()
    for name in ("live_fig1_home", "live_fig1_away", "live_fig2_home", "live_fig2_away", "amortisation"):
        assert f'<figure id="{name}">' in html
    assert html.index("Live, from vantage point home") < html.index("no other configuration is told to be faster")
    for absent in ("closed form ms", "Cold DNS exchange</summary>", "Access profiles", "handshake reached", "lateness"):
        assert absent not in html
    assert "<th>vantage point</th>" in html
    assert "<th>profile</th>" not in html
    assert "not known" in html  # handshakes that no log told


def test_runs_that_differ_in_more_than_their_place_are_not_merged(home: Path, tmp_path: Path) -> None:
    other = make_live_dataset(tmp_path / "other", Truth(place="away", name="other"))
    manifest = load_manifest(other)
    text = manifest.plan_text.replace("198.18.3.1", "198.18.4.1")
    save_manifest(other, msgspec.structs.replace(manifest, plan_text=text))
    with pytest.raises(Exception, match=r"its plan differs from that of .* in 'resolvers'"):
        merge_datasets(tmp_path / "d", [home, other])


def test_the_terminal_shows_the_ground_and_the_lookups(home: Path) -> None:
    build_tables(home)
    with open_dataset(home) as dataset:
        findings = analyse(dataset)
        live = live_findings(dataset, findings)
    console = Console(width=160, record=True, file=None)
    with console.capture() as capture:
        console.print(terminal_summary(findings, live))
    shown = capture.get()
    assert "Live, from vantage point home" in shown
    (row,) = (line for line in shown.splitlines() if line.startswith("home, far, DoT, cold"))
    assert re.fullmatch(r"home, far, DoT, cold +8 +0 +270\.\d \[270\.0, 270\.\d\] *", row)
    assert re.search(r"\n  DoT, far +\+\d", shown)
    assert "Cold DNS exchange" not in shown


def test_export_waterfall_and_archives_work(home: Path, tmp_path: Path) -> None:
    assert main(["export", str(home), "--out", str(tmp_path / "x")]) == 0
    assert (tmp_path / "x" / "pings.csv").read_text().count("\n") == SITES_COUNT * 10 + 1
    assert main(["waterfall", str(home)]) == 0
    assert main(["har", str(home), "-o", str(tmp_path / "har")]) == 0
    archive = json.loads(next((tmp_path / "har").glob("*.har")).read_text())
    assert len(archive["log"]["entries"]) == 4
    assert "over the real network" in (home / "README.md").read_text()


def test_compare_takes_one_place_and_says_so_of_two(
    home: Path, both: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    later = make_live_dataset(tmp_path / "later", Truth(place="home", farther_ms=20.0, name="later"))
    assert main(["compare", str(home), str(later)]) == 0
    assert "all-pages.home.dot.any.full.firefox.far" in capsys.readouterr().out
    away = make_live_dataset(tmp_path / "away", Truth(place="away", name="away"))
    assert main(["compare", str(home), str(away)]) == 3
    assert "different vantage points, whose clocks and networks are never compared" in " ".join(
        capsys.readouterr().out.split()
    )


@pytest.mark.parametrize(
    "truth", [Truth(knows_caches=False, rounds=2), Truth(with_lookups=False)], ids=["caches", "loads"]
)
def test_what_is_not_known_is_said_in_a_line(truth: Truth, tmp_path: Path) -> None:
    folder = make_live_dataset(tmp_path / "d", truth, sites_count=6)
    html = build_report(folder).read_text()
    if truth.with_lookups:
        assert "hits and misses: the state of the cache is not known of any look-up" in html
        assert "look-ups, cached or not: DoUDP 22.1 ms" in html
    else:
        assert "live_fig1 and look-ups: no trial asked for its page&#39;s names" in html
        assert "amortisation: no resolver was asked over Do53 and over a connection" in html


def test_a_run_without_any_trial_has_a_report(tmp_path: Path) -> None:
    folder = make_live_dataset(tmp_path / "d", Truth(), sites_count=6)
    for file in (folder / "trials").iterdir():
        file.unlink()
    manifest = msgspec.structs.replace(load_manifest(folder), trials_finished_count=0)
    save_manifest(folder, manifest)
    html = build_report(folder).read_text()
    assert "Live, from vantage point box-home, no trial yet" in html
    assert "live_fig2: no two configurations loaded the same site" in html
