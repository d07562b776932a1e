import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from resolab.basics.errors import MachineError
from resolab.basics.records import BrowserKind
from resolab.browser.find import hash_code
from resolab.campaign import manifests
from resolab.plan import Corpus, Plan, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def version_of(name: str) -> str:
        asked.append(name)
        return f"{name} 1.2"

    versions = {browser: lambda name=browser: version_of(str(name)) for browser in BrowserKind}
    monkeypatch.setattr(manifests, "_VERSION_OF", versions)
    monkeypatch.setattr(manifests, "_core_version", lambda: "0.1.0")
    return asked


def test_every_browser_the_plan_uses_is_asked_once(asked: list[str]) -> None:
    plan = load_plan(PROJECT_ROOT / "plans" / "browsers-quick.toml")
    manifest = manifests.new_manifest(plan, Corpus.from_project(), ["resolab", "run"])
    assert manifest.versions.browsers == {"chromium": "chromium 1.2", "firefox": "firefox 1.2"}
    assert manifest.versions.browser == "chromium 1.2"
    assert asked == ["chromium", "firefox"]
    assert manifest.trials_planned_count == 96


def test_a_browser_of_excluded_conditions_is_not_needed(asked: list[str]) -> None:
    plan = load_plan(PROJECT_ROOT / "plans" / "browsers-quick.toml")
    plan = replace(plan, exclude=(*plan.exclude, {"browser": ("chromium",)}))
    versions = manifests.new_manifest(plan, Corpus.from_project(), ["resolab", "run"]).versions
    assert (versions.browser, versions.browsers) == ("firefox 1.2", {"firefox": "firefox 1.2"})
    assert asked == ["firefox"]


def write_program(file: Path, version: str) -> Path:
    file.write_text(f"#!/bin/sh\necho {version}\n")
    file.chmod(0o755)
    return file


def plan_with_build(folder: Path) -> Plan:
    text = (PROJECT_ROOT / "plans" / "quick.toml").read_text("utf-8")
    text = text.replace("[factors]", '[browser.mine]\nkind = "chromium"\npath = "mine"\n[factors]\nbrowser = ["mine"]')
    return parse_plan(text, "p.toml", Corpus.from_project(), base=folder)


def test_a_plans_own_build_is_described_with_version_and_digest(tmp_path: Path) -> None:
    program = write_program(tmp_path / "mine", "Chromium 157.0.1.2 nightly")
    manifest = manifests.new_manifest(plan_with_build(tmp_path), Corpus.from_project(), ["resolab", "run"])
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    described = manifest.browser_programs["mine"]
    assert (described.kind, described.version, described.sha256) == ("chromium", "Chromium 157.0.1.2", digest)
    assert manifest.versions.browsers == {"mine": f"Chromium 157.0.1.2 (sha256 {digest[:12]})"}
    assert manifest.plan_folder == str(tmp_path)


@pytest.mark.parametrize(("mode", "problem"), [(None, "no such file"), (0o644, "not executable")])
def test_a_build_that_cannot_run_is_one_line(tmp_path: Path, mode: int | None, problem: str) -> None:
    if mode is not None:
        write_program(tmp_path / "mine", "1").chmod(mode)
    with pytest.raises(MachineError, match=problem) as caught:
        manifests.new_manifest(plan_with_build(tmp_path), Corpus.from_project(), ["resolab", "run"])
    assert str(tmp_path / "mine") in str(caught.value)
    assert "[browser.mine]" in str(caught.value)


def test_firefoxs_code_is_in_its_library(tmp_path: Path) -> None:
    program = write_program(tmp_path / "firefox", "1")
    assert hash_code(BrowserKind.FIREFOX, program)[0] == program
    (tmp_path / "libxul.so").write_bytes(b"code")
    assert hash_code(BrowserKind.FIREFOX, program) == (tmp_path / "libxul.so", hashlib.sha256(b"code").hexdigest())
