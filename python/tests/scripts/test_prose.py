"""The lint of prose counts pronouns, long sentences and short comments, and fails above its bounds."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))

import prose

GOOD = "The link drops a packet when the queue is full."
PRONOUNS = "It is what it does with those that it was told of."
LONG = " ".join(["word"] * 41) + "."


def figures_of(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> prose.Figures:
    monkeypatch.setattr(prose, "ROOT", folder)
    (folder / name).write_text(text)
    return prose.measure([name])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", f"# Title\n\n| a | b |\n\n{GOOD} {PRONOUNS}\n"),
        ("a.rs", f"/// {GOOD}\n/// {PRONOUNS}\nfn f() {{}}\n"),
        ("a.py", f'def f():\n    """{GOOD}\n\n    {PRONOUNS}\n    """\n'),
    ],
)
def test_sentences_and_pronouns_are_counted_in_every_kind_of_text(tmp_path, monkeypatch, name, text):
    found = figures_of(tmp_path, monkeypatch, name, text)
    assert [one.pronouns_count for one in found.sentences] == [0, 6]
    assert found.words_count == 22


def test_code_tables_links_and_headings_are_no_prose(tmp_path, monkeypatch):
    text = "# What it is\n\n```sh\nwhat that which it\n```\n| it | that |\n\nRead [the page](it.md) about `it` today.\n"
    found = figures_of(tmp_path, monkeypatch, "a.md", text)
    assert [one.text for one in found.sentences] == ["Read the page about code today."]


def test_each_figure_above_its_bound_is_named(tmp_path, monkeypatch):
    found = figures_of(tmp_path, monkeypatch, "a.rs", f"/// Either.\nfn f() {{}}\n/// {PRONOUNS} {LONG}\nfn g() {{}}\n")
    bounds = prose.Bounds(pronouns_percent=4, words_a_sentence=16, long_sentences_percent=2, short_comments_count=0)
    assert [one.split()[0] for one in found.excesses(bounds)] == list(prose.Bounds.__slots__)
    lenient = prose.Bounds(
        pronouns_percent=100, words_a_sentence=100, long_sentences_percent=100, short_comments_count=1
    )
    assert list(found.excesses(lenient)) == []


def test_type_names_are_counted_in_both_languages(tmp_path, monkeypatch):
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    (tmp_path / "a.rs").write_text("pub(crate) struct Way;\nenum Way {}\nstruct State;\n")
    (tmp_path / "a.py").write_text("class Way(Base):\n    pass\n")
    assert prose.type_names(["a.rs", "a.py"]) == {"Way": 3}


def test_the_worst_sentence_is_the_one_of_most_pronouns():
    worst = max([prose.Sentence("a", 1, GOOD), prose.Sentence("a", 2, PRONOUNS)], key=lambda one: one.badness)
    assert worst.line == 2
