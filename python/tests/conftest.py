"""What tests of all rooms share: no waiting for the disk, short reports; its folder puts `synthetic_dataset` on the import path."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from synthetic_dataset import make_dataset

REPORTING = ("report", "store", "studies")
"""Folders of tests that build reports."""
WITH_PAPERS = (
    "test_s24",
    "test_h20",
    "test_interval_level",
    "test_live_walks",
    "test_places_report",
    "test_published_results",
    "test_sections",
    "test_statuses",
)
DRAWN = {"s24", "h20", "live"}
"""The sections with the papers' figures."""


@pytest.fixture(scope="module", autouse=True)
def unsynced() -> Iterator[None]:
    """Nothing that a test writes must outlive a loss of power."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _descriptor: None)
        yield


@pytest.fixture(scope="module", autouse=True)
def without_papers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave the papers' figures, which take longer than all the rest of a report, to the reports of their own tests."""
    with pytest.MonkeyPatch.context() as patch:
        if set(REPORTING) & set(request.path.parts) and request.path.stem not in WITH_PAPERS:
            from resolab import studies

            light = [one for one in studies.find_sections() if one.id not in DRAWN]
            patch.setattr(studies, "find_sections", lambda: light)
        yield


@pytest.fixture
def dataset_folder(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "dataset")
