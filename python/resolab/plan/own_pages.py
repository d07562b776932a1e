"""Pages a plan brings itself: by the path of their folder or page model, or drawn by a seed.

Not for: what is in such a folder (`page`), or patterns that stand for many (`page_levels`).

A path stands wherever a level of `page` may: `./shop` beside the plan's file, or an absolute one; `cnn.page.json` is a
page model's file. The page's name, in identifiers and in other tables of the plan, is the folder's, or the file's
without its ending. A generated page has the name that `resolab page generate` gives it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from resolab.pages.file import ENDING


@dataclass(frozen=True, slots=True)
class GeneratedPage:
    """A page that is drawn when it is needed: the same seed and number are the same page."""

    seed: int
    number: int


OwnPage = Path | GeneratedPage
"""Where a page comes from that lies in no corpus."""


def is_path(word: str) -> bool:
    """Whether a level is a path and no name."""
    return "/" in word or word in {".", ".."} or is_model(word)


def is_model(path: PurePath | str) -> bool:
    """Whether a path is that of a page model's file, whose page is its clone."""
    return PurePath(path).name.endswith(ENDING)


def name_of(word: str) -> str:
    """Return the name of the page that a level stands for."""
    return PurePath(word).name.removesuffix(ENDING) if is_path(word) else word


def own_pages(words: Sequence[str], base: Path) -> Mapping[str, Path]:
    """Find the folders and files of those that are paths, relative ones from `base`."""
    return {name_of(word): (base / word).resolve() for word in words if is_path(word)}
