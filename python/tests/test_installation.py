"""A checkout and a wheel's copy each find their own plans, schema and resolab-core."""

import importlib.util
import sysconfig
from pathlib import Path

import pytest

from resolab.basics import installation
from resolab.basics.errors import ConfigurationError, MachineError
from resolab.plan import Corpus, load_plan

ROOT = Path(__file__).parents[2]


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a wheel lays beside the package."""
    data = tmp_path / "resolab" / "data"
    data.mkdir(parents=True)
    monkeypatch.setattr(installation, "_PACKAGED", data)
    monkeypatch.delenv("RESOLAB_CORE", raising=False)
    return data


def test_a_checkout_uses_its_own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RESOLAB_CORE", raising=False)
    assert installation.project_root() == ROOT == installation.checkout()
    assert installation.find_core() == ROOT / "target" / "release" / "resolab-core"


def test_a_wheel_uses_what_it_brought(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation.project_root() == wheel
    assert installation.checkout() is None
    assert installation.read_packaged_commit() is None
    (wheel / "commit").write_text("abc+changes\n")
    assert installation.read_packaged_commit() == "abc+changes"
    scripts = tmp_path / "bin"
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(scripts))
    with pytest.raises(MachineError, match="install resolab again"):
        installation.find_core()
    scripts.mkdir()
    (scripts / "resolab-core").touch(mode=0o755)
    assert installation.find_core() == scripts / "resolab-core"
    with pytest.raises(MachineError, match=r"install resolab again$"):
        installation.find_load()


def test_the_environment_names_another_core(wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert wheel
    other = tmp_path / "other"
    other.touch(mode=0o755)
    monkeypatch.setenv("RESOLAB_CORE", str(other))
    assert installation.find_core() == other
    load = tmp_path / "resolab-load"
    load.touch(mode=0o755)
    assert installation.find_load() == load


@pytest.mark.parametrize(
    ("extra", "module", "line"),
    [
        ("evidence", "perfetto", "perfetto not installed: pip install 'resolab[evidence]'"),
        ("fleet", "nats", "nats-py not installed: pip install 'resolab[fleet]'"),
    ],
)
def test_a_missing_extra_is_named_with_its_remedy(
    extra: str, module: str, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.check_extra(extra)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else find(name))
    with pytest.raises(MachineError) as refused:
        installation.check_extra(extra)
    assert str(refused.value) == line


def test_only_evidence_loads_perfetto() -> None:
    """Without the extra, all other commands work."""
    package = ROOT / "python" / "resolab"
    users = {
        file.relative_to(package).parts[:2] for file in package.rglob("*.py") if "perfetto.protos" in file.read_text()
    }
    assert users == {("extras", "evidence")}


def test_a_plan_that_comes_along_is_found_by_name_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load_plan(Path("quick")).name == load_plan(ROOT / "plans" / "quick.toml").name
    with pytest.raises(ConfigurationError, match=r"come[s]? along: .*quick"):
        load_plan(Path("quik"))
    own = tmp_path / "quick"
    own.write_text("no plan")
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        load_plan(Path("quick"))  # a file of that name goes first


def test_every_plan_of_the_project_comes_along() -> None:
    assert set(Corpus.from_project().plans()) == {file.stem for file in (ROOT / "plans").glob("*.toml")}
