"""What the glossary writes in back-ticks is a word of the project: it stands in code, schemas or pages of formats."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
GLOSSARY = PROJECT / "docs" / "glossary.md"
PLACES = ("crates/**/*.rs", "python/resolab/**/*.py", "schema/*.json", "docs/formats/*.md")
WORD = re.compile(r"\w+")


def names(text: str) -> Iterator[str]:
    """Give what stands in back-ticks in the rows of the tables."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield from re.findall(r"`([^`]+)`", line)


@cache
def known() -> tuple[str, frozenset[str]]:
    """Give the text of all places, and its words."""
    files = [file for place in PLACES for file in PROJECT.glob(place)]
    text = "\n".join(file.read_text("utf-8") for file in files)
    return text, frozenset(WORD.findall(text))


def is_known(name: str) -> bool:
    text, words = known()
    if WORD.fullmatch(name):
        return any(name + ending in words for ending in ("", "_start_ns", "_start_ms"))
    return name in text


def test_every_name_of_the_glossary_stands_in_code_schema_or_formats() -> None:
    unknown = [name for name in names(GLOSSARY.read_text("utf-8")) if not is_known(name)]
    assert not unknown, (
        f"docs/glossary.md has words that stand nowhere else: {unknown}; words of prose have no back-ticks"
    )


@pytest.mark.parametrize("row", ["| `smoothed_rtt_nanos` | invented |", "| word | `query_response_times` |"])
def test_an_invented_name_would_be_found(row: str) -> None:
    assert [name for name in names(row) if not is_known(name)]


def test_names_are_read_from_rows_only() -> None:
    assert list(names("Banned: `util`\n| `plt`, `plt_sum` | see `qname` |")) == ["plt", "plt_sum", "qname"]
