"""A plan's own pages: by the path of their folder or page model, or drawn by a seed.

Not for: the content of such a folder (`page_file`), or patterns for many pages (`page_levels`).

A path is allowed as any level of `page`: `./shop` beside the plan's file, or an absolute path; `cnn.page.json` is a
page model's file. The page's name, in identifiers and in other tables of the plan, is the folder's, or the file's
without its ending. A generated page has the name given by `resolab page generate`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from resolab.pages.file import ENDING


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """A page drawn on demand: the same seed and number give the same page."""

    seed: int
    number: int


PlanPageSource = Path | GeneratedPage
"""The origin of a page outside the corpus."""


def is_path(word: str) -> bool:
    """Return True when a level is a path, not a name."""
    return "/" in word or word in {".", ".."} or is_model(word)


def is_model(path: PurePath | str) -> bool:
    """Return True for the path of a page model's file; the page is the model's clone."""
    return PurePath(path).name.endswith(ENDING)


def read_page_name(word: str) -> str:
    """Return the page's name for a level."""
    return PurePath(word).name.removesuffix(ENDING) if is_path(word) else word


def own_pages(words: Sequence[str], base: Path) -> Mapping[str, Path]:
    """Find the folders and files of the paths among the words, relative ones from `base`."""
    return {read_page_name(word): (base / word).resolve() for word in words if is_path(word)}
