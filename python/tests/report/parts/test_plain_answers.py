"""The first sentences of an answer: what is told from 0, what is not, and what went wrong."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.report import build_report
from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.parts.failure_sentences import flags_and_drops, trouble_sentence
from resolab.report.parts.plain_answers import (
    plain_answers,
    too_few_sentence,
)
from resolab.stats import holm, least_paired_p_value, pairs_for_significance
from resolab.store import build_tables, describe_environment, open_dataset


def analysed(folder: Path, faults: Faults | None = None, text: str = PLAN_TEXT) -> Findings:
    make_dataset(folder, make_plan(text), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        return analyse(dataset)


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return analysed(tmp_path_factory.mktemp("plain") / "d")


def test_each_combination_has_a_sentence_with_its_decided_and_undecided_places(findings: Findings) -> None:
    sentences = plain_answers(findings)
    assert len(sentences) == 5  # six combinations, one of them the baseline
    doh = next(one for one in sentences if one.startswith("DoH + H3 full against DoUDP + H3 full, page load time"))
    # Two round trips more everywhere, far beyond the noise; the clearest place stands first.
    assert "(median of the paired differences): longer in 4 of 4: " in doh
    assert "on 4g +18" in doh.partition("(median of the paired differences)")[2].partition(" ... ")[0]
    assert "(n = 6)" in doh
    assert "Holm" not in doh  # six pairs cannot be significant after it
    early = next(one for one in sentences if one.startswith("DoUDP + H3 0-RTT"))
    assert "shorter in " in early


def test_an_interval_that_contains_zero_is_undecided(findings: Findings) -> None:
    found = findings.primary
    unclear = [one for one in found.comparisons if one.difference_ms.ci_contains_zero]
    assert unclear  # DoQ + 0-RTT against DoUDP: a round trip more, one less
    same = next(one for one in plain_answers(findings) if one.startswith("DoQ + H3 0-RTT"))
    assert "undecided in " in same


def test_without_intervals_nothing_is_decided(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d", text=PLAN_TEXT.replace("blocks = 6", "blocks = 3"))
    for sentence in plain_answers(found):
        assert "longer" not in sentence
        assert sentence.endswith(": too few blocks to tell: 3 pairs where an interval takes 5.")


@pytest.mark.parametrize(
    ("analysis", "needed"),
    [
        ('[analysis]\nestimand = "shift"\n', 6),
        ('[analysis]\nestimand = "relative_change"\n', 8),
        ('[stop]\nrule = "confidence_sequence"\n', 8),
    ],
)
def test_what_an_interval_takes_is_what_its_estimand_takes(tmp_path: Path, analysis: str, needed: int) -> None:
    text = PLAN_TEXT.replace("blocks = 6", "blocks = 5") + analysis
    for sentence in plain_answers(analysed(tmp_path / "d", text=text)):
        assert sentence.endswith(f": too few blocks to tell: 5 pairs where an interval takes {needed}.")


def test_too_few_pairs_for_any_significance_are_told(findings: Findings) -> None:
    found = findings.primary
    sentence = too_few_sentence(found, 0.05)
    assert sentence is not None
    assert sentence.startswith(
        "With 6 pairs the test's least p is 0.031; corrected for 20 comparisons nothing could be"
    )
    assert "that takes 10 pairs" in sentence
    assert too_few_sentence(replace(found, comparisons=found.comparisons[:1]), 0.05) is None  # p = 0.031 alone


def test_where_pairs_suffice_the_sentence_says_what_is_left_after_holm(tmp_path: Path) -> None:
    text = PLAN_TEXT.replace("blocks = 6", "blocks = 10").replace('["example", "wikipedia"]', '["wikipedia"]')
    found = analysed(tmp_path / "d", text=text)
    doh = next(one for one in plain_answers(found) if one.startswith("DoH + H3 full"))
    assert "By signed ranks, after Holm's correction over 10 comparisons, 2 of these 2 stand." in doh
    assert too_few_sentence(found.primary, 0.05) is None


def test_the_number_of_pairs_is_the_least_that_holm_lets_through() -> None:
    for comparisons in (1, 2, 9, 20, 45, 500):
        pairs = pairs_for_significance(comparisons)
        for count, significant in ((pairs, True), (pairs - 1, False)):
            p_values = [least_paired_p_value(count)] + [1.0] * (comparisons - 1)
            assert (holm(p_values)[0] <= 0.05) == significant


def test_failures_flags_and_drops_stand_in_one_sentence(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d", Faults(timeouts=True, late=True))
    counted = sum(one.count for one in found.failures if one.kind == "page load")
    assert trouble_sentence(found) == (
        f"{counted} of 144 loads failed (page_timeout {counted}); flags, kept: lateness_exceeded 16; packets dropped by "
        "the link's queues: none."
    )
    dropped = [replace_drops(one, 9) for one in found.lateness]
    packets = dropped[0].packets_count
    assert f"{9 / packets:.2%} on {dropped[0].profile}" in trouble_sentence(replace(found, lateness=dropped))


def test_another_run_on_the_machine_is_told(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d")
    assert "other runs" not in trouble_sentence(found)
    beside = describe_environment(versions={})
    alone, two = (msgspec.structs.replace(beside, other_paths_count=count) for count in (0, 2))
    manifest = msgspec.structs.replace(found.manifest, environment_start=alone, environment_end=two)
    told = trouble_sentence(replace(found, manifest=manifest))
    assert told.endswith("; beside other runs on the machine (2 emulated paths).")


def test_what_policers_dropped_is_told_apart_from_the_queues(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d")
    first, *others = found.lateness
    policed = [msgspec.structs.replace(first, dropped_policer_count=7), *others]
    assert flags_and_drops(replace(found, lateness=policed)) == (
        f"flags, kept: none; packets dropped by the link's queues: none; by its policers: "
        f"{7 / first.packets_count:.2%} on {first.profile}"
    )


def test_a_profile_whose_packets_were_all_dropped_has_a_sentence(tmp_path: Path) -> None:
    found = analysed(tmp_path / "d")
    dropped = [
        msgspec.structs.replace(one, packets_count=0, dropped_queue_count=3)
        for one in found.lateness
        if one.profile == found.lateness[0].profile
    ]
    told = flags_and_drops(replace(found, lateness=dropped))
    assert f"queues: all packets on {dropped[0].profile}" in told


def replace_drops(row, count: int):
    return msgspec.structs.replace(row, dropped_queue_count=count)


def test_they_stand_folded_below_the_answer(tmp_path: Path) -> None:
    page = build_report(make_dataset(tmp_path / "d")).read_text()
    sentences = page.partition('<section id="sentences">')[2].partition("</section>")[0]
    comparisons = page.partition('<section id="comparisons">')[2].partition("</section>")[0]
    assert sentences.count("DoUDP + H3 full, page load time (median of the paired differences)") == 5
    assert comparisons.index("<ul>") < comparisons.index("Each condition against its baseline, tested")
    assert (
        "Behind it: 0 of 144 loads failed; flags, kept: none; packets dropped by the link&#39;s queues: none."
        in sentences
    )
    assert "p after Holm" in comparisons


def test_the_first_figure_is_of_the_outcome_that_decides(tmp_path: Path) -> None:
    text = PLAN_TEXT.replace("blocks = 6", "blocks = 8") + '[analysis]\nprimary = "response_start"\n'
    report = build_report(make_dataset(tmp_path / "d", make_plan(text)))
    figures = re.findall(r'<figure id="([^"]*)">', report.read_text())
    assert figures[0] == "answer-figure"
    assert len(figures) == len(set(figures))
    assert {"plt_change", "response_start_change"} <= set(figures)
    with (report.parent / "figures" / "answer.csv").open() as stream:
        assert {row["outcome"] for row in csv.DictReader(stream)} == {"response_start"}


def test_the_outcome_and_estimand_that_a_plan_declares_decide(tmp_path: Path) -> None:
    text = PLAN_TEXT.replace('["example", "wikipedia"]', '["wikipedia"]').replace("blocks = 6", "blocks = 8")
    declared = text + '[analysis]\nprimary = "response_start"\nestimand = "relative_change"\n'
    sentences = plain_answers(analysed(tmp_path / "d", text=declared))
    doh = next(one for one in sentences if one.startswith("DoH + H3 full"))
    assert "time to the page's first byte (relative change of the medians): longer in 2 of 2: " in doh
    assert " % [+" in doh
