from pathlib import Path

import msgspec
import pytest

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.basics.records import (
    FORMAT_VERSION,
    DnsTransport,
    HandshakeMode,
    HttpVersion,
    ResolverPath,
    TrialEndRecord,
    TrialRecord,
)
from resolab.store import TrialWriter, create_dataset_folder, find_finished_trials, read_trial, trial_id

TRIAL = TrialRecord(
    format_version=FORMAT_VERSION,
    trial_id="b000-t001",
    block=0,
    position=1,
    condition="c",
    page="p",
    profile="4g",
    dns_transport=DnsTransport.DOQ,
    resolver_path=ResolverPath.STUB,
    http_version=HttpVersion.H3,
    requested_handshake_mode=HandshakeMode.FULL,
    monotonic_ns=5,
    wall_time_unix_ns=6,
    load_average_1min=0.0,
)
END = TrialEndRecord(trial_id="b000-t001", monotonic_ns=9, flags=[])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return create_dataset_folder(tmp_path / "d")


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / "trials").iterdir())


def test_a_file_has_its_final_name_only_when_whole(folder: Path) -> None:
    with TrialWriter(folder, TRIAL) as writer:
        assert names(folder) == ["b000-t001.jsonl.partial"]
        assert find_finished_trials(folder) == {}
        path = writer.finish(END)
    assert names(folder) == ["b000-t001.jsonl"]
    assert find_finished_trials(folder) == {"b000-t001": path}
    assert list(read_trial(path)) == [TRIAL, END]


def test_an_error_leaves_nothing_behind(folder: Path) -> None:
    with pytest.raises(RuntimeError, match="browser"), TrialWriter(folder, TRIAL):
        raise RuntimeError("browser")
    assert names(folder) == []


def test_a_full_disk_is_a_machine_error_and_leaves_nothing(folder: Path) -> None:
    (folder / "trials" / "b000-t001.jsonl.partial").symlink_to("/dev/full")
    with (
        pytest.raises(MachineError, match=r"No space left.*free some space") as caught,
        TrialWriter(folder, TRIAL) as writer,
    ):
        writer.finish(END)
    assert caught.value.exit_code == 4
    assert names(folder) == []


def test_a_killed_runs_partial_file_is_not_finished_and_is_overwritten(folder: Path) -> None:
    (folder / "trials" / "b000-t001.jsonl.partial").write_text('{"record":"tri')
    assert find_finished_trials(folder) == {}
    with TrialWriter(folder, TRIAL) as writer:
        path = writer.finish(END)
    assert list(read_trial(path)) == [TRIAL, END]


def test_a_finished_trial_is_never_rewritten(folder: Path) -> None:
    with TrialWriter(folder, TRIAL) as writer:
        writer.finish(END)
    with pytest.raises(ConfigurationError, match="already there"), TrialWriter(folder, TRIAL):
        pass
    assert names(folder) == ["b000-t001.jsonl"]


def test_writing_after_the_end_is_a_mistake(folder: Path) -> None:
    with TrialWriter(folder, TRIAL) as writer:
        writer.finish(END)
        with pytest.raises(ValueError, match="not open"):
            writer.write(TRIAL)


def test_trials_are_named_and_listed_in_order(folder: Path) -> None:
    assert trial_id(3, 17) == "b003-t017"
    for name in ("b001-t000", "b000-t002"):
        (folder / "trials" / f"{name}.jsonl").write_text("")
    assert list(find_finished_trials(folder)) == ["b000-t002", "b001-t000"]


def test_a_line_of_another_shape_is_named(folder: Path) -> None:
    file = folder / "trials" / "b000-t001.jsonl"
    file.write_bytes(msgspec.json.encode(TRIAL) + b'\n{"record":"trial_end","trial_id":3}\n')
    with pytest.raises(ConfigurationError, match=r"b000-t001\.jsonl line 2"):
        list(read_trial(file))
    file.write_bytes(msgspec.json.encode(msgspec.structs.replace(TRIAL, format_version="2.0")))
    with pytest.raises(ConfigurationError, match=r"its format is 2\.0"):
        list(read_trial(file))


def test_blocks_of_four_digits_come_after_those_of_three(folder: Path) -> None:
    ids = [trial_id(block, position) for block in (998, 999, 1000, 1001) for position in (0, 999, 1000)]
    for one in reversed(ids):
        (folder / "trials" / f"{one}.jsonl").touch()
    (folder / "trials" / "b000-copy.jsonl").touch()
    assert list(find_finished_trials(folder)) == [*ids, "b000-copy"]
