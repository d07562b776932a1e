"""Profiles as a paper published them differ from ours in what they say and in nothing else.

Rates, delay and jitter of the WWW 2020 study's are checked where profiles are read (`crates/link`).
"""

import tomllib
from pathlib import Path

import pytest

from resolab.studies.h20.paper_numbers import NETWORKS
from resolab.studies.paper_profiles import AS_PUBLISHED, find_paper_profile

PROFILES = Path(__file__).parents[3] / "profiles"
PUBLISHED = sorted(file.stem for file in PROFILES.glob(f"*{AS_PUBLISHED}.toml"))
H20 = [name for name in PUBLISHED if "-h20" in name]
S24 = [name for name in PUBLISHED if name not in H20]


def of(name: str) -> dict[str, dict[str, object]]:
    return tomllib.loads((PROFILES / f"{name}.toml").read_text("utf-8"))


def test_all_five_links_of_the_cross_layer_study_are_there() -> None:
    assert {find_paper_profile(name) for name in S24} == {"fiber", "cable", "dsl", "4g", "4g-medium"}


def test_the_three_emulated_networks_of_the_www_study_are_there_and_stand_for_its_numbers() -> None:
    assert [NETWORKS[find_paper_profile(name)] for name in H20] == ["3G", "4G", "lossy 4G"]


@pytest.mark.parametrize("name", H20)
def test_loss_is_upstream_alone_and_downstream_is_policed(name: str) -> None:
    ours, theirs = of(find_paper_profile(name)), of(name)
    assert theirs["up"]["loss_ratio"] == ours["up"]["loss_ratio"]
    assert theirs["up"]["rate_bps"] == ours["up"]["rate_bps"]
    policer = {"rate_bps": ours["down"]["rate_bps"], "burst_bytes": 256 * 1024}
    assert theirs["down"] == {"one_way_delay_ms": 0, "policer": policer}


@pytest.mark.parametrize("name", S24)
def test_the_queue_alone_is_another(name: str) -> None:
    ours, theirs = of(find_paper_profile(name)), of(name)
    assert theirs.pop("name") == name
    assert ours.pop("name") == find_paper_profile(name)
    for direction in ("up", "down"):
        assert theirs[direction].pop("queue_packets") == 1_000
        assert "queue_bytes" not in theirs[direction]
    assert theirs == ours
