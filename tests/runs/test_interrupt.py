"""Ctrl-C in a terminal, at moments of a run: a clean stop, nothing counted as a failure, nothing left, resumable.

For: the whole line in a pseudo-terminal, whose interrupt goes to every process in its foreground. Not for: signals to
the campaign alone (`test_run`).
"""

import json
import os
import pty
import time
from contextlib import suppress

import pytest
from lab import ROOT, SHORT_REPORTS, finished, processes_of_the_lab, resolab, wait_until, write_plan

CTRL_C = b"\x03"


def in_a_terminal(command):
    """Start a command as the leader of a pseudo-terminal of its own; return its process id and the terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvp(command[0], list(map(str, command)))
    return pid, terminal


def rest_of(terminal):
    said = b""
    with suppress(OSError):  # the other end is closed
        while part := os.read(terminal, 65_536):
            said += part
    os.close(terminal)
    return said.decode(errors="replace")


@pytest.mark.parametrize("after_s", [0.05, 0.6, 1.4])
def test_ctrl_c_stops_a_run_cleanly(tmp_path, privileged, lab_is_clean, after_s):
    out = tmp_path / "out"
    pid, terminal = in_a_terminal([*SHORT_REPORTS, "run", write_plan(tmp_path, blocks=20), "--out", out])
    wait_until(lambda: finished(out) or list(out.glob("trials/*.partial")), 60)
    time.sleep(after_s)
    os.write(terminal, CTRL_C)
    said = rest_of(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130, said
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "interrupted", said
    assert manifest["instrument_failures_count"] == 0, said
    assert manifest["trials_finished_count"] == len(finished(out)) < 20
    assert "stopping when this trial ends" in said
    wait_until(lambda: processes_of_the_lab() == [], 10)


def test_a_stopped_run_goes_on(tmp_path, privileged, lab_is_clean):
    out = tmp_path / "out"
    pid, terminal = in_a_terminal([*SHORT_REPORTS, "run", write_plan(tmp_path, blocks=3), "--out", out])
    wait_until(lambda: finished(out), 60)
    os.write(terminal, CTRL_C)
    rest_of(terminal)
    os.waitpid(pid, 0)
    resumed = resolab("resume", out, command=SHORT_REPORTS)
    assert resumed.returncode == 0, resumed.stderr
    assert len(finished(out)) == 3
