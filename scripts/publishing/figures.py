"""The numbers of a report's figures in a published folder: small files, and checksums of what the report makes again.

For: choosing which files stay. Not for: the tables (`store.published`).
"""

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path

CHECKSUMS = "SHA256SUMS"
LARGEST_KEPT_BYTES = 64 * 1024
"""Larger files are left to the command that makes them again; none of them is quoted."""


def numbers_of(figures: Path) -> list[Path]:
    """List the files of a report's figures and tables with their numbers."""
    return sorted(figures.glob("*.csv"))


def made_alike(published: Path, again: Path) -> list[str]:
    """Name the files that both folders have, byte for byte."""
    return [
        one.name
        for one in numbers_of(published)
        if (again / one.name).is_file() and (again / one.name).read_bytes() == one.read_bytes()
    ]


def keep_numbers(published: Path, alike: Sequence[str], out: Path) -> None:
    """Write the checksums of the files that the report makes again; copy its small ones and all other files."""
    out.mkdir()
    sums = []
    for one in numbers_of(published):
        if one.name in alike:
            sums.append(f"{hashlib.sha256(one.read_bytes()).hexdigest()}  figures/{one.name}")
        if one.name not in alike or one.stat().st_size <= LARGEST_KEPT_BYTES:
            shutil.copyfile(one, out / one.name)
    (out / CHECKSUMS).write_text("".join(f"{line}\n" for line in sums), "utf-8")
