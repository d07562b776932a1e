"""Where the resolab-core binary is. Not for building it: `scripts/setup` does that."""

import os
from pathlib import Path

from resolab.errors import MachineError

PROJECT_ROOT = Path(__file__).parents[3]


def find_core() -> Path:
    """Find resolab-core: `RESOLAB_CORE` if set, else the checkout's release build."""
    named = os.environ.get("RESOLAB_CORE")
    path = Path(named) if named else PROJECT_ROOT / "target" / "release" / "resolab-core"
    if not os.access(path, os.X_OK):
        raise MachineError(f"resolab-core is not at {path}: run scripts/setup, or set RESOLAB_CORE to the binary")
    return path
