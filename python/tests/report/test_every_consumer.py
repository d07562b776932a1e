"""Whatever reads conditions, outcomes, failures or flags handles each there is: a new one fails here until it does.

For: lists that follow from one declaration, walked level by level. Not for: the declaration itself
(`plan/test_every_factor`).
"""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from synthetic_dataset import PLAN_TEXT, make_plan

from resolab.basics.records import (
    TRIAL_FLAG_MEANINGS,
    ConnectionSharing,
    DnsTransport,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    ResolverPath,
    TrialFlag,
)
from resolab.campaign.power import _levels
from resolab.plan import Condition, OutcomeName
from resolab.plan.condition import DECLARED
from resolab.plan.factor import FactorSubject
from resolab.plan.factors import EVERY_FACTOR, LOAD_FACTORS, OPTIONAL_FACTORS, QUERY_FACTORS, applies, select_factors
from resolab.report.findings.findings import ExchangeResult
from resolab.report.live.configurations.further_levels import FurtherLevels
from resolab.report.live.configurations.loads import arrange
from resolab.report.live.failures import STATUSES
from resolab.report.parts.labels import _OF_THE_LAB
from resolab.store.columns import list_columns
from resolab.store.outcomes import OUTCOMES, PLT, SAY_NOTHING
from resolab.store.query_times.distributions import _USUAL_KEYS
from resolab.store.rows import ExchangeRow
from resolab.store.trial_loads import ResolverRow, TrialLoadRow
from resolab.studies.h20.load_status import _STATUSES
from resolab.studies.h20.queries import ExchangeMedianRow, QueryCostRow
from resolab.studies.s24 import scope
from resolab.studies.s24.scope import choose_scope, combination_in_paper

PROJECT = Path(__file__).resolve().parents[3]
PATHS = (
    Condition(
        page="example", profile="4g", dns_transport=DnsTransport.DOH, http_version=HttpVersion.H3,
        requested_handshake_mode=HandshakeMode.FULL, resolver_path=path,
    )
    for path in ResolverPath
)  # fmt: skip
BASES = [one for path in PATHS for one in (path, replace(path, connection_sharing=ConnectionSharing.ORIGIN_FRAME))]
PAPERS = replace(BASES[0], page="wikipedia", dns_transport=DnsTransport.DOQ)


def other_levels(factor: str, than: object) -> Iterator[Any]:
    """List the factor's other levels, one for names and numbers."""
    words = DECLARED[factor].words
    levels = [DECLARED[factor].parse_level(word) for word in words or ()] or [DECLARED[factor].kind(0.5)]
    return (level for level in levels if level != than)


def apart(factor: str) -> tuple[Condition, Condition]:
    """Find two conditions that differ in one factor alone, where its level says something of both."""
    return next(
        (one, other)
        for one in BASES
        if applies(factor, one)
        for level in other_levels(factor, getattr(one, factor))
        for other in [replace(one, **{factor: level})]
        if applies(factor, other)
    )


def row_of(condition: Condition, block: int, plt_ms: float) -> TrialLoadRow:
    """Make a load of a condition."""
    return TrialLoadRow(
        trial_id=f"b{block}-{condition.id}", block=block, condition=condition.id,
        **{factor: getattr(condition, factor) for factor in LOAD_FACTORS},
        loaded=True, limit_ms=30_000.0, failure=None, times_ms=dict.fromkeys(OUTCOMES) | {"plt": plt_ms}, names_count=1,
    )  # fmt: skip


