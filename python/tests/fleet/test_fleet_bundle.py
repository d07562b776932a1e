"""A block travels as it is, and nothing else passes for it."""

import gzip
import io
import json
import shutil
import stat
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pretended import KEEPING, PLAN, carry_out, changed, programs_away, run_of  # noqa: F401 - a fixture by its name

from resolab.basics.errors import ConfigurationError, StorageError
from resolab.extras.fleet.job import FleetRun
from resolab.extras.fleet.results import bundle
from resolab.extras.fleet.results.bundle import compute_sha256, pack, unpack
from resolab.extras.fleet.results.order_check import build_expected_block

FIRST, LAST = "trials/b001-t000.jsonl", "trials/b001-t003.jsonl"
KEYS = "key_logs/b001-t000.keys"
Content = dict[str, bytes]


@pytest.fixture(scope="module")
def run(programs_away: None) -> FleetRun:  # noqa: F811
    return run_of("fra", "syd", text=PLAN + KEEPING)


@pytest.fixture(scope="module")
def dataset(run: FleetRun, tmp_path_factory: pytest.TempPathFactory) -> Path:
    spool = tmp_path_factory.mktemp("spool")
    carry_out(run, "fra", 0, spool)
    return carry_out(run, "fra", 1, spool)


@pytest.fixture(scope="module")
def packed(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("bundles") / "1.tar.gz"
    pack(dataset, 1, file)
    return file


def content_of(file: Path) -> Content:
    with tarfile.open(file) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar}  # type: ignore[union-attr]


def written(file: Path, content: Content, more: list[tarfile.TarInfo] | None = None) -> Path:
    with tarfile.open(file, "w:gz", format=tarfile.USTAR_FORMAT) as tar:
        for name, text in content.items():
            info = tarfile.TarInfo(name)
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text))
        for info in more or ():
            tar.addfile(info)
    return file


def refused(file: Path, run: FleetRun, folder: Path, *, vantage: str = "fra", block: int = 1) -> str:
    """Unpack what must not pass; returns why it did not."""
    with pytest.raises(ConfigurationError) as error:
        unpack(file, folder / "out", build_expected_block(run, vantage, block))
    assert not (folder / "out").exists()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_block_travels_as_it_is(run: FleetRun, dataset: Path, packed: Path, tmp_path: Path) -> None:
    manifest = unpack(packed, tmp_path / "out", build_expected_block(run, "fra", 1))
    assert (manifest.fleet_run, manifest.vantage_point) == ("fleet-1", "fra")
    names = {one.relative_to(tmp_path / "out").as_posix() for one in (tmp_path / "out").rglob("*") if one.is_file()}
    trials = [f"b001-t{position:03}" for position in range(4)]
    assert names == {
        "manifest.json", *(f"trials/{one}.jsonl" for one in trials), *(f"key_logs/{one}.keys" for one in trials)
    }  # fmt: skip
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (dataset / name).read_bytes()
    assert stat.S_IMODE((tmp_path / "out" / KEYS).stat().st_mode) == 0o600


def test_the_same_files_give_the_same_bytes(dataset: Path, packed: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dataset, tmp_path / "elsewhere", copy_function=shutil.copyfile)
    for file in copy.rglob("*"):
        if file.is_file():
            file.chmod(0o640)
    again = pack(copy, 1, tmp_path / "another.tar.gz")
    assert again.sha256 == compute_sha256(packed)
    assert (tmp_path / "another.tar.gz").read_bytes() == packed.read_bytes()
    assert again.size_bytes == packed.stat().st_size


