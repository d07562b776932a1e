"""The end of a benchmark's program: by request, by SIGTERM, and by force.

For: children, by their own handle, for any end of the run. `Popen` as a context is not enough. After an exception,
`Popen` waits without a limit; after Ctrl-C, `Popen` leaves slow programs running. Not for: programs of other parents.
"""

import contextlib
import subprocess
from typing import Any

PATIENCE_S = 10.0


def end(process: "subprocess.Popen[Any]") -> bool:
    """End a process: close its standard input, then terminate, then kill. Return True when closing was enough."""
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