@pytest.mark.parametrize("factor", LOAD_FACTORS)
def test_no_load_of_a_level_is_dropped_or_pooled_with_another_levels(factor: str) -> None:
    one, other = apart(factor)
    rows = [row_of(arm, block, ms) for block in range(4) for arm, ms in ((one, 10.0), (other, 20.0))]
    arms = [arm for arms in arrange(rows, PLT).values() for arm in arms.values()]
    assert sum(map(len, arms)) == len(rows), f"{factor}: {len(rows) - sum(map(len, arms))} loads are left out"
    of_the_page = DECLARED[factor].about.subject is FactorSubject.PAGE
    for arm in arms:
        levels = {getattr(row, factor) for row in arm.values()}
        # Of the page, both levels stand in one arm, and each pair is of one of them.
        assert len(levels) == (2 if of_the_page else 1), f"{factor}: loads of {levels} are one configuration"
        pairs = {(key[0], getattr(row, factor)) for key, row in arm.items()}
        assert len(pairs) == len(arm)


@pytest.mark.parametrize(
    "factor", [one for one in select_factors(FactorSubject.CLIENT, FactorSubject.LOOK_UP) if one in LOAD_FACTORS]
)
def test_table_1_and_the_live_statuses_name_the_level(factor: str) -> None:
    one, other = apart(factor)
    further = FurtherLevels([one, other])
    assert factor == "dns_transport" or further.read_levels(one) != further.read_levels(other)


@pytest.mark.parametrize("factor", LOAD_FACTORS)
def test_no_load_of_a_level_that_the_paper_had_not_stands_for_its(factor: str) -> None:
    papers = combination_in_paper(PAPERS)
    assert papers == ("doq", "full")
    for level in other_levels(factor, getattr(PAPERS, factor)):
        found = combination_in_paper(replace(PAPERS, **{factor: level}))
        if factor in {"dns_transport", "requested_handshake_mode"}:
            assert found not in {None, papers}
        elif factor in {"page", "profile", *scope._UNTOLD}:
            assert found == papers, (
                "how a client does it is nothing the paper varied: of several one is drawn and named"
            )
        else:
            assert found is None, f"{factor} {level} stands beside the paper's numbers"


def test_what_a_plan_has_beside_the_papers_levels_is_counted_and_named() -> None:
    text = PLAN_TEXT.replace("[resolver_path]", "resolver_miss_ratio = [0.0, 0.25]\n[resolver_path]")
    found = choose_scope(make_plan(text))
    drawn = sum(len(cell) for cell in found.cells.values())
    assert (found.unlike_count, found.left_out_count) == (drawn, 0)
    assert found.note.endswith("that the paper's loads did not have: left out, with resolver_miss_ratio 0.25.")


@pytest.mark.parametrize("factor", LOAD_FACTORS)
def test_a_pilot_is_found_by_every_level(factor: str) -> None:
    one, other = apart(factor)
    assert _levels(one) != _levels(other)


@pytest.mark.parametrize("shape", [QueryCostRow, ExchangeMedianRow, ExchangeRow, ExchangeResult])
def test_rows_of_queries_have_all_that_queries_depend_on(shape: type) -> None:
    names = {one.name for one in (fields if shape is ExchangeResult else msgspec.structs.fields)(shape)}
    assert set(QUERY_FACTORS) <= names
    assert set(QUERY_FACTORS) <= _USUAL_KEYS


def test_every_factor_is_of_one_subject_and_every_row_has_it() -> None:
    assert sorted(select_factors(*FactorSubject)) == sorted(EVERY_FACTOR)
    assert set(LOAD_FACTORS) <= {one.name for one in msgspec.structs.fields(TrialLoadRow)}
    assert set(EVERY_FACTOR) <= {one.name for one in list_columns("trials")}
    assert {one.name for one in msgspec.structs.fields(ResolverRow)} == set(select_factors(FactorSubject.RESOLVER))
    assert set(OPTIONAL_FACTORS) > _OF_THE_LAB


def test_every_failure_outcome_and_flag_is_handled() -> None:
    assert {str(one) for one in OutcomeName} == set(OUTCOMES)
    assert set(_STATUSES) == {*PageFailure, "no_measured_load"}
    assert {*STATUSES, "http_status"} == set(PageFailure)
    assert set(PageFailure) >= SAY_NOTHING
    assert set(TRIAL_FLAG_MEANINGS) == set(TrialFlag)


