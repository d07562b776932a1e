"""The end of a program that a benchmark started: it is asked, told and made to.

For: children, by their own handle, however the run ends. `Popen` as a context is not enough: where an exception passes
through it waits without a limit, and after Ctrl-C it leaves what does not end at once. Not for: what others started.
"""

import contextlib
import subprocess
from typing import Any

PATIENCE_S = 10.0


def end(process: "subprocess.Popen[Any]") -> bool:
    """Close its standard input, else terminate it, else kill it; return whether it ended when it was asked."""
    try:
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        was_polite = _has_ended(process)
        if not was_polite:
            process.terminate()
            _has_ended(process)
    finally:
        # Also where a second signal ended the waiting. It does nothing to one that has ended.
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    return was_polite


def _has_ended(process: "subprocess.Popen[Any]") -> bool:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(PATIENCE_S)
    return process.poll() is not None
