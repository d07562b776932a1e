"""The rack's view of a trial's end, and of addresses: without a lab."""

import asyncio
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from resolab.basics.errors import ResolabError
from resolab.basics.records import DnsTransport, SoftwareRecord, TrialFlag
from resolab.lab import layout
from resolab.lab.software import SoftwareRack, readiness
from resolab.lab.software.process import SoftwareProcess
from resolab.lab.software.rack import _Slot, compute_spent_ns
from resolab.lab.software.readiness import wait_until_ready
from resolab.plan.software import Software

MINE = Software(name="mine", command=("mine",), configuration="", transports=(DnsTransport.DOT,))
LATE = "import os, sys, time\nif os.fork() == 0:\n    time.sleep(0.5)\n    print('late')\n    sys.exit()\nos._exit(3)"


def test_the_last_words_are_complete_though_the_program_has_ended_before_all_were_read(tmp_path: Path) -> None:
    async def use() -> tuple[SoftwareRecord, list[TrialFlag], list[TrialFlag]]:
        rack = SoftwareRack({}, {})
        process = await SoftwareProcess.start("mine", [sys.executable, "-I", "-c", LATE], tmp_path)
        rack._slots["mine"] = _Slot(MINE, "10.77.255.1", tmp_path, process)
        while process.running:
            await asyncio.sleep(0.01)
        condition = SimpleNamespace(resolver_software="mine")
        (record,), flags = await rack.end_trial(condition)  # type: ignore[arg-type]
        assert isinstance(record, SoftwareRecord)
        _, again = await rack.end_trial(condition)  # type: ignore[arg-type]
        return record, flags, again

    record, flags, again = asyncio.run(use())
    assert record.last_words == ["late"]
    assert (flags, again) == ([TrialFlag.SOFTWARE_ENDED], [])


@pytest.mark.parametrize(
    ("began", "ended", "spent"), [(5, 9, 4), (5, 5, 0), (None, 9, None), (5, None, None), (9, 5, None)]
)
def test_processor_time_is_null_where_ended_threads_took_theirs_along(
    began: int | None, ended: int | None, spent: int | None
) -> None:
    assert compute_spent_ns(began, ended) == spent


def test_the_error_of_the_asking_client_is_in_the_line_about_silence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_given: object, **_further: object) -> list[object]:
        raise ResolabError("the query did not end within 5 s")

    monkeypatch.setattr(readiness.engine, "run_queries", fail)

    async def use() -> None:
        process = await SoftwareProcess.start("mine", ["sleep", "60"], tmp_path)
        target = layout.resolver(DnsTransport.DOT, tmp_path)
        try:
            await wait_until_ready(process, 1, {DnsTransport.DOT: target}, 0.1)
        finally:
            await process.close()

    with pytest.raises(ResolabError, match=r"over dot \(the query did not end within 5 s\)"):
        asyncio.run(use())


def test_every_resolver_has_an_address_of_its_own_and_an_unknown_one_has_none() -> None:
    assert layout.assign_resolver_addresses(["a", "b"]) == {
        "edge": "10.77.0.1", "a": "10.77.255.1", "b": "10.77.255.2",
    }  # fmt: skip
    with pytest.raises(ValueError, match="shorter"):
        layout.assign_resolver_addresses([str(number) for number in range(255)])