WORDS: Mapping[str, frozenset[str]] = {
    "factors": frozenset(EVERY_FACTOR) - {"page", "profile", "resolver", "browser", "speculation"},
    "outcomes": frozenset(OUTCOMES),
    "failures": frozenset(map(str, PageFailure)) - {"dns", "connect", "tls", "other", "driver"},
    "flags": frozenset(map(str, TrialFlag)),
}
"""Without words that mean something else, too."""
OF_ITS_OWN: Mapping[str, str] = {
    "python/resolab/cli/plan/arguments.py": "spares `--help` an import; test_arguments.py holds it to the factors",
    "python/resolab/plan/analysis.py": "plans know no store; the outcomes are compared above",
    "python/resolab/plan/live/network.py": "which factors a live plan may have",
    "python/resolab/plan/support.py": "which levels go together",
    "python/resolab/studies/h20/responses.py": "columns of its figures' tables, beside all that queries depend on",
    "python/resolab/studies/h20/load_status.py": "compared above",
    "python/resolab/report/live/failures.py": "compared above",
    "python/resolab/store/outcomes.py": "a cold look-up with a full handshake, whatever else varies",
    "python/resolab/store/queries.py": "counts by the columns that a table shows, whatever else varies",
    "python/resolab/extras/fidelity/lab.py": "writes a plan",
    "python/resolab/trials/page_load/first_load.py": "writes a plan",
    "scripts/browser_noise.py": "writes a plan",
    "scripts/what_adjusting_saves.py": "reads published tables, whose older ones lack columns",
    "scripts/benches/internet/against_lab/comparison_files.py": "writes plans",
    "scripts/benches/analysis/dataset.py": "makes the levels of a dataset, and takes defaults for the rest",
}
"""Files that may list several by hand, and why."""


DECLARED_BY_STUDY = re.compile(r"python/resolab/studies/\w+/trials\.py")


def test_outcomes_are_found_by_name_and_never_taken_from_the_table() -> None:
    files = PROJECT.glob("python/resolab/**/*.py")
    taken = [one.name for one in files if "OUTCOMES[" in one.read_text("utf-8") and one.name != "outcomes.py"]
    assert not taken, f"use find_outcome: the table lacks the outcomes of studies: {taken}"


def _lists(tree: ast.AST) -> Iterator[Sequence[str]]:
    """Find the words of every literal list, tuple, set and table's keys, and of every statement of SQL."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "SELECT" in node.value:
            yield re.findall(r"\w+", node.value)
            continue
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            parts: Sequence[ast.expr | None] = node.elts
        elif isinstance(node, ast.Dict):
            parts = node.keys
        else:
            continue
        yield [one.value for one in parts if isinstance(one, ast.Constant) and isinstance(one.value, str)]


@pytest.mark.parametrize("kind", WORDS)
def test_nobody_lists_them_by_hand(kind: str) -> None:
    found: dict[str, list[str]] = {}
    for file in sorted([*PROJECT.glob("python/resolab/**/*.py"), *PROJECT.glob("scripts/**/*.py")]):
        name = file.relative_to(PROJECT).as_posix()
        # A study declares its factors.
        if name in OF_ITS_OWN or name.endswith("_generated.py") or DECLARED_BY_STUDY.fullmatch(name):
            continue
        for words in _lists(ast.parse(file.read_text("utf-8"))):
            listed = sorted(WORDS[kind] & set(words))
            # Two may be a pair that belongs together; three are a list that somebody forgets to lengthen.
            if len(listed) >= 3 and ("SELECT" in words or not _is_row(set(words) - WORDS[kind])):
                found.setdefault(name, []).extend(listed)
    assert not found, (
        f"{kind} listed by hand beside their declaration: take them from `resolab.plan.factors` or the enum"
    )


def _is_row(words: Collection[str]) -> bool:
    """Whether these are the columns of a table of results, which has numbers beside the levels."""
    return any(word.endswith(("_count", "_ratio", "_round_trips", "median_ms", "share_ratio")) for word in words)
