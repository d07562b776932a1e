"""The papers' figures take longer than all the rest of a report: they are left out of those that other tests build."""

from collections.abc import Iterator

import pytest

from resolab.report import build
from resolab.report.s24 import s24_drawings


@pytest.fixture(scope="session", autouse=True)
def without_papers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "s24_drawings", lambda _dataset, _findings: iter(()))
        yield


@pytest.fixture
def with_papers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "s24_drawings", s24_drawings)
