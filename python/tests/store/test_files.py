"""Files that only their owner reads, whoever else may write to their folder."""

from pathlib import Path

import pytest

from resolab.basics.errors import StorageError
from resolab.store.files import write_private


def test_a_private_file_is_its_owners_from_its_first_byte_on(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("of before, and open to all")
    file.chmod(0o666)
    write_private(file, b"secret")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"secret", 0o600)


@pytest.mark.parametrize("is_link", [False, True])
def test_what_somebody_puts_there_in_between_is_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_link: bool
) -> None:
    file, other = tmp_path / "keys", tmp_path / "other"
    other.write_text("theirs")

    def unlink(_file: Path, *, missing_ok: bool) -> None:
        assert missing_ok
        if is_link:
            file.symlink_to(other)
        else:
            file.write_text("")
            file.chmod(0o666)

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(StorageError, match="File exists"):
        write_private(file, b"secret")
    assert other.read_text() == "theirs"
    assert b"secret" not in file.read_bytes()
