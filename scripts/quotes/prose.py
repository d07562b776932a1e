"""Renders templates as prose, and finds the parts of a template without a source.

For: markdown with numbers from tables. Not for: reading the tables (`published`).

Inside `{{ }}` a template names cells and formats. Numbers from outside the datasets (a paper's, a standard's, a
setting) stand in `given("...", "where from")`. A sentence depending on current numbers is guarded by `holds(...)`.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import jinja2

from quotes import words
from quotes.claims import Claims, counted, fisher, mean_of, median_of
from quotes.predicted import later, savings, whole_loads
from quotes.published import PublishedDatasets

_TAGS = re.compile(r"{{.*?}}|{%.*?%}|{#.*?#}|```.*?```|`[^`]*`|\]\([^)]*\)", re.DOTALL)
_NAMES = re.compile(r"\b(?:Do53|H[123]|h[123]|HTTP/[123](?:\.\d)?|0-RTT|[34]G|h20|s24|TNSM \d{4}|WWW \d{4}|P\d\d)\b")
CLAIMS = (
    "alike",
    "relative",
    "within",
    "mean_difference",
    "paid_back",
    "by_site",
    "site_of",
    "parted",
    "copies",
    "carry_over",
)
_CAUSE = re.compile(
    r"\b(?:because|comes? (?:from|of)|lies in how|is due to|the reason is|so that its loss is|no merit of|doing, not)\b"
)
_COMMENT = re.compile(r"{#.*?#}")
_GUARDED = ("parted(", "not ", "may ")
_ALIKE = re.compile(r"\balike\b[^.|]*?\b\d+ of \d+\b[^.|]*")
_NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*")


def render(template: Path, results: Path) -> str:
    """Fill a template, and its included sections in the same folder, from published datasets."""
    return _environment(results, template.parent).get_template(template.name).render()


def claims(template: Path, results: Path) -> list[str]:
    """List the sentences required in another text, one per line."""
    return [" ".join(line.split()) for line in render(template, results).splitlines() if line.strip()]


def literal_numbers(template: str) -> Iterator[str]:
    """Yield each number of a template without a table or a source."""
    bare = _TAGS.sub(lambda match: "\n" * match.group().count("\n"), template)
    for place, line in enumerate(bare.splitlines(), 1):
        for number in _NUMBER.findall(_NAMES.sub("", line)):
            yield f"line {place}: {number} is bound to no table; take it from one, or write given(...)"


def unparted_causes(template: str) -> Iterator[str]:
    """Yield each line of a template about a cause, without separating arms and without calling the cause unknown."""
    for place, line in enumerate(_COMMENT.sub("", template).splitlines(), 1):
        found = _CAUSE.search(line)
        if found and not any(word in line for word in _GUARDED):
            remedy = "name the arms that part it by parted(...), or say less"
            yield f"line {place}: {found.group()!r} tells a cause; {remedy}"


def counts_without_holm(text: str) -> Iterator[str]:
    """Yield each sentence counting equivalences without the number after Holm."""
    for found in _ALIKE.finditer(text):
        if "Holm" not in found.group():
            yield f"counts without what is left after Holm: ...{found.group().strip()[:80]}"


def _environment(results: Path, templates: Path) -> jinja2.Environment:
    # It makes markdown of this repository's own tables: there is nothing to escape.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    published = PublishedDatasets(results)
    told = Claims(published)
    environment.globals.update(
        {
            name: getattr(published, name)
            for name in (
                "rows",
                "cell",
                "loads",
                "paired",
                "decided",
                "report_rows",
                "report_share",
                "manifest",
                "p_value",
                "plan",
                "rtt_ms",
            )
        },
        savings=partial(savings, results.parents[1] / "pages/corpus"),
        later=partial(later, results.parents[1] / "pages/corpus"),
        whole_loads=partial(whole_loads, results.parents[1] / "pages/corpus"),
        **{name: getattr(told, name) for name in CLAIMS},
        counted=counted,
        fisher=fisher,
        mean_of=mean_of,
        median_of=median_of,
        given=given,
        holds=holds,
    )
    environment.filters.update({name: getattr(words, name) for name in words.FILTERS})
    return environment


def given(text: str, source: str) -> str:
    """Print a number missing in our datasets, in the form of its source."""
    if not source.strip():
        message = f"{text}: given() needs the number's source"
        raise ValueError(message)
    return text


def holds(*conditions: object, saying: str) -> str:
    """Print nothing; fail when the following sentence is no longer true."""
    if not all(conditions):
        message = f"no longer so: {saying}"
        raise ValueError(message)
    return ""
