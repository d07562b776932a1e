"""The location of this resolab: a checkout, or a wheel with all files.

For: finding plans, pages, profiles, the records' schema, the programs and the packages of extras. Not for: the content
of these files.
"""

import importlib.util
import os
import sysconfig
from pathlib import Path

from resolab.basics.errors import MachineError

_PACKAGE = Path(__file__).resolve().parents[1]
_PACKAGED = _PACKAGE / "data"
"""Only in a wheel: `plans/`, `pages/`, `profiles/` and `schema/`, equal to a checkout's (pyproject.toml)."""
_CHECKOUT = _PACKAGE.parents[1]
CORE = "resolab-core"
LOAD = "resolab-load"
_SET_UP = {CORE: "scripts/setup", LOAD: "scripts/setup --load"}
"""The programs, each with the command building it in a checkout. A wheel has both."""
_EXTRAS = {"evidence": {"perfetto": "perfetto"}, "fleet": {"nats": "nats-py", "cryptography": "cryptography"}}
"""The extras of pyproject.toml: their packages, by module. A checkout has all."""


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
    path = _core_path()
    _check_program(CORE, path, ", or set RESOLAB_CORE to the binary")
    return path


def find_load() -> Path:
    """Find resolab-load, in the folder of resolab-core."""
    path = _core_path().parent / LOAD
    other_remedy = " (with --measured for the measured build), or unset RESOLAB_CORE"
    _check_program(LOAD, path, other_remedy if os.environ.get("RESOLAB_CORE") else "")
    return path


def check_extra(extra: str) -> None:
    """Raise unless the packages of the extra are installed."""
    missing = [name for module, name in _EXTRAS[extra].items() if importlib.util.find_spec(module) is None]
    if missing:
        raise MachineError(f"{' and '.join(missing)} not installed: pip install 'resolab[{extra}]'")


def _check_program(name: str, path: Path, other_remedy: str) -> None:
    if not os.access(path, os.X_OK):
        remedy = "install resolab again" if is_installed() else f"run {_SET_UP[name]}"
        raise MachineError(f"{name} is not at {path}: {remedy}{other_remedy}")


def _core_path() -> Path:
    named = os.environ.get("RESOLAB_CORE")
    if named:
        return Path(named)
    if is_installed():
        return Path(sysconfig.get_path("scripts")) / CORE
    return _CHECKOUT / "target" / "release" / CORE
