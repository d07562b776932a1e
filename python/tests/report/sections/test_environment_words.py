"""How the report's environment section describes the access links."""

from dataclasses import replace
from pathlib import Path

import msgspec
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.basics.records import PolicerSettings
from resolab.report.findings.analysis import analyse
from resolab.report.sections.environment import profiles
from resolab.store import build_tables, open_dataset


def test_a_policed_direction_says_its_rate_and_burst(tmp_path: Path) -> None:
    make_dataset(tmp_path / "d", make_plan(PLAN_TEXT))
    build_tables(tmp_path / "d")
    with open_dataset(tmp_path / "d") as dataset:
        found = analyse(dataset)
    link = found.manifest.profiles[0]
    policer = PolicerSettings(rate_bps=22_100_000, burst_bytes=262_144)
    down = msgspec.structs.replace(link.down, rate_bps=None, policer=policer)
    policed = msgspec.structs.replace(link, down=down)
    manifest = msgspec.structs.replace(found.manifest, profiles=[policed])
    ((name, words),) = profiles(replace(found, manifest=manifest))
    assert name == link.name
    assert "unlimited, policed at 22.100 Mbit/s beyond 262144 bytes down, " in words
