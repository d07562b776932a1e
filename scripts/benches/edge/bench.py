"""What a part of `bench edge` is asked, and a server's processor time.

For: shapes and one clock. Not for: measuring or printing.
"""

import ctypes
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.common.progress import Progress
from resolab.errors import MachineError

ROUNDS_COUNT = 5


@dataclass(frozen=True)
class Bench:
    """How the parts are measured."""

    quick: bool
    scratch: Path
    """A folder of this run, removed at its end."""
    progress: Progress
    transports: Sequence[str]

    @property
    def rounds_count(self) -> int:
        """Rounds in turn."""
        return 1 if self.quick else ROUNDS_COUNT


def processor_time_s(pid: int) -> float:
    """Return user and system time of a whole process so far, ended threads included (clock_getcpuclockid(3))."""
    clock = ctypes.c_int32()
    failed = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if failed:
        raise MachineError(f"the processor time of process {pid} cannot be read: {os.strerror(failed)}")
    return time.clock_gettime(clock.value)
