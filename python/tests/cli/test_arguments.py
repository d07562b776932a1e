"""The command line's own cost: what `--help` and every start must not wait for."""

import re
import subprocess
import sys

import pytest

from resolab.cli.main import main
from resolab.cli.plan.arguments import FACTORS
from resolab.cli.program_commands import PROGRAM_COMMANDS
from resolab.plan.corpus import PROJECT_ROOT
from resolab.plan.factors import EVERY_FACTOR

COMMANDS = (
    "run", "resume", "report", "compare", "export", "merge", "har", "waterfall", "calibrate", "query", "visit", "doctor", "list",
    "page new", "page critical-path", "plan check", "plan power", "plan new", "plan schema",
)  # fmt: skip


def test_arguments_are_read_without_the_rooms_behind_them() -> None:
    program = (
        "import sys\n"
        "from resolab.cli.main import _parsers\n"
        "_parsers()[0].parse_args(['har', 'x'])\n"
        "print(sorted({one.partition('.')[0] for one in sys.modules} & {'rich', 'numpy', 'duckdb', 'msgspec', 'scipy'}))"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_names_a_page_that_is_there(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    named = re.findall(r"docs/[a-z/-]+\.md", capsys.readouterr().out)
    assert named
    assert all((PROJECT_ROOT / page).is_file() for page in named)


def test_the_former_name_of_a_command_works_and_help_shows_the_new_one(capsys: pytest.CaptureFixture[str]) -> None:
    told = []
    for words in (["page", "path", "--help"], ["page", "critical-path", "--help"], ["page", "--help"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert "usage: resolab page critical-path" in told[0]
    actions = [line.split()[0] for line in told[2].splitlines() if line.startswith("    ")]
    assert "critical-path" in actions
    assert "path" not in actions


def test_the_commands_of_the_core_name_theirs() -> None:
    pages = [page for told in PROGRAM_COMMANDS.values() for page in re.findall(r"docs/[a-z/-]+\.md", told)]
    assert len(pages) == len(PROGRAM_COMMANDS)
    assert all((PROJECT_ROOT / page).is_file() for page in pages)


def test_flags_of_new_plans_are_the_factors() -> None:
    assert sorted(FACTORS) == sorted(EVERY_FACTOR)


def test_every_command_has_its_help() -> None:
    ran = subprocess.run([sys.executable, "-m", "resolab", "--help"], check=True, capture_output=True, text=True)
    names = [
        line.split()[0] for line in ran.stdout.splitlines() if line.startswith("    ") and not line.startswith("     ")
    ]
    wanted = (
        "run resume report check bisect compare history export merge har waterfall evidence plan calibrate query visit"
    )
    wanted += (
        " bench stub edge path enter fetch fetch-names gateway ping relay probe-questions probe fleet internet list page"
        " doctor"
    )
    assert names == wanted.split()
