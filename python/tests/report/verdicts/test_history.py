"""A history of datasets: CSV in the order of time, Otava's configuration, bencher's metrics."""

import csv
import json
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.cli.main import main

EXPECT = """
[[expect]]
name = "close, or not"
kind = "not_slower_than"
margin_ms = 20
treatment = { dns_transport = ["doq"], requested_handshake_mode = ["full"] }
baseline = { dns_transport = "doudp", requested_handshake_mode = "full" }
[[expect]]
name = "no tail"
kind = "slow_share_at_most"
percent = 3
slow_ms = 5000
treatment = { dns_transport = ["doq"], requested_handshake_mode = ["full"] }
baseline = { dns_transport = "doudp", requested_handshake_mode = "full" }
"""


def test_datasets_in_order_of_time_for_otava_and_bencher(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(
        PLAN_TEXT.replace('["fiber", "4g"]', '["fiber"]').replace('["example", "wikipedia"]', '["example"]') + EXPECT
    )
    folders = [make_dataset(tmp_path / name, plan) for name in ("later", "earlier")]
    for folder, time_ns in zip(folders, (1_800_000_000 * 10**9, 1_700_000_000 * 10**9), strict=True):
        file = folder / "manifest.json"
        file.write_text(
            json.dumps({**json.loads(file.read_text()), "created_unix_ns": time_ns, "dataset_id": folder.name})
        )
    out, otava, bencher = (tmp_path / name for name in ("h.csv", "o.yaml", "b.json"))
    given = [str(one) for one in folders]
    assert main(["history", *given, "-o", str(out), "--otava", str(otava), "--bencher", str(bencher)]) == 0
    rows = list(csv.DictReader(out.open()))
    assert [one["dataset"] for one in rows] == ["earlier", "later"]
    assert [one["time"] for one in rows] == ["2023-11-14T22:13:20+00:00", "2027-01-15T08:00:00+00:00"]
    test = json.loads(otava.read_text())["tests"]["made-up"]
    assert (test["file"], test["time_column"]) == (str(out), "time")
    assert {one["direction"] for one in test["metrics"].values()} == {-1}
    name, share = test["metrics"]
    assert name == "close, or not: example.fiber.doq.h3.full difference_ms"
    assert share.endswith(" slow_share")
    # Every cell of a metric is a number.
    assert all(float(row[metric]) >= 0 for row in rows for metric in test["metrics"])
    metrics = json.loads(bencher.read_text())
    time = metrics[name.removesuffix(" difference_ms")]["difference_ms"]
    assert time["lower_value"] <= time["value"] <= time["upper_value"]
    assert time["value"] == pytest.approx(float(rows[1][name]), rel=1e-4)
    assert main(["history", *given, "--otava", str(otava)]) == 2
    assert "needs -o FILE" in capsys.readouterr().err


def test_a_metric_that_not_all_datasets_have_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(
        PLAN_TEXT.replace('["fiber", "4g"]', '["fiber"]').replace('["example", "wikipedia"]', '["example"]') + EXPECT
    )
    folders = [make_dataset(tmp_path / name, plan) for name in ("a", "b")]
    file = folders[1] / "manifest.json"
    file.write_text(file.read_text().replace("no tail", "other name"))
    assert main(["history", *map(str, folders)]) == 0
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" value: ")[2].partition(":")[0] for line in told] == ["no tail", "other name"]
