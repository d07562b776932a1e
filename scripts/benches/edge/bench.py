"""The settings of a part of `bench edge`, and a server's processor time.

For: shapes and a clock. Not for: measuring or printing.
"""

import ctypes
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from benches.common.progress import Progress
from resolab.basics.errors import MachineError

ROUNDS_COUNT = 5
PAIRS_COUNT, QUICK_PAIRS_COUNT = 12, 6


@dataclass(frozen=True)
class EdgeBench:
    """The settings of the parts."""

    quick: bool
    scratch: Path
    """The temporary folder of this run, removed at the end."""
    progress: Progress
    transports: Sequence[str]

    whole_rounds_count: int = ROUNDS_COUNT
    """The number of rounds in turn, unless `quick`."""

    @property
    def rounds_count(self) -> int:
        """The number of rounds in turn."""
        return 1 if self.quick else self.whole_rounds_count

    @property
    def paired_rounds_count(self) -> int:
        """The number of rounds in turn for differences with intervals."""
        return QUICK_PAIRS_COUNT if self.quick else PAIRS_COUNT

    def with_pairs(self) -> "EdgeBench":
        """Return the same settings with enough rounds for intervals."""
        return replace(self, quick=False, whole_rounds_count=self.paired_rounds_count)


def processor_time_s(pid: int) -> float:
    """Return user and system time of a whole process, including ended threads (clock_getcpuclockid(3))."""
    clock = ctypes.c_int32()
    failed = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    if failed:
        raise MachineError(f"the processor time of process {pid} cannot be read: {os.strerror(failed)}")
    return time.clock_gettime(clock.value)
