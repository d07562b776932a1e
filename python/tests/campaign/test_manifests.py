from dataclasses import replace

import pytest

from resolab.campaign import manifests
from resolab.plan import Corpus, load_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.records import BrowserName


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    asked: list[str] = []

    def version_of(name: str) -> str:
        asked.append(name)
        return f"{name} 1.2"

    versions = {browser: lambda name=browser: version_of(str(name)) for browser in BrowserName}
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
