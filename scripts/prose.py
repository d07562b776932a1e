#!/usr/bin/env python3
"""Measure the English of Markdown pages and doc comments, and fail where it is harder to read than the bounds allow.

    .venv/bin/python scripts/prose.py [--worst N] [PATH...]     print figures and the worst sentences
    .venv/bin/python scripts/prose.py --check                   fail above a bound; scripts/check runs this

For: share of pronouns, words a sentence, comments of three words or fewer, sentences beginning with What, Whether or
Who, type names used more than three times. Not for: grammar, or words inside code.
"""

import argparse
import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PRONOUNS = frozenset({
    "what", "whatever", "who", "whoever", "whose", "whom", "which", "that", "it", "its", "them", "those", "such", "so",
    "one", "none", "nobody", "somebody", "anybody", "else",
})  # fmt: skip
FIRST_WORDS = frozenset({"what", "whatever", "whether", "who", "whoever"})
WORD = re.compile(r"[A-Za-z']+")
LONG_SENTENCE_WORDS = 40
SHORT_COMMENT_WORDS = 3
TYPES_OF_ONE_NAME_MAX_COUNT = 3
COMMON_TYPE_NAMES = frozenset({"Arguments", "State", "Error"})
UNMEASURED = re.compile(r"(^|/)(tests?|target|_generated)(/|\.|_|$)|_generated")
"""Tests and generated files."""
MARKUP = (
    (re.compile(r"```.*?```", re.DOTALL), ""),
    (re.compile(r"^\|.*$", re.MULTILINE), ""),
    (re.compile(r"^#.*$", re.MULTILINE), ""),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"`[^`]*`"), "code"),
    (re.compile(r"<[^>]+>"), ""),
    (re.compile(r"\[[+\-\u22120-9., ]+\]"), ""),
    (re.compile(r"\n[-*] "), ". "),
)
"""Patterns of text that is no prose, and their replacements."""
RUST_TYPE = re.compile(r"^\s*(?:pub(?:\([a-z]+\))? )?(?:struct|enum|trait|union) ([A-Z]\w*)", re.MULTILINE)
PYTHON_TYPE = re.compile(r"^\s*class ([A-Z_]\w*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one kind of text may have."""

    pronouns_percent: float
    words_a_sentence: float
    long_sentences_percent: float
    short_comments_count: int


BOUNDS = {
    ".md": Bounds(pronouns_percent=4, words_a_sentence=16, long_sentences_percent=2, short_comments_count=0),
    ".rs": Bounds(pronouns_percent=4, words_a_sentence=16, long_sentences_percent=2, short_comments_count=50),
    ".py": Bounds(pronouns_percent=4, words_a_sentence=16, long_sentences_percent=2, short_comments_count=50),
}
TITLES = {".md": "Markdown", ".rs": "Rust doc comments", ".py": "Python docstrings"}
TYPE_NAMES_MAX_COUNT = 0
"""Type names used more than three times; each change may only lower it."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence with its place."""

    path: str
    line: int
    text: str

    @property
    def words(self) -> list[str]:
        """Return the words in lower case."""
        return [word.lower() for word in WORD.findall(self.text)]

    @property
    def pronouns_count(self) -> int:
        """Return the number of pronouns."""
        return sum(word in PRONOUNS for word in self.words)

    @property
    def badness(self) -> int:
        """Rank sentences for the list of the worst."""
        return 8 * self.pronouns_count + len(self.words) + 10 * (self.words[0] in FIRST_WORDS)


@dataclass(frozen=True, slots=True)
class Figures:
    """The measured figures of one kind of text."""

    sentences: list[Sentence]
    short_comments_count: int

    @property
    def words_count(self) -> int:
        """Return the number of all words."""
        return sum(len(one.words) for one in self.sentences)

    @property
    def pronouns_percent(self) -> float:
        """Return the share of pronouns among all words."""
        return 100 * sum(one.pronouns_count for one in self.sentences) / max(1, self.words_count)

    @property
    def words_a_sentence(self) -> float:
        """Return the mean number of words."""
        return self.words_count / max(1, len(self.sentences))

    @property
    def long_sentences_percent(self) -> float:
        """Return the share of sentences above 40 words."""
        long_count = sum(len(one.words) > LONG_SENTENCE_WORDS for one in self.sentences)
        return 100 * long_count / max(1, len(self.sentences))

    def excesses(self, bounds: Bounds) -> Iterator[str]:
        """Yield a text for each figure above its bound."""
        for name in Bounds.__slots__:
            found, most = getattr(self, name), getattr(bounds, name)
            if round(found, 1) > most:
                yield f"{name} {found:.1f}, at most {most}"


def main() -> int:
    """Print the figures; with --check return 1 above a bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail above a bound")
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="print this number of sentences (10)")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="measure these files or folders only")
    options = parser.parse_args()
    files = listed(options.paths)
    measured = {suffix: measure([one for one in files if one.endswith(suffix)]) for suffix in BOUNDS}
    problems = [
        f"{TITLES[suffix]}: {excess}; see --worst"
        for suffix, figures in measured.items()
        for excess in figures.excesses(BOUNDS[suffix])
    ]
    repeated = {name: count for name, count in type_names(files).items() if count > TYPES_OF_ONE_NAME_MAX_COUNT}
    if len(repeated) > TYPE_NAMES_MAX_COUNT:
        problems.append(f"{len(repeated)} type names are used more than three times, at most {TYPE_NAMES_MAX_COUNT}")
    if options.check and not options.paths:
        for problem in problems:
            print(f"prose: {problem}", file=sys.stderr)
        return 1 if problems else 0
    show(measured, repeated, options.worst)
    return 0


def listed(paths: list[str]) -> list[str]:
    """List the measured files of the checkout."""
    command = ["git", "-C", str(ROOT), "ls-files", *paths]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if not UNMEASURED.search(name) and (ROOT / name).is_file()]


def measure(files: list[str]) -> Figures:
    """Measure files of one kind."""
    found, short_count = [], 0
    for name in files:
        for line, text in texts(name, (ROOT / name).read_text("utf-8", "replace")):
            short_count += not name.endswith(".md") and len(WORD.findall(plain(text))) <= SHORT_COMMENT_WORDS
            found += [Sentence(name, line, one) for one in sentences(text)]
    return Figures(found, short_count)


def texts(name: str, source: str) -> Iterator[tuple[int, str]]:
    """Yield the prose of a file with its first lines: the page, or each doc comment."""
    if name.endswith(".md"):
        yield 1, source
    elif name.endswith(".rs"):
        yield from rust_comments(source)
    else:
        yield from python_docstrings(source)


def rust_comments(source: str) -> Iterator[tuple[int, str]]:
    """Yield doc comments; neighbouring lines are one comment."""
    run: list[str] = []
    for number, line in enumerate([*source.splitlines(), ""], 1):
        if comment := re.match(r"\s*//[/!] ?(.*)", line):
            run.append(comment[1])
        elif run:
            yield number - len(run), "\n".join(run)
            run = []


def python_docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Yield docstrings of modules, classes, functions and attributes."""
    for node in ast.walk(ast.parse(source)):
        body = getattr(node, "body", [])
        for child in body if isinstance(body, list) else []:
            if (
                isinstance(child, ast.Expr)
                and isinstance(child.value, ast.Constant)
                and isinstance(child.value.value, str)
            ):
                yield child.lineno, child.value.value


def plain(text: str) -> str:
    """Remove code, tables, headings and links."""
    for pattern, replacement in MARKUP:
        text = pattern.sub(replacement, text)
    return text


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences with more than two words."""
    for one in re.split(r"(?<=[.!?])\s+|\n\s*\n", plain(text)):
        if len(WORD.findall(one)) > 2:
            yield " ".join(one.split())


def type_names(files: list[str]) -> Counter[str]:
    """Count the types of each name in both languages, common names left out."""
    names: Counter[str] = Counter()
    for name in files:
        pattern = {".rs": RUST_TYPE, ".py": PYTHON_TYPE}.get(Path(name).suffix)
        if pattern is not None:
            names.update(pattern.findall((ROOT / name).read_text("utf-8", "replace")))
    return Counter({name: count for name, count in names.items() if name not in COMMON_TYPE_NAMES})


def show(measured: dict[str, Figures], repeated: dict[str, int], worst_count: int) -> None:
    """Print all figures for people."""
    for suffix, figures in measured.items():
        if figures.sentences:
            print(
                f"{TITLES[suffix]}: {len(figures.sentences)} sentences, {figures.words_a_sentence:.1f} words each, "
                f"{figures.long_sentences_percent:.1f} % over {LONG_SENTENCE_WORDS} words, "
                f"pronouns {figures.pronouns_percent:.1f} %, "
                f"{figures.short_comments_count} comments of three words or fewer"
            )
    if repeated:
        listed_names = ", ".join(f"{name} {count}" for name, count in sorted(repeated.items(), key=lambda one: -one[1]))
        print(f"type names used more than three times: {listed_names}")
    every = [one for figures in measured.values() for one in figures.sentences]
    for one in sorted(every, key=lambda one: -one.badness)[:worst_count]:
        print(f"  {one.path}:{one.line}: {one.text[:220]}")


if __name__ == "__main__":
    sys.exit(main())
