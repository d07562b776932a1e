"""The location of this resolab: a checkout, or a wheel with all files.

For: finding plans, pages, profiles, the records' schema and resolab-core in both. Not for: the content of these files.
"""

import os
import sysconfig
from pathlib import Path

from resolab.errors import MachineError

_PACKAGE = Path(__file__).resolve().parent
_PACKAGED = _PACKAGE / "data"
"""Only in a wheel: `plans/`, `pages/`, `profiles/` and `schema/`, equal to a checkout's (pyproject.toml)."""
_CHECKOUT = _PACKAGE.parents[1]
CORE = "resolab-core"


def is_installed() -> bool:
    """Return True when this package is a wheel's copy, not a checkout's."""
    return _PACKAGED.is_dir()


def project_root() -> Path:
    """Find the folder with `plans/`, `pages/`, `profiles/` and `schema/`."""
    return _PACKAGED if is_installed() else _CHECKOUT


def checkout() -> Path | None:
    """Find the checkout with the git history of this code; `None` for a wheel's copy."""
    return None if is_installed() else _CHECKOUT


def read_packaged_commit() -> str | None:
    """Read the commit of the wheel's build; `None` in a checkout."""
    file = _PACKAGED / "commit"
    return file.read_text("utf-8").strip() if file.is_file() else None


def find_core() -> Path:
    """Find resolab-core: `RESOLAB_CORE` if set, else the wheel's binary or the checkout's release build."""
    named = os.environ.get("RESOLAB_CORE")
    path = Path(named) if named else _own_core()
    if not os.access(path, os.X_OK):
        help_ = "install resolab again" if is_installed() else "run scripts/setup"
        raise MachineError(f"{CORE} is not at {path}: {help_}, or set RESOLAB_CORE to the binary")
    return path


def _own_core() -> Path:
    if is_installed():
        return Path(sysconfig.get_path("scripts")) / CORE
    return _CHECKOUT / "target" / "release" / CORE
