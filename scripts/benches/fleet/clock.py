"""Wall clocks of single processes, adjustable during the run.

For: agents on machines with a wrong clock. Not for: this process's own clock, programs without libc (`clock_off.c`).
"""

import struct
import subprocess
from pathlib import Path


class Clock:
    """A clock for all processes started with its environment."""

    def __init__(self, library: Path, file: Path) -> None:
        self._library, self._file = library, file
        self.set(0)

    def set(self, seconds_off: int) -> None:
        """Set the clock's offset, forward or back."""
        mode = "r+b" if self._file.exists() else "w+b"
        with self._file.open(mode) as file:
            file.write(struct.pack("=q", seconds_off))

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment for a process using this clock."""
        return {"LD_PRELOAD": str(self._library), "RESOLAB_CLOCK_FILE": str(self._file)}


def build_library(folder: Path) -> Path:
    """Compile the library to preload."""
    library = folder / "clock_off.so"
    source = Path(__file__).with_name("clock_off.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, source, "-ldl"], check=True)
    return library
