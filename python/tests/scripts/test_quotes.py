"""Prose that takes its numbers from published tables: what is printed, and what fails."""

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import jinja2
import pytest

from quotes import __main__ as quote
from quotes.claims import Claims, counted, fisher, mean_of
from quotes.predicted import later, savings, whole_loads
from quotes.prose import counts_without_holm, given, holds, literal_numbers, render, unparted_causes
from quotes.published import PublishedDatasets
from quotes.words import estimate, number, percent
from resolab.report.sections.missing import AS_PUBLISHED
from resolab.stats import Sample, estimate_paired_difference

ROOT = Path(__file__).parents[3]
TRIALS = "trial_id,block,profile,dns_transport,flags\n"
LOADS = "trial_id,measured,plt_ms,failure,limit_ms\n"


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Six blocks: DoT is 10 to 15 ms slower; one load of its seventh block lacks resources, one timed out."""
    tables = tmp_path / "docs" / "results" / "run" / "tables"
    tables.mkdir(parents=True)
    trials, loads = TRIALS, LOADS
    for block in range(8):
        for transport, extra in (("doudp", 0), ("dot", 10 + block)):
            name = f"b{block}-{transport}"
            flags = "[resources_missing]" if (block, transport) == (6, "dot") else "[]"
            failure = "page_timeout" if (block, transport) == (7, "dot") else ""
            trials += f"{name},{block},4g,{transport},{flags}\n"
            loads += f"{name},false,1,,30000\n{name},true,{'' if failure else 100 + extra},{failure},30000\n"
    for name, text, lists in (("trials", trials, {"flags": "VARCHAR[]"}), ("page_loads", loads, {})):
        (tables / f"{name}.csv").write_text(text)
        duckdb.read_csv(str(tables / f"{name}.csv"), dtype=lists).write_parquet(str(tables / f"{name}.parquet"))
        (tables / f"{name}.csv").unlink()
    (tables.parent / AS_PUBLISHED).write_text(
        '<section id="a"><p>Two copies: 20 of 306, a share of 6.5 % [3.9, 10.1];</p><p>of Cliff&#39;s delta 1 of 9, 11.1 % '
        "[0.3, 48.2].</p>"
        "<table><tr><th>x</th><th>y</th></tr><tr><td>1</td><td>2 &lt; 3</td></tr></table></section>"
    )
    return tmp_path / "docs" / "results"


def arms(transport: str) -> tuple[dict[str, str], dict[str, str]]:
    return {"dns_transport": transport}, {"dns_transport": "doudp"}


def test_a_load_that_lacks_resources_is_at_least_its_limit(results: Path) -> None:
    found = PublishedDatasets(results).paired("run", "plt_ms", *arms("dot"))
    assert (found.n, found.censored_count) == (8, 2)
    expected = estimate_paired_difference(
        Sample.from_censored([110.0 + block for block in range(6)] + [None, None], [30_000.0] * 8),
        Sample.exact([100.0] * 8),
    )
    assert found == expected
    assert PublishedDatasets(results).decided("run", "plt_ms", *arms("dot")) == "longer"
    without = PublishedDatasets(results).paired("run", "plt_ms", *arms("dot"), complete_only=True)
    assert (without.n, without.censored_count) == (7, 1)


def test_only_measured_loads_count(results: Path) -> None:
    assert len(PublishedDatasets(results).loads("run")) == 16


def test_a_cell_must_be_one(results: Path) -> None:
    published = PublishedDatasets(results)
    assert published.cell("run/tables/trials", "block", trial_id="b3-dot") == 3
    with pytest.raises(LookupError, match="8 rows have"):
        published.cell("run/tables/trials", "block", dns_transport="dot")
    with pytest.raises(LookupError, match="0 loads in 0 blocks"):
        published.paired("run", "plt_ms", *arms("doq"))


def test_tables_of_a_report_are_read_as_printed(results: Path) -> None:
    assert PublishedDatasets(results).report_rows("run", "a") == [{"x": "1", "y": "2 < 3"}]


def test_shares_of_a_report_are_read_as_printed(results: Path) -> None:
    published = PublishedDatasets(results)
    names = ("count", "of", "share", "low", "high")
    assert tuple(published.report_share("run", "a", "copies:")[name] for name in names) == (20, 306, 6.5, 3.9, 10.1)
    assert published.report_share("run", "a", "of Cliff's delta")["high"] == 48.2
    for words in ("of the shift", "of"):
        with pytest.raises(LookupError, match="one is needed"):
            published.report_share("run", "a", words)


def test_numbers_are_printed_with_a_minus() -> None:
    assert (number(-1234.56), number(0.04, signed=True), percent(0.125, signed=True)) == (
        "\N{MINUS SIGN}1,234.6",
        "0.0",
        "+12.5",
    )
    bound = estimate_paired_difference(Sample.from_censored([None] * 6, [300.0] * 6), Sample.exact([100.0] * 6))
    assert estimate(bound) == "≥ +200 [+200, ∞]"


def test_a_number_bound_to_nothing_is_named() -> None:
    template = (
        "DoH over HTTP/3 on 4G: {{ x | number }} of 45 cells, H3 0-RTT\n`plans/7.toml` and {{ given('5 s', 'rfc') }}\n"
    )
    assert [one.partition(" is")[0] for one in literal_numbers(template)] == ["line 1: 45"]


def test_a_sentence_that_no_longer_holds_fails(results: Path, tmp_path: Path) -> None:
    template = tmp_path / "a.j2"
    template.write_text(
        "{{ holds(decided('run', 'plt_ms', {'dns_transport': 'dot'}, {'dns_transport': 'doudp'}) == 'shorter', saying='it is shorter') }}"
    )
    with pytest.raises(ValueError, match="no longer so: it is shorter"):
        render(template, results)
    assert holds(True, saying="so") == ""
    with pytest.raises(ValueError, match="needs the number's source"):
        given("5", " ")
    template.write_text("{{ nothing_of_the_kind }}")
    with pytest.raises(jinja2.UndefinedError):
        render(template, results)


def test_the_check_fails_when_a_quoted_number_is_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
) -> None:
    text, readme = tmp_path / "README.md", tmp_path / "claimed.md"
    text.write_text(re.sub(r"(\d+) loads", r"1\1 loads", quote.TEXT.read_text(), count=1))
    readme.write_text(quote.CLAIMED.read_text().replace("92 ms", "93 ms"))
    monkeypatch.setattr(quote, "TEXT", text)
    monkeypatch.setattr(quote, "CLAIMED", readme)
    monkeypatch.setattr(sys, "argv", ["quote", "--check"])
    before = text.read_text()
    assert quote.main() == 1
    said = capsys.readouterr().err
    assert "is not what its template says" in said
    assert "README.md does not say: On 4G (92 ms round trip)" in said
    assert text.read_text() == before


def test_what_is_published_is_quoted_as_it_is() -> None:
    ended = subprocess.run([ROOT / "scripts/quote", "--check"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_a_page_without_both_loads_has_no_saving() -> None:
    load = {"page": "github-2017-02", "dns_transport": "doq", "failure": None, "is_incomplete": False}
    loads = [{**load, "answer_push": "off", "plt_ms": 900.0}, {**load, "answer_push": "page_names", "plt_ms": 800.0}]
    other = {**load, "page": "bing-2024-07", "answer_push": "off", "plt_ms": 500.0}
    failed = {**other, "answer_push": "page_names", "failure": "page_timeout", "plt_ms": None}
    (found,) = savings(ROOT / "pages/corpus", [*loads, other, failed], 50.0)
    assert (found.predicted_ms, found.measured_ms) == pytest.approx((50.0, 100.0))
    assert found.beyond_ms == pytest.approx(50.0)


def test_whole_loads_stand_beside_what_pages_structures_say_of_them() -> None:
    load = {"page": "github-2017-02", "failure": None, "is_incomplete": False}
    loads = [{**load, "plt_ms": ms} for ms in (4_400.0, 4_300.0, 4_500.0)]
    (found,) = whole_loads(ROOT / "pages/corpus", [*loads, {**load, "plt_ms": 9_000.0, "failure": "timeout"}], "4g")
    assert found.measured_ms == 4_400
    # It took that in both browsers: docs/results/gathering.
    assert found.ratio == pytest.approx(1.0, abs=0.1)


def test_missed_names_are_those_that_the_run_drew() -> None:
    load = {"page": "github-2017-02", "dns_transport": "doudp", "failure": None, "is_incomplete": False}
    loads = [
        {**load, "resolver_miss_ratio": 0.0, "trial_id": "b002-t000", "plt_ms": 900.0},
        {**load, "resolver_miss_ratio": 1.0, "trial_id": "b002-t001", "plt_ms": 1_000.0},
    ]
    (found,) = later(ROOT / "pages/corpus", loads, (0.0, 1.0), seed=7, miss_delay_ms=40.0, rtt_ms=50.0)
    # All of its names late: the document's own and, of what it names, the latest.
    assert (found.predicted_ms, found.measured_ms) == pytest.approx((80.0, 100.0))
    some = [{**one, "resolver_miss_ratio": ratio} for one, ratio in zip(loads, (0.0, 0.3), strict=True)]
    drawn = [
        later(ROOT / "pages/corpus", some, (0.0, 0.3), seed=seed, miss_delay_ms=40.0, rtt_ms=50.0)[0].predicted_ms
        for seed in range(20)
    ]
    assert (min(drawn), max(drawn)) == pytest.approx((0.0, 80.0))
    assert 40 in map(round, drawn)
    assert later(ROOT / "pages/corpus", loads[:1], (0.0, 1.0), seed=7, miss_delay_ms=40.0, rtt_ms=50.0) == []


def test_the_check_fails_when_a_section_s_number_is_bound_to_no_table(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
) -> None:
    (tmp_path / "typed.j2").write_text("## Typed\n\n288 loads in {{ 3 }} hours\n")
    monkeypatch.setattr(quote, "SECTIONS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["quote", "--check"])
    assert quote.main() == 1
    assert "typed.j2: line 3: 288 is bound to no table" in capsys.readouterr().err


def test_what_is_shown_is_counted_with_and_without_holm() -> None:
    assert counted([0.004, 0.03, 0.2]) == {"n": 2, "after_holm": 1, "of": 3}


def test_a_median_is_shown_to_lie_near_a_value_or_not(results: Path) -> None:
    claims = Claims(PublishedDatasets(results))
    # Six of eight differences are 10 to 15 ms; two are at least the limit, beyond any margin.
    assert claims.within("run", "plt_ms", *arms("dot"), 5, around_ms=12.5) == pytest.approx(37 / 256)
    assert claims.within("run", "plt_ms", *arms("dot"), 5) > 0.9


def test_a_cause_needs_arms_that_part_it(results: Path) -> None:
    claims = Claims(PublishedDatasets(results))
    assert claims.parted("run", *arms("dot")) == ""
    with pytest.raises(ValueError, match=r"run has no loads of .*doq"):
        claims.parted("run", *arms("doq"))
    assert list(unparted_causes("It is later because of distance.")) == [
        "line 1: 'because' tells a cause; name the arms that part it by parted(...), or say less"
    ]
    assert list(unparted_causes("{{ parted('run', a, b) }}It is later because of distance.")) == []
    assert list(unparted_causes("It is later; that it comes of distance is not shown.\n{# because #}")) == []


def test_a_count_of_what_is_alike_has_its_count_after_holm() -> None:
    assert list(counts_without_holm("Shown to be alike in 7 of 15 (0 after Holm) cells.")) == []
    assert len(list(counts_without_holm("Shown to be alike in 7 of 15 cells."))) == 1


def test_the_first_byte_of_a_load_that_lacked_resources_was_seen(results: Path) -> None:
    loads = results / "run" / "tables" / "page_loads.parquet"
    fresh = loads.with_suffix(".new")
    duckdb.read_parquet(str(loads)).project("*, 50 AS response_start_ms").write_parquet(str(fresh))
    fresh.replace(loads)
    found = PublishedDatasets(results).paired("run", "response_start_ms", *arms("dot"))
    assert (found.n, found.censored_count) == (8, 1)  # The one that timed out.


def test_shares_and_means_have_their_tests() -> None:
    assert fisher((6, 8), (0, 8)) == pytest.approx(0.0070, abs=5e-5)
    found = mean_of([1.0, 2.0, 3.0], seed=1)
    assert found["value"] == 2.0
    assert 1.0 <= found["ci_low"] < 2.0 < found["ci_high"] <= 3.0
