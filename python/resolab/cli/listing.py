"""`resolab list`: the pages, profiles, plans, factors and studies available to a plan, each with a description.

For: finding a name without opening folders. Not for: the content of a page, profile or plan.
"""

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from rich.table import Table
from rich.text import Text

from resolab.basics.errors import UsageError
from resolab.basics.records import TrialKind
from resolab.basics.toml_text import value_text
from resolab.cli.console import Console
from resolab.cli.profile_list import layout_profiles
from resolab.pages.facts import count_facts
from resolab.pages.file import read_model
from resolab.plan import Corpus, access_rtt_ms
from resolab.plan.condition import DECLARED
from resolab.plan.factors import EVERY_FACTOR, FACTORS, NUMBERS, OPTIONAL_FACTORS, format_level, list_allowed_words
from resolab.plan.study import find_study, list_studies

Row = Mapping[str, object]
_DIGITS = 10_000
"""The least number printed with separators and without decimals."""
_NAMED_ELSEWHERE = {
    "page": "resolab list pages",
    "profile": "resolab list profiles",
    "resolver": "names of [resolvers.NAME] in a live plan",
    "resolver_software": "edge, names of [software.NAME] in a plan",
}
"""Where to find the levels that a plan or a folder declares."""
_DECLARED_BY_STUDIES = ("study_arm", "study_case")


def run(what: str, words: Sequence[str] = (), *, as_json: bool, whole: bool = False) -> int:
    """Print the list of a kind of name. With `words`, print the names that contain a word."""
    rows = list(
        {"pages": _pages, "profiles": _profiles, "plans": _plans, "factors": _factors, "studies": _studies}[what](
            Corpus.from_project()
        )
    )
    if words:
        rows = [row for row in rows if any(word in str(next(iter(row.values()))) for word in words)]
        if not rows:
            raise UsageError(f"no name of `resolab list {what}` contains {' or '.join(map(repr, words))}")
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    if what == "profiles":
        for line in layout_profiles(rows, whole=whole or bool(words)):
            Console().print(line, highlight=False, markup=False)
        return 0
    table = Table(box=None, pad_edge=False)
    first = next(iter(rows[0]), "") if rows else ""
    for column in rows[0] if rows else ():
        # The first column holds the names to copy, which no line break may cut.
        table.add_column(column.replace("_", " "), overflow="fold", no_wrap=column == first)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row.values()))
    Console().print(table, highlight=False)
    return 0


def _cell(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool) or value is None:
        return "yes" if value else ""
    if isinstance(value, int | float):
        return f"{value:,.0f}" if value >= _DIGITS else f"{value:.6g}"
    return str(value)


def _pages(corpus: Corpus) -> Iterator[Row]:
    models = corpus.models()
    for page in corpus.read_pages([name for name in corpus.pages() if name not in models]):
        files = [file for host, folder in page.hosts.items() for file in page.find_serving(host).files(folder)]
        yield {
            "page": page.name,
            "names_count": len(page.hosts),
            "requests_count": page.request_count,
            "bytes": sum(file.stat().st_size for file in files),
            "description": _read_key(corpus.page_folder(page.name) / "page.toml", "description"),
        }
    for name, file in models.items():
        # From the model: to make every clone for a list would take its time.
        facts = count_facts(read_model(file))
        yield {
            "page": name,
            "names_count": facts.hosts_count,
            "requests_count": facts.requests_count,
            "bytes": facts.wire_bytes,
            "description": f"clone: {facts.requests_count} requests to {facts.hosts_count} names",
        }


def _profiles(corpus: Corpus) -> Iterator[Row]:
    for name in corpus.profiles():
        profile = corpus.profile(name)
        yield {
            "profile": name,
            "rtt_ms": round(access_rtt_ms(profile), 3),
            "down_bps": profile.down.rate_bps or None,
            "up_bps": profile.up.rate_bps or None,
            "loss_down_ratio": profile.down.loss_ratio or 0.0,
            "loss_up_ratio": profile.up.loss_ratio or 0.0,
            "source": profile.source,
        }


def _plans(corpus: Corpus) -> Iterator[Row]:
    for name in corpus.plans():
        yield {"plan": name, "question": _read_key(corpus.root / "plans" / f"{name}.toml", "question")}


def _factors(_corpus: Corpus) -> Iterator[Row]:
    for factor in EVERY_FACTOR:
        default = format_level(OPTIONAL_FACTORS[factor], factor) if factor in OPTIONAL_FACTORS else None
        yield {"factor": factor, "needed": factor in FACTORS, "levels": _levels(factor), "default": default} | {
            "kinds": _kinds(factor)
        }


def _studies(_corpus: Corpus) -> Iterator[Row]:
    for name in list_studies():
        found = find_study(name)
        yield {
            "study": name,
            "arms": list(found.arms),
            "cases": list(found.cases),
            "factors": list(found.factors),
            "settings": [f"{one.name} = {value_text(one.default)}" for one in fields(found.settings)],
            "outcomes": [f"{name}.{one.name}" for one in found.times],
        }


def _kinds(factor: str) -> list[str]:
    return [str(kind) for kind in TrialKind if DECLARED[factor].belongs_to(kind)]


def _levels(factor: str) -> list[str]:
    if factor in _DECLARED_BY_STUDIES:
        return ["resolab list studies"]
    if factor in _NAMED_ELSEWHERE:
        return [_NAMED_ELSEWHERE[factor]]
    if factor in NUMBERS:
        low, high = NUMBERS[factor]
        return [f"{low:g} to {high:g}"]
    return list(list_allowed_words(factor))


def _read_key(file: Path, key: str) -> str:
    return str(tomllib.loads(file.read_text("utf-8-sig")).get(key, ""))
