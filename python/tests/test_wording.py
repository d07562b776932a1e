"""Numbers agree with their nouns; a mistyped word is asked after wherever it is refused."""

import errno

import pytest

from resolab.basics.errors import StorageError
from resolab.basics.wording import format_count, suggest_word
from resolab.cli.main import main
from resolab.store import machine_errors


def test_numbers_agree_with_their_nouns() -> None:
    assert [format_count(count, "block") for count in (0, 1, 2)] == ["0 blocks", "1 block", "2 blocks"]
    assert format_count(2, "query", "queries") == "2 queries"


def test_the_word_that_was_meant_is_asked_after_and_no_other() -> None:
    assert suggest_word("fibr", ["4g", "fiber"]) == "; did you mean 'fiber'?"
    assert suggest_word("zzz", ["4g", "fiber"]) == ""
    assert suggest_word("Do53", ["doudp", "dotcp"]) == "; did you mean 'doudp'?"
    assert suggest_word("0-RTT", ["full", "zero_rtt"]) == "; did you mean 'zero_rtt'?"
    assert suggest_word("DoH", ["doudp", "doh"]) == "; did you mean 'doh'?"
    assert suggest_word("tcp", ["fiber"]) == ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("reprot runs/x", "did you mean 'report'?"),
        ("plan chekc quick", "did you mean 'check'?"),
        ("list plan", "did you mean 'plans'?"),
    ],
)
def test_a_mistyped_command_is_asked_after(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(line.split())
    assert capsys.readouterr().err.strip().endswith(says)


@pytest.mark.parametrize(
    ("number", "hint"),
    [(errno.ENOSPC, "free some space"), (errno.ENOTDIR, "; give another folder"), (errno.EACCES, "see to that")],
)
def test_only_what_helps_is_advised(number: int, hint: str) -> None:
    with pytest.raises(StorageError) as caught, machine_errors("write it"):
        raise OSError(number, "why")
    assert hint in str(caught.value)
    assert ("free some space" in str(caught.value)) == (number == errno.ENOSPC)
