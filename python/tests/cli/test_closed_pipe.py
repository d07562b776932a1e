"""A command whose reader has gone, as `head` goes, ends with the code that the help promises and without a word."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "words",
    [["plan", "check", "quick"], ["list", "profiles"], ["list", "factors", "--json"]],
    ids=" ".join,
)
def test_nobody_reads_on(words: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "resolab", *words], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (141, b"")
