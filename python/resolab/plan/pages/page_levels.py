"""Levels of `page` for many pages: patterns, and pages drawn by a seed (`[pages.generated]`).

For: a plan's pages, in its order, before any check of its keys, and the rest of `[pages]`. Not for: reading pages.

A pattern is expanded while reading the plan, with pages sorted by name. `corpus/*` and `names/flat-*` mean included
page models, by their folder and name. `./mine/*.page.json` and other paths mean files and folders beside the plan.
`!NAME` removes pages matched by other patterns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, TypeGuard

from resolab.basics.errors import ConfigurationError
from resolab.pages.generated import format_name as generated_name
from resolab.plan.corpus import Corpus
from resolab.plan.model import HIGHEST_SEED
from resolab.plan.pages.own_pages import GeneratedPage, PlanPageSource, is_model, own_pages, read_page_name
from resolab.plan.section import PlanSection
from resolab.plan.settings import NumberBounds, PageSettings, read_table

MOST_GENERATED = 2_000
_NOT = "!"


@dataclass(frozen=True, slots=True)
class GeneratedPages:
    """The pages to draw: numbers from 1 to `count`."""

    count: Annotated[int, NumberBounds(1, MOST_GENERATED)]
    seed: Annotated[int, NumberBounds(0, HIGHEST_SEED)] = 1

    def pages(self) -> Mapping[str, PlanPageSource]:
        """Name the drawn pages."""
        return {
            generated_name(self.seed, number): GeneratedPage(self.seed, number) for number in range(1, self.count + 1)
        }


@dataclass(frozen=True, slots=True)
class PageLevels:
    """The expanded list of a plan's pages."""

    words: Sequence[object]
    own: Mapping[str, PlanPageSource]


def page_levels(
    source: str,
    given: object,
    generated: Mapping[str, PlanPageSource],
    base: Path,
    corpus: Corpus | None,
    begun_with: Sequence[str] | None = None,
) -> PageLevels | None:
    """Expand `factors.page` and add drawn pages; `None` for anything but a list, reported later.

    A dataset's plan is read with the pages of its begin: later pages are left out. Without a corpus the pages are taken
    unchanged.
    """
    if given is None and generated:
        given = []
    if not isinstance(given, list):
        return None
    if begun_with is not None and corpus is None and any(map(_is_pattern, given)):
        return PageLevels([*begun_with], generated)
    words = _expand_patterns(source, given, base, corpus or Corpus.from_project())
    if begun_with is not None and any(map(_is_pattern, given)):
        words = _restore_begun_order(source, words, [one for one in begun_with if one not in generated])
    paths = own_pages([word for word in words if isinstance(word, str)], base)
    return PageLevels([*words, *generated], {**paths, **generated})


def read_pages(section: PlanSection) -> tuple[Mapping[str, PlanPageSource], PageSettings]:
    """Read `[pages]`: the drawn pages, and the serving of all pages."""
    table = section.section("generated", required=False)
    drawn = read_table(table, GeneratedPages).pages() if "generated" in section else {}
    return drawn, read_table(section, PageSettings)


def _is_pattern(word: object) -> bool:
    return isinstance(word, str) and any(one in word for one in "*?")


def _expand_patterns(source: str, given: Sequence[object], base: Path, corpus: Corpus) -> list[object]:
    written = [word for word in given if not _is_pattern(word)]
    words: list[object] = []
    for word in given:
        if _leaves_out(word):
            continue
        if not isinstance(word, str) or not _is_pattern(word):
            words.append(word)
            continue
        found = _find_pages(word, base) if _is_beside(word) else _find_corpus_models(word, corpus)
        if not found:
            remedy = "give a folder of page models that come along, such as corpus/*, or paths beside the plan"
            raise ConfigurationError(f"{source}: factors.page: no page is like {word!r}; {remedy}")
        words += [one for one in found if one not in words and one not in written]
    return _leave_out(source, words, [word.removeprefix(_NOT) for word in given if _leaves_out(word)])


def _leaves_out(word: object) -> TypeGuard[str]:
    return isinstance(word, str) and word.startswith(_NOT)


def _leave_out(source: str, words: list[object], left_out: Sequence[str]) -> list[object]:
    for pattern in left_out:
        kept = [one for one in words if not (isinstance(one, str) and fnmatchcase(read_page_name(one), pattern))]
        if len(kept) == len(words):
            raise ConfigurationError(f"{source}: factors.page: {_NOT + pattern!r} leaves out none of its pages")
        words = kept
    return words


def _is_beside(word: str) -> bool:
    return word.startswith(("./", "../", "/")) or is_model(word)


def _find_pages(word: str, base: Path) -> list[str]:
    root, pattern = _split(base / word)
    found = root.glob(pattern)
    pages = [one for one in found if (is_model(one) and one.is_file()) or (one / "page.toml").is_file()]
    return [str(one) for one in sorted(pages, key=lambda one: (read_page_name(str(one)), str(one)))]


def _split(whole: Path) -> tuple[Path, str]:
    """Split a path before its first part with a pattern; the part before may hold any character."""
    first = next(place for place, part in enumerate(whole.parts) if _is_pattern(part))
    return Path(*whole.parts[:first]), "/".join(whole.parts[first:])


def _find_corpus_models(word: str, corpus: Corpus) -> list[str]:
    """Name the page models matched by folder and name or, without a folder, all pages matched by name."""
    models = corpus.models()
    if "/" in word:
        return sorted(name for name, file in models.items() if fnmatchcase(f"{file.parent.name}/{name}", word))
    return sorted(name for name in corpus.pages() if fnmatchcase(name, word))


def _restore_begun_order(source: str, words: Sequence[object], begun_with: Sequence[str]) -> list[object]:
    named = {read_page_name(word): word for word in words if isinstance(word, str)}
    gone = next((name for name in begun_with if name not in named), None)
    if gone is not None:
        problem = f"page {gone!r}, which the run began with, is not there any more"
        raise ConfigurationError(f"{source}: factors.page: {problem}; put it back, or start anew")
    return [named[name] for name in begun_with]


def replace_pages(table: Mapping[str, Any], levels: PageLevels | None) -> Mapping[str, Any]:
    """Write the pages out in a plan's table."""
    factors = table.get("factors")
    if levels is None or not isinstance(factors, dict):
        return table
    return {**table, "factors": {**factors, "page": [*levels.words]}}