def test_a_block_that_is_not_whole_is_not_packed(dataset: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(dataset, tmp_path / "d")
    (copy / LAST).unlink()
    for block, problem in (
        (1, f"{LAST} is not there"),
        (2, "trials/b002-t000.jsonl is not there"),
        (9, "is not there"),
    ):
        with pytest.raises(ConfigurationError, match=problem):
            pack(copy, block, tmp_path / "file")
    (copy / LAST).write_bytes((copy / FIRST).read_bytes()[:-9])
    with pytest.raises(ConfigurationError, match="failed to read"):
        pack(copy, 1, tmp_path / "file")
    assert [one.name for one in tmp_path.iterdir()] == ["d"]


def test_where_nothing_can_be_written_nothing_is_left(dataset: Path, tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()
    with pytest.raises(StorageError, match="failed to write"):
        pack(dataset, 1, tmp_path / "file")
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_the_block_of_another_place_or_run_is_refused(
    run: FleetRun, dataset: Path, packed: Path, tmp_path: Path
) -> None:
    assert "trials/b001-t000.jsonl is no trial of this block" in refused(packed, run, tmp_path, block=0)
    assert "vantage_point of its manifest is 'fra', ordered was 'syd'" in refused(packed, run, tmp_path, vantage="syd")
    assert "fleet_run of its manifest" in refused(packed, changed(run, id="fleet-2"), tmp_path)
    assert "seed of its manifest" in refused(packed, changed(run, seed=12), tmp_path)
    assert "blocks of its manifest" in refused(packed, changed(run, blocks=2), tmp_path)
    assert "plan_text of its manifest" in refused(packed, changed(run, plan_text=PLAN + KEEPING + " "), tmp_path)
    begun = changed(run.ground, git_commit="decade")  # type: ignore[arg-type]
    assert "is for commit decade, here is c0ffee" in refused(packed, changed(run, ground=begun), tmp_path)
    with pytest.raises(ConfigurationError, match="is not for vantage point lon"):
        build_expected_block(run, "lon", 1)
    with pytest.raises(ConfigurationError, match="has no block 3"):
        build_expected_block(run, "fra", 3)


def first_line(**changes: object) -> Callable[[Content], Content]:
    """Forge the first line of a trial."""

    def forge(content: Content) -> Content:
        lines = content[FIRST].splitlines(keepends=True)
        head = json.dumps(json.loads(lines[0]) | changes).encode() + b"\n"
        return content | {FIRST: b"".join([head, *lines[1:]])}

    return forge


def last_line(**changes: object) -> Callable[[Content], Content]:
    def forge(content: Content) -> Content:
        lines = content[FIRST].splitlines(keepends=True)
        end = json.dumps(json.loads(lines[-1]) | changes).encode() + b"\n"
        return content | {FIRST: b"".join([*lines[:-1], end])}

    return forge


def swapped(content: Content) -> Content:
    """Put the numbers of one condition in the place of another, identifiers mended."""
    one, two = content[FIRST], content[LAST]
    return content | {
        FIRST: two.replace(b"b001-t003", b"b001-t000").replace(b'"position":3', b'"position":0'),
        LAST: one.replace(b"b001-t000", b"b001-t003").replace(b'"position":0', b'"position":3'),
    }


def without(name: str) -> Callable[[Content], Content]:
    return lambda content: {key: text for key, text in content.items() if key != name}


def with_file(name: str, text: bytes = b"x") -> Callable[[Content], Content]:
    return lambda content: content | {name: text}


def edited(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Content], Content]:
    return lambda content: content | {name: edit(content[name])}


def manifest(**changes: Any) -> Callable[[Content], Content]:
    return edited("manifest.json", lambda text: json.dumps(json.loads(text) | changes).encode())


FORGED = {
    "another condition": (first_line(condition="example.fiber.doq.h3.full"), "condition of trial b001-t000 is"),
    "another level": (first_line(profile="cable"), "profile of trial b001-t000 is 'cable', ordered was"),
    "another browser": (first_line(browser="firefox"), "browser of trial b001-t000 is 'firefox'"),
    "another position": (first_line(position=1), "position of trial b001-t000 is '1', ordered was '0'"),
    "another block": (first_line(block=0), "block of trial b001-t000 is '0', ordered was '1'"),
    "another name": (first_line(trial_id="b001-t001"), "trial_id of trial b001-t000 is"),
    "another place": (first_line(vantage_point="syd"), "vantage_point of trial b001-t000 is 'syd', ordered was 'fra'"),
    "a copy": (first_line(replicate=2), "replicate of trial b001-t000 is '2'"),
    "another format": (first_line(format_version="9.0"), "trial b001-t000 is no trial's file"),
    "two in each other's place": (swapped, "of trial b001-t000 is"),
    "another end": (last_line(trial_id="b001-t001"), "trial b001-t000 ends as 'b001-t001'"),
    "a trial less": (without(LAST), "trial b001-t003 is missing"),
    "a trial more": (with_file("trials/b001-t004.jsonl"), "trials/b001-t004.jsonl is no trial of this block"),
    "a trial of before": (with_file("trials/b000-t000.jsonl"), "trials/b000-t000.jsonl is no trial of this block"),
    "no manifest": (without("manifest.json"), "it has no manifest.json"),
    "a cut manifest": (edited("manifest.json", lambda text: text[:90]), "its manifest cannot be read"),
    "no ground": (manifest(starts=[]), "its manifest does not say what its trials stand on"),
    "profiles of its own": (manifest(profiles=[]), "profiles of its manifest is"),
    "no end": (
        edited(FIRST, lambda text: b"".join(text.splitlines(keepends=True)[:-1])),
        "trial b001-t000 is not whole",
    ),
    "no lines": (edited(FIRST, lambda _text: b""), "trial b001-t000 is no trial's file"),
    "a cut line": (edited(FIRST, lambda text: text[:-9]), "trial b001-t000 is no trial's file"),
    "no record": (edited(FIRST, lambda text: text + b"{}\n"), "trial b001-t000 is no trial's file"),
    "two trials in one": (edited(FIRST, lambda text: text + text), "trial b001-t000 is not whole"),
    "a number that no table takes": (
        edited(FIRST, lambda text: text.replace(b'"request_count":null', b'"request_count":' + b"9" * 30)),
        "trial b001-t000 has a number that no table takes",
    ),
    "a manifest with one": (manifest(resume_count=10**30), "its manifest has a number that no table takes"),
    "a file nobody names": (
        with_file("captures/b001-t000.pcapng"),
        "none of its trials names captures/b001-t000.pcapng",
    ),
    "a name outside": (last_line(key_log_file="../../secret"), "names '../../secret', which is no file of a dataset"),
    "an absolute name": (last_line(capture_file="/etc/passwd"), "names '/etc/passwd', which is no file of a dataset"),
    "a file outside": (with_file("../x"), "it holds '../x', which is no file of a block"),
    "a file outside, further in": (with_file("captures/../../x"), "which is no file of a block"),
    "an absolute file": (with_file("/tmp/x"), "which is no file of a block"),
    "a folder more": (with_file("captures/a/b/c"), "which is no file of a block"),
    "a hidden file": (with_file("captures/.x"), "which is no file of a block"),
    "lines in a name": (with_file("captures/a\nb"), "which is no file of a block"),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_forged_result_does_not_pass(run: FleetRun, packed: Path, tmp_path: Path, forgery: str) -> None:
    forge, why = FORGED[forgery]
    file = written(tmp_path / "forged.tar.gz", forge(content_of(packed)))
    assert why in refused(file, run, tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["forged.tar.gz"]


def test_what_is_put_together_anew_passes(run: FleetRun, packed: Path, tmp_path: Path) -> None:
    """The forgeries above are refused for what they are."""
    unpack(written(tmp_path / "same.tar.gz", content_of(packed)), tmp_path / "out", build_expected_block(run, "fra", 1))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE,
             tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.GNUTYPE_SPARSE, tarfile.CONTTYPE],
)  # fmt: skip
def test_only_plain_files_are_taken(run: FleetRun, packed: Path, tmp_path: Path, kind: bytes) -> None:
    info = tarfile.TarInfo("captures/x")
    info.type, info.linkname = kind, "/etc/passwd"
    file = written(tmp_path / "forged.tar.gz", content_of(packed), [info])
    assert "it holds 'captures/x', which is no plain file" in refused(file, run, tmp_path)


def test_the_same_name_twice_and_too_many_names_are_refused(run: FleetRun, packed: Path, tmp_path: Path) -> None:
    file = written(tmp_path / "twice.tar.gz", content_of(packed), [tarfile.TarInfo("manifest.json")])
    assert "it holds manifest.json twice" in refused(file, run, tmp_path)
    many = [tarfile.TarInfo(f"captures/{number}") for number in range(100)]
    file = written(tmp_path / "many.tar.gz", content_of(packed), many)
    assert "it holds more than 37 files" in refused(file, run, tmp_path)


def test_what_is_too_large_is_not_written(
    run: FleetRun, packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bomb = content_of(packed) | {KEYS: bytes(3_000_000)}
    file = written(tmp_path / "bomb.tar.gz", bomb)
    monkeypatch.setattr(bundle, "LARGEST_BYTES", 2_000_000)
    assert file.stat().st_size < 100_000
    assert f"with {KEYS} it is larger than is allowed" in refused(file, run, tmp_path)
    monkeypatch.setattr(bundle, "LARGEST_TRIAL_BYTES", 10)
    assert f"with {FIRST} it is larger than is allowed" in refused(packed, run, tmp_path)


def test_a_size_that_is_a_lie_is_refused_before_it_is_believed(run: FleetRun, packed: Path, tmp_path: Path) -> None:
    info = tarfile.TarInfo("manifest.json")
    for size in (2**40, -1):
        info.size = size
        file = tmp_path / "lie.tar.gz"
        file.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))
        assert "it is larger than is allowed" in (why := refused(file, run, tmp_path)) or "no plain file" in why
    info.size = 5000
    file.write_bytes(gzip.compress(info.tobuf(tarfile.USTAR_FORMAT) + bytes(1024)))
    assert "its file is cut" in refused(file, run, tmp_path)


