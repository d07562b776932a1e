"""A test that needs a second attempt in two of ten runs fails the run; one in ten does not."""

from pathlib import Path

import second_attempts


def run(file: Path, *names: str) -> list[str]:
    return second_attempts.remember(file, names, "abc", "2026-01-01")


def test_once_in_ten_runs_is_let_pass_and_twice_is_not(tmp_path: Path) -> None:
    file = tmp_path / "state" / "attempts.jsonl"
    assert run(file, "tests/a.py::one", "-p resolab-dns --lib") == []
    assert run(file) == []
    assert run(file, "tests/a.py::two") == []
    assert run(file, "tests/a.py::one", "tests/a.py::three") == ["tests/a.py::one"]


def test_what_lies_ten_runs_back_is_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "attempts.jsonl"
    run(file, "one")
    for _ in range(second_attempts.KEPT_RUNS - 1):
        run(file)
    assert run(file, "one") == []


def test_runs_before_that_had_none_are_no_reason_to_fail_one_without(tmp_path: Path) -> None:
    file = tmp_path / "attempts.jsonl"
    run(file, "one")
    run(file, "one")
    assert run(file) == []
