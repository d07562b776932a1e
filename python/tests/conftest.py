"""Fixtures shared by the rooms that read datasets; its folder also puts `synthetic_dataset` on the import path."""

from pathlib import Path

import pytest
from synthetic_dataset import make_dataset


@pytest.fixture
def dataset_folder(tmp_path: Path) -> Path:
    return make_dataset(tmp_path / "dataset")
