"""Real recordings, where they lie beside the project: every one becomes a model. An extra: without them it is skipped."""

import csv
import os
from pathlib import Path

import pytest

from resolab.extras.recordings import import_page
from resolab.pages.facts import count_facts

FOLDER = Path(os.environ.get("RESOLAB_RECORDINGS", Path(__file__).resolve().parents[4] / "shared" / "hars"))
MANIFEST = FOLDER / "manifest.tsv"
pytestmark = pytest.mark.skipif(not MANIFEST.is_file(), reason=f"{FOLDER} is absent: no real recordings to read")


def rows() -> list[dict[str, str]]:
    if not MANIFEST.is_file():
        return []
    with MANIFEST.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["file"].removesuffix(".har.gz"))
def test_a_real_recording_becomes_a_model_without_its_names(row: dict[str, str]) -> None:
    made = import_page(FOLDER / row["file"], "real")
    facts = count_facts(made)
    left_out = sum(loss.count for loss in made.losses if "requests" in loss.what)
    assert facts.requests_count <= int(row["requests"]) <= facts.requests_count + left_out + 200
    assert facts.hosts_count <= int(row["hosts"])
    assert made.losses
    if row["pages"] == "1":
        assert facts.requests_count >= 0.85 * int(row["requests"])
        assert facts.hosts_count >= 0.95 * int(row["hosts"]) - 1
    assert "http" not in str(made.resources)
