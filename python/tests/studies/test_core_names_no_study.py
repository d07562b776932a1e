"""Core code names no study: a study can be added or removed without a change of any other file.

Only files of the product count. The levels of the factor `browser_preset` are names of studies by the format of plans
and records; the generated records list them.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from resolab.basics.records import BrowserPreset
from resolab.browser.presets import find_presets
from resolab.plan.preset_levels import read_presets

PACKAGE = Path(__file__).parents[2] / "resolab"
STUDIES = PACKAGE / "studies"
NAMES = sorted(file.parent.name for file in STUDIES.glob("*/__init__.py"))
GENERATED = PACKAGE / "basics" / "records" / "_generated.py"


def find_mentions(files: Iterable[Path], names: Iterable[str]) -> Iterator[str]:
    """Yield each line that names a study.

    A name with a digit is nobody's word: it counts anywhere, also as a part of an identifier. An ordinary word counts
    as a folder of the package, and as a string.
    """
    coined = "|".join(name for name in names if not name.isalpha())
    every = "|".join(names)
    mention = re.compile(
        rf"(?<![a-z0-9])({coined})(?![a-z0-9])|studies(?:[./ ]| import )({every})\b|[\"']({every})[\"']", re.IGNORECASE
    )
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
            if mention.search(line.replace("_", " ")):
                yield f"{file}:{number}: {line.strip()}"


def list_core_files() -> list[Path]:
    return [
        file
        for file in sorted(PACKAGE.rglob("*"))
        if file.suffix in {".py", ".toml", ".j2", ".html", ".css", ".js", ".sql"}
        and STUDIES not in file.parents
        and file != GENERATED
    ]


def test_core_names_no_study() -> None:
    assert {"h20", "s24"} <= set(NAMES)
    files = list_core_files()
    assert len(files) > 500
    assert list(find_mentions(files, NAMES)) == []


@pytest.mark.parametrize(
    "line",
    [
        "from resolab.studies.h20 import study",
        "H20 = 1",
        "def h20_status():",
        'name == "s24"',
        "# as in s24",
        "from resolab.studies.redial import model",
        "from resolab.studies import redial",
        'kind == "redial"',
    ],
)
def test_a_mention_is_found(tmp_path: Path, line: str) -> None:
    file = tmp_path / "core.py"
    file.write_text(f"import os\n{line}\n")
    assert len(list(find_mentions([file], NAMES))) == 1
    file.write_text("profile = 'sh200'\nh2 = h204 = ['cafe5s24a']\nannounced = redial(host)  # an announced name\n")
    assert list(find_mentions([file], NAMES)) == []


def test_every_preset_of_plans_belongs_to_a_study() -> None:
    assert set(find_presets()) == set(read_presets()) == {str(one) for one in BrowserPreset} <= set(NAMES)
    for name, preset in find_presets().items():
        assert preset.browser == read_presets()[name].browser
