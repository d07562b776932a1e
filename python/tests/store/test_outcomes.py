"""What a load contributes to an outcome: the same from a row of the tables as from its record."""

from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import Faults, make_dataset

from resolab.basics.records import INSTRUMENT_FAILURES, DnsTransport, HandshakeMode, PageFailure, PageLoadRecord
from resolab.plan import OutcomeName
from resolab.store import build_tables, find_finished_trials, open_dataset, read_trial
from resolab.store.outcomes import (
    FCP,
    LCP,
    LOAD_OUTCOMES,
    OUTCOMES,
    PLT,
    PLT_SUM,
    RESPONSE_START,
    SAY_NOTHING,
    Contribution,
    LoadOutcome,
    is_usable,
)
from resolab.store.rows import LoadRow
from resolab.store.trial_loads import trial_loads


def load(failure: str | None = None, *, loaded: bool = True, **times_ms: float) -> LoadRow:
    return LoadRow(
        trial_id="b0", block=0, condition="c", page="example", profile="4g", dns_transport="doudp", http_version="h3",
        requested_handshake_mode="full", resolver_path="native", loaded=loaded, handshake_mode="full",
        limit_ms=30_000.0 if loaded else None, failure=failure, times_ms=dict.fromkeys(OUTCOMES) | times_ms,
    )  # fmt: skip


def test_a_value_is_contributed_as_it_is() -> None:
    assert LCP.contribution(load(plt=2.0, lcp=1.0)) == Contribution(1.0, 30_000.0)


NETWORK = sorted({*PageFailure} - SAY_NOTHING)
REACHED = {"response_start": 9.0, "fcp": 10.0, "lcp": 11.0, "last_byte": 12.0, "plt": 13.0, "plt_sum": 14.0}


@pytest.mark.parametrize("failure", NETWORK)
@pytest.mark.parametrize("outcome", LOAD_OUTCOMES, ids=lambda one: one.name)
def test_a_load_the_network_failed_is_at_least_its_limit_even_of_what_it_had_reached(
    outcome: LoadOutcome, failure: str
) -> None:
    """But for a first byte that came before it failed: a part that is missing later did not move that one."""
    seen = outcome == RESPONSE_START and failure in {"incomplete", "page_timeout"}
    wanted = Contribution(9.0 if seen else None, 30_000.0)
    assert outcome.contribution(load(failure, **REACHED)) == wanted
    record = PageLoadRecord(
        url="https://a.test/", browser="chromium", browser_version="1", measured=True, limit_ms=30_000.0,
        requested_handshake_mode=HandshakeMode.FULL, failure=PageFailure(failure),
        **{OUTCOMES[name].column: value for name, value in REACHED.items()},
    )  # fmt: skip
    assert outcome.contribution_of_records([record]) == wanted


@pytest.mark.parametrize("failure", NETWORK)
def test_a_first_byte_that_never_came_is_at_least_its_limit(failure: str) -> None:
    assert RESPONSE_START.contribution(load(failure)) == Contribution(None, 30_000.0)


@pytest.mark.parametrize("failure", sorted(INSTRUMENT_FAILURES))
@pytest.mark.parametrize("outcome", LOAD_OUTCOMES, ids=lambda one: one.name)
def test_what_the_instrument_lost_contributes_nothing(outcome: LoadOutcome, failure: str) -> None:
    assert outcome.contribution(load(failure, plt=1.0, lcp=1.0)) is None
    assert outcome.contribution(load(loaded=False)) is None
    assert not is_usable(load(failure))


def test_what_a_browser_does_not_tell_is_left_out_but_a_load_event_must_come() -> None:
    untold = load()
    assert FCP.contribution(untold) is None
    assert PLT.contribution(untold) == RESPONSE_START.contribution(untold) == Contribution(None, 30_000.0)


@pytest.mark.parametrize("outcome", LOAD_OUTCOMES, ids=lambda one: one.name)
def test_a_record_its_row_and_the_row_of_a_study_contribute_the_same(tmp_path: Path, outcome: LoadOutcome) -> None:
    faults = Faults(timeouts=True, sums=True, paints=True, lost=True)
    folder = make_dataset(tmp_path / "d", faults=faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        rows, of_study = dataset.measured_loads(), trial_loads(dataset)
    files = find_finished_trials(folder)
    trials = [list(read_trial(files[row.trial_id])) for row in rows]
    told = [
        outcome.contribution_of_records(trial, DnsTransport(row.dns_transport))
        for trial, row in zip(trials, rows, strict=True)
    ]
    assert told == [outcome.contribution(row) for row in rows] == [outcome.contribution(row) for row in of_study]
    assert PageFailure.DRIVER in {row.failure for row in rows}
    assert any(one is not None and one.value_ms is None for one in told)


def test_a_sum_whose_exchange_failed_has_no_end() -> None:
    good = load(plt=1.0)
    failed = msgspec.structs.replace(good, exchange_failed=True)
    assert PLT_SUM.contribution(good) is None
    assert PLT_SUM.contribution(failed) == Contribution(None, 30_000.0)
    assert PLT.contribution(failed) == Contribution(1.0, 30_000.0)
    known = msgspec.structs.replace(failed, times_ms=failed.times_ms | {"plt_sum": 2.0})
    assert PLT_SUM.contribution(known) == Contribution(2.0, 30_000.0)


def test_the_exchange_of_a_sum_is_the_cold_one_over_its_transport(tmp_path: Path) -> None:
    folder = make_dataset(tmp_path / "d", faults=Faults(timeouts=True))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        rows = dataset.measured_loads()
    files = find_finished_trials(folder)
    for row in rows:
        told = PLT_SUM.contribution_of_records(list(read_trial(files[row.trial_id])), DnsTransport(row.dns_transport))
        assert told == PLT_SUM.contribution(row)
    of_good = {row.exchange_failed for row in rows if row.failure is None}
    assert of_good == {True, False}


def test_a_plan_can_name_every_outcome() -> None:
    assert [one.value for one in OutcomeName] == list(OUTCOMES)


def test_columns_end_with_their_unit() -> None:
    assert {one.unit for one in OUTCOMES.values()} == {"ms"}
    assert {one.column for one in LOAD_OUTCOMES} <= set(PageLoadRecord.__struct_fields__)
