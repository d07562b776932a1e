"""What a person's terminal does to the command line: orders of words, odd names, pipes that close, encodings.

For: users' first minutes. Not for: what the commands do.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset

from resolab.basics.errors import ConfigurationError
from resolab.cli import experiment
from resolab.cli.main import _parsers, main

NAME = "example.com"


def ran(*arguments: str, **options: object) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "resolab", *arguments]
    return subprocess.run(command, capture_output=True, timeout=120, check=False, **options)  # type: ignore[call-overload,no-any-return]


@pytest.mark.parametrize(
    "words",
    [(NAME, "-t", "HTTPS", "@127.0.0.1"), (NAME, "@127.0.0.1", "-t", "HTTPS"), ("-t", "HTTPS", NAME, "@127.0.0.1")],
)
def test_a_query_is_understood_in_any_order(words: tuple[str, ...]) -> None:
    options = _parsers()[1].parse_intermixed_args(words)
    assert (sorted(options.names), options.type) == (["@127.0.0.1", NAME], "HTTPS")


def test_who_reads_a_pipe_may_go(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN_TEXT)
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "resolab", "plan", "check", "--json", plan],
        stdout=writing, stderr=subprocess.PIPE, timeout=120, check=False,
    )  # fmt: skip
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


def test_another_encoding_spells_out_what_it_cannot_show(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(PLAN_TEXT.replace('question = "', 'question = "\N{GREEK SMALL LETTER ALPHA} '))
    ended = ran("plan", "check", str(plan), env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert ended.returncode == 0, ended.stderr
    assert b"\\u03b1" in ended.stdout


def test_a_folder_whose_name_is_no_text_is_refused_in_one_line() -> None:
    with pytest.raises(ConfigurationError, match="its name is no text"):
        experiment.run(Path("plan.toml"), out=Path(os.fsdecode(b"bad\xff")), seed=None, blocks=None)


def test_brackets_in_a_path_are_printed_as_they_are(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = make_dataset(tmp_path / "d s [x]")
    assert main(["report", str(folder)]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert f"dataset: {folder}" in lines
    assert f"report:  {folder}/report/index.html" in lines


def test_the_hint_after_a_stop_can_be_pasted(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESOLAB_COMMAND", "../resolab")
    experiment._finish(tmp_path / "d [x]", interrupted=True)
    assert f"../resolab resume '{tmp_path}/d [x]'" in capfd.readouterr().err


def test_a_polite_end_is_told_as_an_interruption(tmp_path: Path) -> None:
    program = (
        "import os, signal\n"
        "from resolab.cli import main\n"
        "from resolab.cli.plan import actions\n"
        "actions.run = lambda options: os.kill(os.getpid(), signal.SIGTERM) or signal.pause()\n"
        "raise SystemExit(main.main(['plan', 'check', 'x']))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False, cwd=tmp_path)
    assert ended.returncode == 130
    assert ended.stderr.strip() == b"resolab: interrupted"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
