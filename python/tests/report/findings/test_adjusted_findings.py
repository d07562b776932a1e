"""Adjusted comparisons of data whose truth is known: offered, refused, tabulated."""

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.report.findings.adjusted import adjust_comparisons
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.findings.parts import AdjustmentRefusal
from resolab.report.parts.adjusted import build_adjusted_tables
from resolab.store import build_tables, open_dataset
from resolab.store.outcomes import RESPONSE_START

TEXT = PLAN_TEXT.replace("blocks = 6", "blocks = 10")


def findings_of(folder: Path, text: str, faults: Faults | None = None) -> Findings:
    make_dataset(folder, make_plan(text), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return findings_of(tmp_path_factory.mktemp("adjusted") / "d", TEXT)


def moved(found: Findings, by: float) -> Findings:
    """Let a treatment take longer after the first byte, as it must not."""
    loads = [
        replace_times(load, load.times_ms["plt"] + by) if load.dns_transport == "doh" else load for load in found.loads
    ]
    settled = {load.condition for load in loads}
    return replace(found, adjusted=adjust_comparisons(found.plan, loads, settled), loads=loads)


def replace_times(load, plt: float):
    return msgspec.structs.replace(load, times_ms={**load.times_ms, "plt": plt})


def test_every_comparison_is_adjusted_by_both_parts(found: Findings) -> None:
    assert {one.part.name for one in found.adjusted} == {"after_last_byte", "after_first_byte"}
    assert len(found.adjusted) == 2 * len(found.plt.comparisons)
    for one in found.adjusted:
        assert (one.adjusted_ms is None) == (one.refused is not None)
        assert (one.refused is AdjustmentRefusal.MOVED) == (one.p_value <= 0.05)
        assert (one.refused is None) == (one.p_value > 0.05 and one.variance_ratio <= 0.5)
    offered = [one for one in found.adjusted if one.adjusted_ms is not None and one.part.name == "after_first_byte"]
    assert np.median([one.loads_ratio for one in offered]) < 0.4
    assert np.median([one.variance_ratio for one in offered]) < 0.4


def test_the_adjusted_difference_is_that_of_the_instant_the_data_were_made_with(found: Findings) -> None:
    first_byte = found.find_outcome(RESPONSE_START)
    assert first_byte is not None
    expected = {one.comparison.id: one.difference_ms.value for one in first_byte.comparisons}
    for one in found.adjusted:
        if one.adjusted_ms is not None and one.part.name == "after_first_byte":
            assert one.adjusted_ms.value == pytest.approx(expected[one.comparison.id], abs=4)


def test_the_plain_difference_stands_beside_it(found: Findings) -> None:
    plain = {one.comparison.id: one.difference_ms for one in found.plt.comparisons}
    assert all(one.plain_ms == plain[one.comparison.id] for one in found.adjusted)


def test_a_treatment_that_moves_the_part_is_refused(found: Findings) -> None:
    touched = [one for one in moved(found, 60.0).adjusted if one.comparison.treatment.dns_transport == "doh"]
    assert touched
    assert {one.refused for one in touched} == {AdjustmentRefusal.MOVED}


def test_waits_before_the_part_are_refused(found: Findings) -> None:
    loads = [
        msgspec.structs.replace(load, times_ms={name: time and time + 5_000 for name, time in load.times_ms.items()})
        if load.dns_transport == "doh" and load.block % 3 == 0
        else load
        for load in found.loads
    ]
    touched = adjust_comparisons(found.plan, loads, {load.condition for load in loads})
    reasons = {one.refused for one in touched if one.comparison.treatment.dns_transport == "doh"}
    assert reasons <= {AdjustmentRefusal.LITTLE, AdjustmentRefusal.MOVED}
    assert AdjustmentRefusal.LITTLE in reasons


def test_conditions_that_set_up_late_have_the_last_byte_only(found: Findings) -> None:
    parts = {one.part.name for one in adjust_comparisons(found.plan, found.loads, set())}
    assert parts == {"after_last_byte"}


def test_failed_loads_and_few_pairs_are_refused(tmp_path: Path) -> None:
    late = findings_of(tmp_path / "late", TEXT, Faults(timeouts=True))
    assert AdjustmentRefusal.FAILED in {one.refused for one in late.adjusted}
    few = findings_of(tmp_path / "few", PLAN_TEXT.replace("blocks = 6", "blocks = 5"))
    assert {one.refused for one in few.adjusted} <= {AdjustmentRefusal.TOO_FEW, AdjustmentRefusal.MOVED}


def test_a_plan_that_stops_by_what_it_sees_has_none(tmp_path: Path) -> None:
    stop = '[analysis]\nequivalence_margin_ms = 50\n[stop]\nrule = "confidence_sequence"\n'
    bare = findings_of(tmp_path / "d", TEXT + stop)
    assert (bare.adjusted, build_adjusted_tables(bare)) == ([], [])


def test_the_table_says_what_is_refused_and_what_is_saved(found: Findings) -> None:
    (table,) = build_adjusted_tables(moved(found, 60.0))
    assert any("refused: the treatment moves the part" in cells for cells in table.table.rows)
    assert "after the first byte 0." in table.note
    assert len(table.rows) == len(table.table.rows)
    row = next(one for one in table.rows if one["variance_ratio"] is not None and not one["refused"])
    assert {"part_shift_ms", "adjusted_ms", "adjusted_ci_low_ms", "instant_difference_ms"} <= row.keys()
    assert len({tuple(one) for one in table.rows}) == 1
