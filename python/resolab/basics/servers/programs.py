"""Find the programs of servers of other makers.

For: a program's path. Not for: starting it.
"""

import os
import shutil
from pathlib import Path

from resolab.basics.errors import MachineError
from resolab.basics.installation import checkout

_BUILT = [str(root / ".setup" / "bin")] if (root := checkout()) else []
_PLACES = os.pathsep.join(["/usr/sbin", os.environ.get("PATH", os.defpath), *_BUILT])
"""The places searched for a program without a path; last the programs built by `scripts/setup --interop`."""


def search_program(name: str) -> str | None:
    """Return the path of a program; `None` without such a program."""
    return shutil.which(name, path=_PLACES)


def find_program(name: str, folder: Path) -> str:
    """Find a program; run a copy when AppArmor confines the original path to its usual folders."""
    found = search_program(name)
    if found is None:
        raise MachineError(f"{name} is not on this machine: scripts/setup --interop installs it")
    if Path(f"/etc/apparmor.d/usr.sbin.{name}").exists():
        return str(shutil.copy(found, folder / name))
    return found
