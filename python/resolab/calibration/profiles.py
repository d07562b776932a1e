"""Which profiles are calibrated: names of the project's, or files.

For: finding them. Not for: reading their values; the path says what it made of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.errors import ConfigurationError
from resolab.plan import Corpus


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """A profile to be put in force."""

    name: str
    file: Path


def find_profiles(wanted: Sequence[str], corpus: Corpus) -> list[ProfileFile]:
    """Find each by its name, or by its path if it ends in `.toml`; all of the project's if none is given."""
    return [_find(one, corpus) for one in wanted or corpus.profiles()]


def _find(wanted: str, corpus: Corpus) -> ProfileFile:
    if not wanted.endswith(".toml"):
        return ProfileFile(wanted, corpus.profile_file(wanted))
    file = Path(wanted)
    if not file.is_file():
        raise ConfigurationError(f"failed to read profile {wanted}: no such file")
    return ProfileFile(file.stem, file)
