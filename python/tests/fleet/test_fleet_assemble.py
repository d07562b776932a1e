"""A fleet's dataset is what machines by themselves would have left, row for row, and whole or not there."""

import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest
from pretended import KEEPING, PLAN, carry_out, programs_away, run_of, stand_in  # noqa: F401 - a fixture by its name
from rich.console import Console

from resolab.basics.errors import ConfigurationError
from resolab.campaign import resume_campaign, run_campaign
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.results.assemble import assemble
from resolab.extras.fleet.results.bundle import pack
from resolab.extras.fleet.vantage_run import read_vantage_plan
from resolab.store import RunStatus, StopReason, build_tables, find_finished_trials, load_manifest, open_dataset
from resolab.store.trials import read_trial

CLOCKS = {"monotonic_ns", "wall_time_unix_ns", "load_average_1min"}
Bundles = dict[str, dict[int, Path]]


@pytest.fixture(scope="module")
def run(programs_away: None) -> FleetRun:  # noqa: F811
    return run_of("syd", "fra", "lab")


@pytest.fixture(scope="module")
def bundles(run: FleetRun, tmp_path_factory: pytest.TempPathFactory) -> Bundles:
    """Every block of every vantage point, run in an order of its own."""
    root = tmp_path_factory.mktemp("fleet")
    return {
        vantage: {block: packed(run, vantage, block, root / vantage) for block in order}
        for vantage, order in (("fra", [0, 1, 2]), ("syd", [2, 0, 1]), ("lab", [1, 2, 0]))
    }


def packed(run: FleetRun, vantage: str, block: int, spool: Path) -> Path:
    file = spool / f"{block}.tar.gz"
    pack(carry_out(run, vantage, block, spool), block, file)
    return file


def alone(run: FleetRun, vantage: str, folder: Path) -> Path:
    """What `resolab run --vantage` leaves."""

    def make(*given: Any) -> Any:
        return stand_in(*given, trial_s=0.0)

    run_campaign(read_vantage_plan(run, vantage), folder, Console(quiet=True), make)
    return folder


def trials(folder: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [
            {key: value for key, value in msgspec.to_builtins(record).items() if key not in CLOCKS}
            for record in read_trial(file)
        ]
        for name, file in find_finished_trials(folder).items()
    }


def loads(folder: Path) -> list[dict[str, Any]]:
    build_tables(folder)
    with open_dataset(folder) as dataset:
        # Two runs begin their trials at other times.
        return [msgspec.structs.asdict(row) | {"monotonic_ns": None} for row in dataset.measured_loads()]


@pytest.mark.parametrize("vantage", ["fra", "lab"])
def test_a_fleet_of_one_is_a_run_on_one_machine(run: FleetRun, bundles: Bundles, tmp_path: Path, vantage: str) -> None:
    manifest = assemble(run, {vantage: bundles[vantage]}, tmp_path / "fleet")
    alone(run, vantage, tmp_path / "alone")
    assert list(trials(tmp_path / "fleet").items()) == list(trials(tmp_path / "alone").items())
    assert loads(tmp_path / "fleet") == loads(tmp_path / "alone")
    theirs = load_manifest(tmp_path / "alone")
    for key in (
        "plan_text", "seed", "blocks", "vantage_point", "profiles", "status", "stop_reason", "trials_planned_count",
        "trials_finished_count", "blocks_finished_count", "resume_count", "merged_from", "paths",
    ):  # fmt: skip
        assert getattr(manifest, key) == getattr(theirs, key), key
    assert manifest.warnings == [f"vantage point {one} has no block in it" for one in run.vantages if one != vantage]
    assert load_manifest(tmp_path / "fleet") == manifest
    assert sorted(one.name for one in tmp_path.iterdir()) == ["alone", "fleet"]


def test_several_are_numbered_on_and_each_has_its_own_order(run: FleetRun, bundles: Bundles, tmp_path: Path) -> None:
    manifest = assemble(run, bundles, tmp_path / "fleet")
    assert (manifest.fleet_run, manifest.vantage_point, manifest.blocks) == ("fleet-1", None, 9)
    assert (manifest.status, manifest.trials_finished_count, manifest.trials_planned_count) == ("finished", 36, 36)
    found = trials(tmp_path / "fleet")
    places: dict[str, int] = {}
    for one in manifest.merged_from:
        vantage = found[f"b{one.first_block:03}-t000"][0]["vantage_point"]
        places[vantage] = one.first_block
        assert one.seed == read_vantage_plan(run, vantage).seed
        for name, lines in trials(alone(run, vantage, tmp_path / vantage)).items():
            number = int(name[1:4]) + one.first_block
            mine = found[f"b{number:03}{name[4:]}"]
            renamed = {"block": number, "trial_id": f"b{number:03}{name[4:]}"}
            assert mine == [line | {key: value for key, value in renamed.items() if key in line} for line in lines]
    assert sorted(places) == ["fra", "lab", "syd"]
    assert sorted(places.values()) == [0, 3, 6]
    assert len(loads(tmp_path / "fleet")) == 36


