"""A connection that outlives its trial is seen in the next one: in the load's states, in the records kept, in the flags."""

import asyncio

import pytest
from browser_lab import measured, one_condition

from resolab.basics.records import ConnectionRecord, ConnectionState, TrialFlag
from resolab.lab import engine

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]


async def two_trials():
    async with one_condition("chromium", "stub", dns_transport="dot") as (testbed, condition):
        return [await testbed.run_trial(condition, trial) for trial in ("b000-t000", "b000-t001")]


def connections_of(result):
    return {record.connection_id for record in result.records if isinstance(record, ConnectionRecord)}


def test_closed_connections_leave_no_flag(privileged):
    for result in asyncio.run(two_trials()):
        assert set(result.flags) <= {TrialFlag.LATENESS_EXCEEDED}
        assert measured(result).dns_connection_state is ConnectionState.COLD


def test_a_connection_left_open_on_purpose_is_flagged_in_the_next_trial(privileged, monkeypatch):
    async def keep_open(self, *, forget_tickets):
        """Say that the stub's connection is closed, and leave it open."""

    monkeypatch.setattr(engine.Stub, "close_connections", keep_open)
    first, second = asyncio.run(two_trials())
    assert TrialFlag.DNS_CONNECTION_MISMATCH in second.flags
    assert TrialFlag.CONNECTION_RECORD_MISSING not in second.flags
    assert measured(second).dns_connection_state is ConnectionState.WARM
    assert connections_of(first) & connections_of(second)
