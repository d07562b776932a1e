"""A dataset says what every part of it was made with, and does not mix pages."""

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from killable import PretendedTestbed
from rich.console import Console

import resolab
from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserKind
from resolab.campaign import loop, manifests, provenance, resume_campaign, run_campaign
from resolab.plan import Corpus, parse_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.store import load_manifest, save_manifest

PLAN = """
name = "ground"
question = "What do trials stand on?"
seed = 3
blocks = 2
[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doudp", "doh"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
"""


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may have paths up on this machine, of which a campaign says so."""
    monkeypatch.setattr(loop, "other_paths", lambda: 0)


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Corpus:
    """A corpus of our own, and programs that can be exchanged."""
    root = tmp_path / "corpus"
    shutil.copytree(PROJECT_ROOT / "pages" / "example", root / "pages" / "example")
    (root / "profiles").mkdir()
    shutil.copyfile(PROJECT_ROOT / "profiles" / "fiber.toml", root / "profiles" / "fiber.toml")
    core = tmp_path / "resolab-core"
    core.write_text("#!/bin/sh\necho resolab-core 0.1.0\n")
    core.chmod(0o755)
    monkeypatch.setenv("RESOLAB_CORE", str(core))
    corpus = Corpus(root)
    monkeypatch.setattr(Corpus, "from_project", lambda own=None: replace(corpus, own_pages=own or {}))
    commit_is(monkeypatch, "c0ffee")
    browser_is(monkeypatch, "150")
    return corpus


def commit_is(monkeypatch: pytest.MonkeyPatch, commit: str) -> None:
    monkeypatch.setattr(provenance, "git_commit", lambda _root: commit)


def browser_is(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: version for browser in BrowserKind})


def begun(corpus: Corpus, folder: Path) -> Path:
    """A run of which half the trials are gone again."""
    run_campaign(parse_plan(PLAN, "ground", corpus), folder, Console(file=io.StringIO()), PretendedTestbed)
    for file in (folder / "trials").glob("b001-*.jsonl"):
        file.unlink()
    return folder


def resumed(folder: Path) -> str:
    said = io.StringIO()
    resume_campaign(folder, Console(file=said), PretendedTestbed)
    return said.getvalue()


def test_a_resume_on_the_same_ground_says_nothing_and_is_recorded(corpus: Corpus, tmp_path: Path) -> None:
    folder = begun(corpus, tmp_path / "out")
    assert "warning" not in resumed(folder)
    manifest = load_manifest(folder)
    assert (len(manifest.starts), manifest.warnings) == (2, [])
    first, second = manifest.starts
    assert first.unix_ns < second.unix_ns
    assert first.git_commit == second.git_commit == "c0ffee"
    assert len(first.resolab_core_sha256 or "") == 64
    assert set(first.pages_sha256) == {"example"}
    assert first.versions == {"resolab": resolab.__version__, "resolab-core": "0.1.0", "chromium": "150"}


def test_a_resume_with_other_programs_says_what_differs(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = begun(corpus, tmp_path / "out")
    commit_is(monkeypatch, "decade+changes")
    browser_is(monkeypatch, "151")
    with (tmp_path / "resolab-core").open("a") as stream:
        stream.write("# another build\n")
    said = resumed(folder)
    manifest = load_manifest(folder)
    assert [one.partition(";")[0].partition(" (")[0] for one in manifest.warnings] == [
        "from resume 1 on, the version of chromium is 151",
        "from resume 1 on, the code's git commit is decade+changes",
        "from resume 1 on, the binary resolab-core",
    ]
    for warning in manifest.warnings:
        assert f"warning: {warning}\n" in said
    assert manifest.starts[0].resolab_core_sha256 != manifest.starts[1].resolab_core_sha256


@pytest.mark.parametrize("change", ["content", "name", "more"])
def test_a_resume_with_another_page_is_refused(corpus: Corpus, tmp_path: Path, change: str) -> None:
    page = corpus.page_folder("example")
    file = page / "site" / "style.css"
    file.write_text("p {}")
    folder = begun(corpus, tmp_path / "out")
    if change == "content":
        file.write_bytes(file.read_bytes() + b" ")
    elif change == "name":
        file.rename(file.with_name("renamed"))
    else:
        (page / "more.html").write_text("more")
    trials = sorted((folder / "trials").iterdir())
    with pytest.raises(ConfigurationError, match="page 'example' has changed since the run began"):
        resumed(folder)
    assert sorted((folder / "trials").iterdir()) == trials


@pytest.mark.parametrize("changed", ["own.conf", "resolver"])
def test_a_resume_with_other_software_of_the_plan_is_refused(corpus: Corpus, tmp_path: Path, changed: str) -> None:
    for name in ("own.conf", "resolver"):
        (tmp_path / name).write_text("one\n")
        (tmp_path / name).chmod(0o755)
    software = """[software.mine]
command = ["./resolver", "@CONFIGURATION@"]
configuration = "own.conf"
transports = ["doudp", "doh"]
"""
    text = PLAN.replace('doh = "native"', 'doh = "stub"').replace('= ["h3"]', '= ["h3"]\nresolver_software = ["mine"]')
    folder = tmp_path / "out"
    plan = parse_plan(text + software, "ground", corpus, base=tmp_path)
    run_campaign(plan, folder, Console(file=io.StringIO()), PretendedTestbed)
    (folder / "trials" / next(one.name for one in (folder / "trials").glob("b001-*.jsonl"))).unlink()
    assert load_manifest(folder).starts[0].software["mine"].command[1:] == ["@CONFIGURATION@"]
    (tmp_path / changed).write_text("two\n")
    with pytest.raises(ConfigurationError, match="software 'mine' has changed since the run began; put it back"):
        resumed(folder)
    (tmp_path / changed).write_text("one\n")
    assert "warning" not in resumed(folder)


def test_a_dataset_of_an_older_version_resumes_without_a_word(corpus: Corpus, tmp_path: Path) -> None:
    folder = begun(corpus, tmp_path / "out")
    text = json.loads((folder / "manifest.json").read_text())
    del text["starts"]
    (folder / "manifest.json").write_text(json.dumps(text | {"format_version": "1.6"}))
    save_manifest(folder, load_manifest(folder))
    assert "warning" not in resumed(folder)
    assert len(load_manifest(folder).starts) == 1