def test_a_file_that_is_cut_or_damaged_is_refused(run: FleetRun, packed: Path, tmp_path: Path) -> None:
    whole, file = packed.read_bytes(), tmp_path / "cut.tar.gz"
    for length in (0, 1, 10, len(whole) // 2, len(whole) - 8, len(whole) - 1):
        file.write_bytes(whole[:length])
        assert "its file is cut" in refused(file, run, tmp_path)
    for place in range(10, len(whole), len(whole) // 40):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        refused(file, run, tmp_path)
    file.write_bytes(whole + b"more")
    assert "its file is cut or damaged" in refused(file, run, tmp_path)
    file.write_bytes(gzip.compress(gzip.decompress(whole) + b"more"))
    assert "something stands behind its last file" in refused(file, run, tmp_path)


def test_a_folder_that_is_there_is_not_touched(run: FleetRun, packed: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(StorageError):
        unpack(packed, tmp_path, build_expected_block(run, "fra", 1))
    assert (tmp_path / "mine").read_text() == "mine"


def test_a_plan_that_samples_pages_has_its_pages_order_checked(tmp_path: Path) -> None:
    text = PLAN.replace('["example"]', '["example", "wikipedia", "instagram"]') + '[design]\nunit = "page"\n'
    run = run_of("fra", text=text)
    dataset = carry_out(run, "fra", 2, tmp_path / "spool")
    pack(dataset, 2, tmp_path / "2.tar.gz")
    expected = build_expected_block(run, "fra", 2)
    unpack(tmp_path / "2.tar.gz", tmp_path / "good", expected)
    assert len({one.condition.page for one in expected.trials.values()}) == 1
    others = {
        name: replace(one, condition=replace(one.condition, page="other")) for name, one in expected.trials.items()
    }
    with pytest.raises(ConfigurationError, match="condition of trial b002-t000 is"):
        unpack(tmp_path / "2.tar.gz", tmp_path / "out", replace(expected, trials=others))
