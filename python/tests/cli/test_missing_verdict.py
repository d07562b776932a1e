"""`run --check --junit FILE`: a run that cannot begin leaves an error in the file.

For: the file of a wrong plan and of a plan without expectations. Not for: verdicts (`report.verdicts`).
"""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.cli import experiment
from resolab.cli.dataset.check import CheckOptions
from resolab.cli.main import main


@pytest.mark.parametrize(("text", "problem"), [("kind = 'nonsense'\n", "kind"), (None, "expects nothing")])
def test_a_plan_that_cannot_be_judged_leaves_an_error(tmp_path: Path, text: str | None, problem: str) -> None:
    plan, verdicts = Path("plans/quick.toml"), tmp_path / "verdicts.xml"
    if text is not None:
        plan = tmp_path / "wrong.toml"
        plan.write_text(text)
    with pytest.raises(ConfigurationError, match=problem):
        experiment.run(plan, out=tmp_path / "data", seed=None, blocks=None, check=CheckOptions(junit_file=verdicts))
    error = ET.parse(verdicts).find("testcase/error")
    assert error is not None
    assert problem in error.get("message", "")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("option", [["--junit", "v.xml"], ["--markdown", "v.md"], ["--undecided", "fail"]])
@pytest.mark.parametrize("command", [["run", "plans/quick.toml"], ["resume", "d"], ["compare", "d", "e"]])
def test_forms_of_verdicts_without_a_check_are_refused(
    command: list[str], option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, *option]) == 2
    assert f"{command[0]}: {' '.join(option[:1])}" in capsys.readouterr().err


def test_an_empty_list_of_expectations_is_none(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("expect = []\n" + Path("plans/quick.toml").read_text())
    with pytest.raises(ConfigurationError, match="expects nothing"):
        experiment.run(plan, out=tmp_path / "data", seed=None, blocks=None, check=CheckOptions())
