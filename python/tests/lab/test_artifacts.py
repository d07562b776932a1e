"""Each trial's packets and keys come into files of its own, whatever becomes of the trial."""

import asyncio
from pathlib import Path

import pytest

from resolab.basics.errors import MachineError, StorageError
from resolab.lab.artifacts import NO_FILES, NOTHING_KEPT, KeptFolders, TrialFileKeeper


class FakePath:
    """A path that captures into the file it is told, and refuses one that is there."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def start_capture(self, file: Path) -> None:
        assert not file.exists()
        file.write_bytes(b"packets")
        self.told.append("start")

    async def stop_capture(self) -> None:
        self.told.append("stop")


@pytest.fixture
def keeper(tmp_path: Path) -> TrialFileKeeper:
    kept = KeptFolders(capture_folder=tmp_path / "d" / "captures", key_log_folder=tmp_path / "d" / "key_logs")
    kept.make_folders()
    return TrialFileKeeper(kept, tmp_path)


def append(keeper: TrialFileKeeper, text: str) -> None:
    assert keeper.key_log_file is not None
    with keeper.key_log_file.open("a") as log:
        log.write(text)


async def trial(
    keeper: TrialFileKeeper, path: FakePath, name: str, keys: str = "", error: Exception | None = None
) -> Path:
    async with keeper.keep(path, name) as files:  # type: ignore[arg-type]
        append(keeper, keys)
        if error is not None:
            raise error
    assert files.capture_file is not None
    assert files.key_log_file is not None
    assert files.capture_file.name == f"{name}.pcapng"
    return files.key_log_file


def test_keys_are_those_of_the_trial_alone_and_nobody_elses_to_read(keeper: TrialFileKeeper) -> None:
    path = FakePath()
    append(keeper, "of a rehearsal\n")
    first, second = (asyncio.run(trial(keeper, path, f"b000-t{n}", f"key {n}\n")) for n in (0, 1))
    assert (first.read_text(), second.read_text()) == ("key 0\n", "key 1\n")
    assert keeper.key_log_file is not None
    assert not [file for file in (first, second, keeper.key_log_file) if file.stat().st_mode & 0o077]
    assert path.told == ["start", "stop"] * 2


def test_a_trial_that_is_repeated_replaces_what_was_kept_of_it(keeper: TrialFileKeeper) -> None:
    path = FakePath()
    with pytest.raises(MachineError, match="the edge died"):
        asyncio.run(trial(keeper, path, "b000-t0", "of the first\n", MachineError("the edge died")))
    assert path.told == ["start", "stop"]  # the link goes on, and so would its capture
    assert asyncio.run(trial(keeper, path, "b000-t0", "of the second\n")).read_text() == "of the second\n"


def test_keys_that_cannot_be_written_are_a_failure_of_the_storage(keeper: TrialFileKeeper, tmp_path: Path) -> None:
    (tmp_path / "d" / "key_logs").rmdir()
    with pytest.raises(StorageError, match=r"failed to write .*give another folder"):
        asyncio.run(trial(keeper, FakePath(), "b000-t0"))


def test_who_asks_for_nothing_gets_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        keeper = TrialFileKeeper(NOTHING_KEPT, tmp_path)
        assert keeper.key_log_file is None
        async with keeper.keep(FakePath(), "b000-t0") as files:  # type: ignore[arg-type]
            assert files == NO_FILES

    asyncio.run(scenario())
    assert not list(tmp_path.iterdir())
