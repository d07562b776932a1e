"""The profiles to calibrate, given as names of project profiles or as files.

For: finding them. Not for: reading their values; the path reports its parsed values.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.plan import Corpus


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A profile to apply to the path."""

    name: str
    file: Path


def find_profiles(wanted: Sequence[str], corpus: Corpus) -> list[ProfileFile]:
    """Find each profile by name, or by path for names ending in `.toml`; without any, return all project profiles."""
    return [_find(one, corpus) for one in wanted or corpus.profiles()]


def _find(wanted: str, corpus: Corpus) -> ProfileFile:
    if not wanted.endswith(".toml"):
        return ProfileFile(wanted, corpus.profile_file(wanted))
    file = Path(wanted)
    if not file.is_file():
        raise ConfigurationError(f"failed to read profile {wanted}: no such file")
    return ProfileFile(file.stem, file)
