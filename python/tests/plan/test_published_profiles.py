"""Profiles as a paper published them differ from ours in what they say and in nothing else."""

import tomllib
from pathlib import Path

import pytest

from resolab.report.as_printed import AS_PUBLISHED, printed_profile

PROFILES = Path(__file__).parents[3] / "profiles"
PUBLISHED = sorted(file.stem for file in PROFILES.glob(f"*{AS_PUBLISHED}.toml"))


def of(name: str) -> dict[str, dict[str, object]]:
    return tomllib.loads((PROFILES / f"{name}.toml").read_text("utf-8"))


def test_all_five_links_of_the_cross_layer_study_are_there() -> None:
    assert {printed_profile(name) for name in PUBLISHED} == {"fiber", "cable", "dsl", "4g", "4g-medium"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_queue_alone_is_another(name: str) -> None:
    ours, theirs = of(printed_profile(name)), of(name)
    assert theirs.pop("name") == name
    assert ours.pop("name") == printed_profile(name)
    for direction in ("up", "down"):
        assert theirs[direction].pop("queue_packets") == 1_000
        assert "queue_bytes" not in theirs[direction]
    assert theirs == ours
