"""A plan's own software that fails: each case is classified or one line with the program's last words; nothing is left."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from lab import COMMAND, ROOT, wait_until

from resolab.basics.errors import MachineError
from resolab.basics.records import Failure, QueryRecord, SoftwareRecord, TrialFlag
from resolab.lab.software.identity import describe_software
from resolab.lab.software.process import SoftwareProcess
from resolab.plan import Corpus, Plan, parse_plan
from resolab.trials.exchange.runner import ExchangeRunner
from resolab.trials.trial_result import TrialResult

pytestmark = [pytest.mark.privileged, pytest.mark.slow, pytest.mark.usefixtures("lab_is_clean")]

FAKE = Path(__file__).resolve().parents[1] / "fake_resolver.py"
TEXT = """
name = "own"
question = "?"
kind = "exchange"
seed = 1
blocks = 1
[factors]
profile = ["ideal"]
dns_transport = ["doudp"]
resolver_software = ["edge", {names}]
[baseline]
resolver_software = "edge"
"""
TABLE = """
[software.{name}]
command = ["/usr/bin/python3", "-I", "@CONFIGURATION@", "{mode}"]
configuration = "{file}"
transports = [{transports}]
ready_s = {ready_s}
cache = "{cache}"
"""

MISSING = """
[software.gone]
command = ["no-such-resolver"]
transports = ["doudp"]
"""


def make_plan(
    *modes: str, transports: str = '"doudp"', ready_s: float = 10, cache: str = "warm", file: Path = FAKE
) -> Plan:
    tables = "".join(
        TABLE.format(name=mode, mode=mode, file=file, transports=transports, ready_s=ready_s, cache=cache)
        for mode in modes
    )
    text = TEXT.format(names=", ".join(f'"{mode}"' for mode in modes)) + tables
    return parse_plan(text, "own.toml", Corpus.from_project(), base=FAKE.parent)


def list_fakes() -> list[str]:
    commands = (Path(entry.path, "cmdline") for entry in os.scandir("/proc") if entry.name.isdigit())
    found = []
    for file in commands:
        try:
            words = file.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"/usr/bin/python3", b"-I"]:
            found.append(b" ".join(words).decode())
    return found


async def _use(plan: Plan, use: Callable[[ExchangeRunner, Plan], Awaitable[list[TrialResult]]]) -> list[TrialResult]:
    async with ExchangeRunner(plan, Corpus.from_project(), 1) as runner:
        return await use(runner, plan)


def run(plan: Plan, use: Callable[[ExchangeRunner, Plan], Awaitable[list[TrialResult]]]) -> list[TrialResult]:
    results = asyncio.run(_use(plan, use))
    assert list_fakes() == []
    return results


def run_trials(plan: Plan, level: str, count: int = 1) -> list[TrialResult]:
    async def use(runner: ExchangeRunner, plan: Plan) -> list[TrialResult]:
        condition = next(one for one in plan.conditions() if one.resolver_software == level)
        return [await runner.run_trial(condition, f"000-{number}") for number in range(count)]

    return run(plan, use)


def find_software_record(result: TrialResult) -> SoftwareRecord:
    return next(one for one in result.records if isinstance(one, SoftwareRecord))


def find_query(result: TrialResult) -> QueryRecord:
    return next(one for one in result.records if isinstance(one, QueryRecord))


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_a_trial_asks_the_software_and_records_its_work(privileged: None, cache: str) -> None:
    (result,) = run_trials(make_plan("answers", cache=cache), "answers")
    told = find_software_record(result)
    assert find_query(result).addresses == ["10.77.1.1"]
    assert (find_query(result).resolver_address or "").startswith("10.77.255.1:")
    assert (told.name, told.restarts_count, told.last_words) == ("answers", 0, None)
    assert (told.memory_bytes or 0) > 1_000_000
    assert 0 < (told.processor_time_ns or 0) < 1_000_000_000
    assert not set(result.flags) - {TrialFlag.LATENESS_EXCEEDED}


def test_the_software_is_an_ordinary_user_without_capabilities(privileged: None) -> None:
    async def use(runner: ExchangeRunner, plan: Plan) -> list[TrialResult]:
        process = next(iter(runner.lab.software._slots.values())).process
        assert process is not None
        (pid,) = process._list_programs()
        status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text("utf-8").splitlines())
        assert status["Uid"].split()[0] == "65534"
        assert {status[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        return []

    run(make_plan("answers"), use)


def test_a_death_is_flagged_with_the_last_words_and_the_next_trial_starts_it_again(privileged: None) -> None:
    first, second = run_trials(make_plan("dies"), "dies", count=2)
    assert first.failed
    assert TrialFlag.SOFTWARE_ENDED in first.flags
    assert find_software_record(first).last_words == ["listening", "fatal: out of luck"]
    assert find_software_record(first).memory_bytes is None
    assert find_software_record(second).restarts_count == 1


def test_a_hanging_program_fails_its_queries_and_the_run_goes_on(privileged: None) -> None:
    async def use(runner: ExchangeRunner, plan: Plan) -> list[TrialResult]:
        edge, own = plan.conditions()
        process = next(iter(runner.lab.software._slots.values())).process
        assert process is not None
        (pid,) = process._list_programs()
        os.kill(pid, signal.SIGSTOP)
        return [await runner.run_trial(own, "000-0"), await runner.run_trial(edge, "000-1")]

    hung, after = run(make_plan("answers"), use)
    assert find_query(hung).failure is Failure.QUERY_TIMEOUT
    assert hung.failed
    assert TrialFlag.SOFTWARE_ENDED not in hung.flags
    assert not after.failed


def test_servfail_in_a_trial_is_the_answer_and_the_program_stays(privileged: None) -> None:
    (result,) = run_trials(make_plan("servfail-later"), "servfail-later")
    assert find_query(result).rcode == "SERVFAIL"
    assert result.failed
    assert TrialFlag.SOFTWARE_ENDED not in result.flags
    assert TrialFlag.CACHE_NOT_WARM in result.flags
    assert find_software_record(result).last_words is None


@pytest.mark.parametrize(
    ("mode", "cache", "addresses"),
    [
        # The last number is the count of questions so far: the program keeps this count in a file of its folder.
        ("counts", "warm", ["10.77.1.2", "10.77.1.4"]),
        ("counts", "cold", ["10.77.1.1", "10.77.1.1"]),
        ("servfail-once", "warm", ["10.77.1.3", "10.77.1.5"]),
    ],
)
def test_a_warm_cache_was_asked_and_a_cold_one_has_nothing_of_the_trial_before(
    privileged: None, mode: str, cache: str, addresses: list[str]
) -> None:
    results = run_trials(make_plan(mode, cache=cache), mode, count=2)
    assert [find_query(one).addresses for one in results] == [[one] for one in addresses]
    assert not {TrialFlag.CACHE_NOT_WARM} & {flag for one in results for flag in one.flags}


def test_a_death_between_the_trials_of_the_software_is_in_the_next_record_alone(privileged: None) -> None:
    async def use(runner: ExchangeRunner, plan: Plan) -> list[TrialResult]:
        edge, own = plan.conditions()
        before = await runner.run_trial(own, "000-0")
        process = next(iter(runner.lab.software._slots.values())).process
        assert process is not None
        (pid,) = process._list_programs()
        os.kill(pid, signal.SIGKILL)
        await runner.run_trial(edge, "000-1")
        return [before, await runner.run_trial(own, "000-2"), await runner.run_trial(own, "000-3")]

    results = run(make_plan("answers"), use)
    assert [TrialFlag.SOFTWARE_ENDED in one.flags for one in results] == [False, True, False]
    assert [find_software_record(one).last_words for one in results] == [None, ["listening"], None]
    assert [find_software_record(one).restarts_count for one in results] == [0, 1, 1]
    assert not any(one.failed for one in results)


def test_a_program_that_is_not_installed_is_one_line_before_the_run() -> None:
    plan = parse_plan(TEXT.format(names='"gone"') + MISSING, "own.toml", Corpus.from_project(), base=FAKE.parent)
    with pytest.raises(MachineError) as caught:
        describe_software(plan.software)
    line = "software gone: program no-such-resolver is not on this machine; give the path of a program"
    assert str(caught.value) == line


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"modes": ["ends"]}, ["software ends did not start", "exit code 1", "line 3: unknown word 'listn'"]),
        ({"modes": ["servfail"], "ready_s": 1}, ["no good answer within 1 s", "doudp (the answer was SERVFAIL)"]),
        (
            {"modes": ["answers"], "ready_s": 1, "transports": '"doudp", "dot"'},
            ["over dot (tcp_connect_refused)", "it said: listening", "name only transports it speaks"],
        ),
        (
            {"modes": ["wrong-name"], "ready_s": 2, "transports": '"doudp", "dot"'},
            ["no good answer within 2 s over dot (tls_certificate_invalid)", "it said: listening"],
        ),
    ],
    ids=["syntax error", "SERVFAIL", "a setting that is ignored", "wrong certificate"],
)
def test_a_start_that_fails_is_one_line_with_the_last_words(privileged: None, plan: dict, words: list[str]) -> None:
    modes = plan.pop("modes")
    with pytest.raises(MachineError) as caught:
        run_trials(make_plan(*modes, **plan), modes[0])
    assert [word for word in words if word not in str(caught.value)] == []
    assert "\n" not in str(caught.value)
    assert list_fakes() == []


def test_a_leftover_at_the_address_is_found_before_the_start(privileged: None) -> None:
    async def use(runner: ExchangeRunner, plan: Plan) -> list[TrialResult]:
        rack, condition = runner.lab.software, plan.conditions()[1]
        slot = next(iter(rack._slots.values()))
        # The lab no longer knows this process: it shares the port by SO_REUSEPORT, without an error.
        leftover, slot.process = slot.process, None
        assert isinstance(leftover, SoftwareProcess)
        try:
            with pytest.raises(MachineError, match=r"10\.77\.255\.1:53 of the server's host is taken"):
                await runner.run_trial(condition, "000-0")
        finally:
            await leftover.close()
        return [await runner.run_trial(condition, "000-1")]

    (after,) = run(make_plan("answers"), use)
    assert not after.failed


def test_a_run_killed_by_force_takes_its_software_along(privileged: None, tmp_path: Path) -> None:
    tables = TABLE.format(name="answers", mode="answers", file=FAKE, transports='"doudp"', ready_s=10, cache="warm")
    plan = tmp_path / "own.toml"
    plan.write_text(TEXT.format(names='"answers"') + tables)
    command = [*COMMAND, "run", str(plan), "--blocks", "50", "--out", str(tmp_path / "out")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            wait_until(lambda: bool(list_fakes()), 60)
        finally:
            running.kill()
    wait_until(lambda: list_fakes() == [], 10)