def test_who_has_more_blocks_gives_as_many_as_the_others(run: FleetRun, bundles: Bundles, tmp_path: Path) -> None:
    some = {"fra": bundles["fra"], "syd": {block: bundles["syd"][block] for block in (1, 2)}}
    manifest = assemble(run, some, tmp_path / "even")
    assert manifest.trials_finished_count == 16
    assert manifest.status is RunStatus.INTERRUPTED
    assert "of vantage point fra 1 of 3 blocks were left out: others have fewer" in manifest.warnings
    assert "vantage point lab has no block in it" in manifest.warnings
    assert assemble(run, some, tmp_path / "all", even=False).trials_finished_count == 20


def test_a_run_that_was_stopped_is_told_as_that(run: FleetRun, bundles: Bundles, tmp_path: Path) -> None:
    manifest = assemble(run, {"fra": {2: bundles["fra"][2], 0: bundles["fra"][0]}}, tmp_path / "d")
    assert (manifest.status, manifest.stop_reason) == (RunStatus.INTERRUPTED, StopReason.INTERRUPTED)
    assert (manifest.blocks, manifest.blocks_finished_count, manifest.trials_finished_count) == (3, 2, 8)
    assert {name[:4] for name in find_finished_trials(tmp_path / "d")} == {"b000", "b002"}
    assert len(manifest.starts) == 1
    with pytest.raises(ConfigurationError, match="whose agents go on with it"):
        resume_campaign(tmp_path / "d", Console(quiet=True))


def test_one_forged_block_and_nothing_is_written(run: FleetRun, bundles: Bundles, tmp_path: Path) -> None:
    forged = {"fra": bundles["fra"] | {1: bundles["syd"][1]}, "syd": bundles["syd"]}
    with pytest.raises(ConfigurationError, match="vantage_point of its manifest is 'syd', ordered was 'fra'"):
        assemble(run, forged, tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_a_forged_block_is_left_out_where_somebody_is_told(run: FleetRun, bundles: Bundles, tmp_path: Path) -> None:
    forged = {"fra": bundles["fra"] | {1: bundles["syd"][1]}, "syd": bundles["syd"]}
    told: list[tuple[str, int]] = []
    manifest = assemble(
        run, forged, tmp_path / "d", left_out=lambda vantage, block, _why: told.append((vantage, block))
    )
    assert told == [("fra", 1)]
    assert manifest.trials_finished_count == 2 * 2 * 4
    assert "of vantage point syd 1 of 3 blocks were left out: others have fewer" in manifest.warnings
    assert [one.name for one in tmp_path.iterdir()] == ["d"]


def test_where_something_is_nothing_is_written(run: FleetRun, bundles: Bundles, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    assemble(run, {"fra": bundles["fra"]}, tmp_path / "d")
    before = sorted((tmp_path / "d").rglob("*"))
    with pytest.raises(ConfigurationError, match="it is there and not empty"):
        assemble(run, {"fra": bundles["fra"]}, tmp_path / "d")
    assert sorted((tmp_path / "d").rglob("*")) == before
    with pytest.raises(ConfigurationError, match="there is no block of it"):
        assemble(run, {"fra": {}}, tmp_path / "e")


def test_a_spool_that_got_lost_is_two_beginnings(run: FleetRun, tmp_path: Path) -> None:
    files = {0: packed(run, "fra", 0, tmp_path / "s")}
    shutil.move(files[0], tmp_path / "0.tar.gz")
    shutil.rmtree(tmp_path / "s")
    second = {block: packed(run, "fra", block, tmp_path / "s") for block in (2, 1)}
    manifest = assemble(run, {"fra": {0: tmp_path / "0.tar.gz", **second}}, tmp_path / "d")
    assert (manifest.status, len(manifest.starts)) == (RunStatus.FINISHED, 2)
    assert trials(tmp_path / "d") == trials(alone(run, "fra", tmp_path / "alone"))


def test_what_is_kept_of_trials_comes_along(tmp_path: Path) -> None:
    run = run_of("fra", text=PLAN + KEEPING)
    files = {block: packed(run, "fra", block, tmp_path / "s") for block in range(3)}
    assemble(run, {"fra": files}, tmp_path / "d")
    assert len(list((tmp_path / "d" / "key_logs").iterdir())) == 12
    assert (tmp_path / "d" / "key_logs" / "b002-t001.keys").read_text() == "b002-t001"
