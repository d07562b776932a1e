"""What the comparisons say together, of data whose truth is known."""

from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.parts.effect_tables import effect_tables, slope_sentences
from resolab.report.parts.shift_functions import shift_drawing, shift_table
from resolab.store import build_tables, open_dataset

PROFILES = 'profile = ["fiber", "cable", "dsl", "4g", "4g-medium"]'
TEXT = PLAN_TEXT.replace('profile = ["fiber", "4g"]', PROFILES)


def findings_of(folder: Path, text: str, faults: Faults | None = None) -> Findings:
    make_dataset(folder, make_plan(text), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return findings_of(tmp_path_factory.mktemp("effects") / "d", TEXT + "[analysis]\nequivalence_margin_rtts = 0.5\n")


def test_slopes_are_the_round_trips_the_data_were_made_with(found: Findings) -> None:
    assert {one.profiles_count for one in found.slopes} == {5}
    for one in found.slopes:
        assert one.slope.value == pytest.approx(one.expected, abs=0.15)
        assert one.slope.n == 6
    of_start = {one.treatment.dns_transport: one for one in found.slopes if one.outcome.name == "response_start"}
    assert of_start["doh"].slope.ci_low is not None


def test_a_full_handshake_against_early_data_is_one_round_trip(found: Findings) -> None:
    gains = [one for one in found.slopes if one.baseline.requested_handshake_mode == "zero_rtt"]
    assert {one.treatment.dns_transport for one in gains} == {"doudp", "doh", "doq"}
    assert all(one.expected == pytest.approx(1.0) for one in gains)
    assert any("DoQ + H3 full takes +1.0" in sentence for sentence in slope_sentences(found))


def test_doq_with_early_data_is_alike_and_doh_is_not(found: Findings) -> None:
    told = {
        (one.treatment.dns_transport, one.treatment.requested_handshake_mode, one.treatment.profile): one.tested
        for one in found.equivalences
        if one.treatment.page == "example"
    }
    assert told["doq", "zero_rtt", "4g"].is_alike
    assert not told["doh", "full", "4g"].is_alike
    assert told["doq", "zero_rtt", "4g"].margin == pytest.approx(0.5 * found.rtt_ms["4g"])


def test_without_a_margin_nothing_is_called_alike_and_two_profiles_have_no_slope(tmp_path: Path) -> None:
    bare = findings_of(tmp_path / "d", PLAN_TEXT)
    assert (bare.equivalences, bare.slopes, bare.slow_loads) == ([], [], [])
    assert effect_tables(bare) == []


def test_a_plan_that_stops_by_what_it_sees_has_none_of_them(tmp_path: Path) -> None:
    stop = '[analysis]\nequivalence_margin_ms = 50\n[stop]\nrule = "confidence_sequence"\n'
    found = findings_of(tmp_path / "d", TEXT + stop, Faults(timeouts=True))
    assert (found.slopes, found.equivalences, found.slow_loads) == ([], [], [])


def test_failed_loads_are_slow(tmp_path: Path) -> None:
    late = findings_of(tmp_path / "d", PLAN_TEXT, Faults(timeouts=True))
    assert {one.treatment.dns_transport for one in late.slow_loads} == {"doq"}
    for one in late.slow_loads:
        both_in_time = one.found.difference.n - round(one.found.difference.n * (one.found.treatment.value or 0))
        assert one.neither_ms.n == both_in_time
        assert one.neither_ms.censored_count == 0
    (table,) = effect_tables(late)
    assert table.name == "slow_loads"
    assert len(table.rows) == len(late.slow_loads)


def test_quantiles_are_compared_from_twelve_blocks_on(tmp_path: Path) -> None:
    few = findings_of(tmp_path / "few", PLAN_TEXT)
    assert few.shifts == []
    assert shift_table(few) is None
    assert shift_drawing(few) is None
    many = findings_of(tmp_path / "many", PLAN_TEXT.replace("blocks = 6", "blocks = 12"))
    compared = len(many.plt.comparisons)
    assert len(many.shifts) == compared > 0
    table = shift_table(many)
    assert table is not None
    assert len(table.rows) == compared * 6
    # Twelve blocks tell the quartiles; P10, P90 and P95 stay empty.
    assert {tuple(bool(cell) for cell in row[5:]) for row in table.table.rows} == {
        (False, True, True, True, False, False)
    }
    drawing = shift_drawing(many)
    assert drawing is not None
    assert "12" in drawing.caption


def test_a_shift_of_all_loads_alike_is_level(tmp_path: Path) -> None:
    many = findings_of(tmp_path / "d", PLAN_TEXT.replace("blocks = 6", "blocks = 20"))
    doh = next(one for one in many.shifts if one.treatment.dns_transport == "doh" and one.treatment.profile == "4g")
    by_median = next(
        one.difference_ms.value
        for one in many.plt.comparisons
        if (one.comparison.treatment, one.comparison.baseline) == (doh.treatment, doh.baseline)
    )
    for quantile in doh.found:
        assert quantile.difference.value == pytest.approx(by_median, rel=0.4)
