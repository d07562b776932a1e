"""The additions of a wheel to the Python package and the project's data: the programs, and the built commit.

For: hatchling, called by `scripts/wheel`. Not for: building the programs; the builds must exist before.
"""

import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("resolab-core", "resolab-load")


class ResolabPrograms(BuildHookInterface[Any]):
    """Adds the measured build to the wheel's scripts and marks the wheel as this platform's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the files to add; `version` is "editable" for an installation from the checkout."""
        if self.target_name != "wheel" or version == "editable":
            return
        programs = {str(Path(self.root) / "target" / "measured" / name): name for name in PROGRAMS}
        for program in programs:
            if not os.access(program, os.X_OK):
                raise FileNotFoundError(f"{program} is not there: build the wheel with scripts/wheel")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["shared_scripts"] = programs
        build_data["force_include"][str(self._commit_file())] = "resolab/data/commit"

    def _commit_file(self) -> Path:
        def git(*words: str) -> str:
            return subprocess.run(
                ["git", "-C", self.root, *words], capture_output=True, text=True, check=True
            ).stdout.strip()

        file = Path(self.root) / "target" / "wheel-commit"
        file.write_text(git("rev-parse", "HEAD") + ("+changes" if git("status", "--porcelain") else "") + "\n")
        return file
