import json
import math
import os
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.cli.main import main
from resolab.report.pages.compare.changes import DatasetComparison, compare_datasets, smallest_p_value
from resolab.report.pages.compare.text import verdict
from resolab.stats import Method
from resolab.store import build_tables, load_manifest, open_dataset, save_manifest

PLAN = (
    PLAN_TEXT.replace("blocks = 6", "blocks = 8")
    .replace('["example", "wikipedia"]', '["example"]')
    .replace('"fiber", ', "")
)


def made(
    folder: Path,
    *,
    add_ms: float = 0.0,
    only: str = "",
    name: str = "one",
    plan: str = PLAN,
    faults: Faults | None = None,
) -> Path:
    """Make a dataset whose loads of conditions that contain `only` take longer by `add_ms`."""
    make_dataset(folder, make_plan(plan), faults)
    for file in (folder / "trials").glob("*.jsonl"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        if only in lines[0]["condition"]:
            for line in lines:
                if line["record"] == "page_load" and line.get("plt_ms") is not None:
                    line["plt_ms"] += add_ms
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    save_manifest(folder, msgspec.structs.replace(load_manifest(folder), dataset_id=name))
    build_tables(folder)
    return folder


def compared(first: Path, second: Path) -> DatasetComparison:
    with open_dataset(first) as one, open_dataset(second) as other:
        return compare_datasets(one, other)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("compare")
    return {
        "one": made(root / "one"),
        "same": made(root / "same", name="same"),
        "slower": made(root / "slower", add_ms=80.0, name="slower"),
        "doq": made(root / "doq", add_ms=80.0, only=".doq.", name="doq"),
        "fewer": made(
            root / "fewer",
            name="fewer",
            plan=PLAN.replace('["doudp", "doh", "doq"]', '["doudp", "doh"]').replace('doq = "stub"\n', ""),
        ),
        "timeouts": made(root / "timeouts", name="timeouts", faults=Faults(timeouts=True)),
    }


def test_equal_loads_are_noise(folders: dict[str, Path]) -> None:
    found = compared(folders["one"], folders["same"])
    assert verdict(found).startswith("No change is told from chance: none of 6 conditions (Holm-adjusted")
    assert "0 changed" in verdict(found)
    assert {one.shift_ms.value for one in found.conditions} == {0.0}
    assert not any(one.significant for one in (*found.conditions, *found.effects))
    assert "No setting differs" in verdict(found)


def test_slower_loads_are_not_noise_and_the_order_of_arguments_gives_the_sign(folders: dict[str, Path]) -> None:
    there, back = compared(folders["one"], folders["slower"]), compared(folders["slower"], folders["one"])
    assert verdict(there).startswith("More than noise: 6 of 6 conditions changed")
    assert [one.shift_ms.value for one in there.conditions] == pytest.approx([80.0] * 6)
    assert [one.shift_ms.value for one in back.conditions] == pytest.approx([-80.0] * 6)
    for one, other in zip(there.conditions, back.conditions, strict=True):
        assert one.change.value > 0 > other.change.value
        assert (1 + one.change.value) * (1 + other.change.value) == pytest.approx(1)
        assert one.delta.value == -other.delta.value > 0
        assert one.p_value <= one.holm_p_value <= 0.05
    # All moved alike, so no effect against the baseline did.
    assert len(there.effects) == 5
    assert not any(one.significant for one in there.effects)


def test_one_slower_transport_changes_its_conditions_and_its_effect(folders: dict[str, Path]) -> None:
    found = compared(folders["one"], folders["doq"])
    assert {one.condition for one in found.conditions if one.significant} == {
        one.condition for one in found.conditions if ".doq." in one.condition
    }
    assert {one.condition for one in found.effects if one.significant} == {
        one.condition for one in found.effects if ".doq." in one.condition
    }
    assert "of 5 effects against a baseline 2 changed" in verdict(found)


def test_conditions_of_one_only_are_listed_and_the_plans_difference_named(folders: dict[str, Path]) -> None:
    found = compared(folders["one"], folders["fewer"])
    assert all(".doq." in name for name in found.only[0])
    assert (len(found.only[0]), found.only[1], len(found.conditions)) == (2, [], 4)
    ground = {one.what: (one.first, one.second) for one in found.ground if not one.is_reading}
    assert ground["dns_transport"] == ("doudp, doh, doq", "doudp, doh")
    assert any(one.is_reading and one.what == "load average" for one in found.ground)


def test_failed_loads_count_as_at_least_their_limit(folders: dict[str, Path]) -> None:
    found = compared(folders["one"], folders["timeouts"])
    failed = [one for one in found.conditions if one.failed_count[1]]
    assert failed
    for one in failed:
        assert one.shift_ms.censored_count == one.failed_count[1]
        assert one.median_ms[1].n == one.loads_count[1]


def test_a_condition_that_fails_changed_by_more_than_one_that_is_slower(tmp_path: Path) -> None:
    found = compared(made(tmp_path / "a"), made(tmp_path / "b", add_ms=80, name="b"))
    shift = replace(found.conditions[3].shift_ms, low=29_000.0, high=math.inf)
    conditions = list(found.conditions)
    conditions[3] = replace(conditions[3], shift_ms=shift)
    assert shift.value is None
    assert f"the most {conditions[3].condition} by " in verdict(replace(found, conditions=conditions))


def test_plans_that_stop_by_what_they_see_have_their_intervals_and_are_told_of(tmp_path: Path) -> None:
    stop = PLAN + '[stop]\nrule = "confidence_sequence"\n'
    found = compared(made(tmp_path / "a", plan=stop), made(tmp_path / "b", plan=stop, add_ms=80, name="b"))
    assert {each.method for one in found.effects for each in one.effect_ms} == {Method.CONFIDENCE_SEQUENCE}
    assert {each.method for one in found.conditions for each in one.median_ms} == {Method.CONFIDENCE_SEQUENCE}
    assert verdict(found).endswith("take their number for fixed.")


def test_too_few_loads_are_not_called_noise(tmp_path: Path) -> None:
    plan = PLAN.replace("blocks = 8", "blocks = 3")
    found = compared(made(tmp_path / "a", plan=plan), made(tmp_path / "b", plan=plan, add_ms=500, name="b"))
    assert verdict(found).startswith("Too few loads to tell")
    assert smallest_p_value(4, 4) == pytest.approx(2 / 70)


def test_copies_of_a_condition_give_the_noise_floor(tmp_path: Path) -> None:
    plan = PLAN + '[[repeat]]\ndns_transport = ["doudp"]\n'
    found = compared(made(tmp_path / "a", plan=plan), made(tmp_path / "b", plan=plan, name="b"))
    # One copy of DoUDP with either handshake in either dataset.
    assert found.noise.n == 4
    assert found.noise.p95_absolute_difference > 0
    assert "A/A noise floor within a run: 95 % of 4 differences" in verdict(found)


def test_command_line(folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, slower = str(folders["one"]), str(folders["slower"])
    page = tmp_path / "page.html"
    assert main(["compare", one, slower, "--html", str(page)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("More than noise: 6 of 6")
    assert "Cliff's delta" in shown
    text = page.read_text()
    assert "More than noise: 6 of 6" in text
    assert not re.search(r"(?:src|href)=", text)
    assert main(["compare", one, slower, "--json"]) == 0
    parsed = json.loads(capsys.readouterr().out)
    assert parsed["dataset_ids"] == ["one", "slower"]
    assert parsed["conditions"][0]["shift_ms"]["value"] == pytest.approx(80)
    assert parsed["conditions"][0]["significant"] is True
    assert parsed["verdict"].startswith("More than noise")


def test_what_is_no_dataset_is_named_in_one_line(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(folders["one"]), str(tmp_path / "nothing")]) == 3
    error = capsys.readouterr().err
    assert error.count(os.linesep) == 1
    assert "nothing" in error
    empty = tmp_path / "empty"
    make_dataset(empty, make_plan(PLAN), Faults(trials_count=0))
    assert main(["compare", str(empty), str(folders["one"])]) == 3
    assert "no finished trial" in capsys.readouterr().err
    assert main(["compare", str(folders["one"]), str(folders["same"]), "--html", str(tmp_path)]) == 3
    assert "it is a folder" in capsys.readouterr().err


def test_any_outcome_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_dataset(tmp_path / "d", make_plan(PLAN), Faults(paints=True))
    assert main(["compare", str(folder), str(folder), "--json", "--outcome", "lcp"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert all(one["lcp_ms"][0]["value"] and "plt_ms" not in one for one in found["conditions"])
    assert main(["compare", str(folder), str(folder), "--outcome", "fcp"]) == 3
    assert "none of its loads has fcp" in capsys.readouterr().err
    assert main(["compare", str(folder), str(folder), "--outcome", "speed"]) == 3
    assert "choose one of plt, plt_sum, response_start, last_byte, fcp, lcp" in capsys.readouterr().err


def test_what_differs_in_plan_and_profile_is_told_in_words(folders: dict[str, Path], tmp_path: Path) -> None:
    other = made(tmp_path / "other", name="other", plan=PLAN + "[stop]\nci_width_ms = 10\n")
    manifest = load_manifest(other)
    up = msgspec.structs.replace(manifest.profiles[0].up, loss_ratio=0.25)
    save_manifest(
        other, msgspec.structs.replace(manifest, profiles=[msgspec.structs.replace(manifest.profiles[0], up=up)])
    )
    found = {one.what: (one.first, one.second) for one in compared(folders["one"], other).ground if not one.is_reading}
    assert found["profile 4g, up, loss ratio"] == ("0.0", "0.25")
    assert found["plan's stop, ci width ms"] == ("none", "10.0")
    words = " ".join(word for pair in found.values() for word in pair)
    assert not re.search(r"[<>(]|=", words), words
