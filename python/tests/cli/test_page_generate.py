"""`resolab page generate`: files, words, exit codes."""

import json
from pathlib import Path

import pytest

from resolab.cli.main import main
from resolab.pages.facts import count_facts
from resolab.pages.file import read_model


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_page_is_the_same_however_many_are_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "generate", "--count", "2", "--seed", "9", "-o", "few"]) == 0
    assert main(["page", "generate", "--count", "11", "--seed", "9", "-o", "many"]) == 0
    few, many = ({file.name: file.read_bytes() for file in Path(folder).iterdir()} for folder in ("few", "many"))
    assert len(many) == 11
    assert set(few) == {"generated-9-0001.page.json", "generated-9-0002.page.json"}
    assert few.items() <= many.items()
    output = capsys.readouterr().out
    assert output.startswith("few/generated-9-0001.page.json: ")
    assert "11 pages in many; each figure at 25, 50 and 75 % of them:" in output


def test_the_number_of_hosts_is_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "generate", "--count", "3", "--hosts", "7", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["facts"]["hosts_count"] for line in lines] == [7, 7, 7]
    assert lines[0]["page"] == "generated-1-h7-0001"
    assert count_facts(read_model(Path(lines[0]["file"]))).hosts_count == 7


def test_nothing_is_written_over_unless_it_is_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "generate"]) == 0
    assert main(["page", "generate", "--count", "2"]) == 3
    assert "generated-1-0001.page.json is there; give --force" in capsys.readouterr().err
    assert not Path("generated-1-0002.page.json").exists()
    assert main(["page", "generate", "--count", "2", "--force"]) == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--count", "0"], "'0' is no whole number of 1 or more"),
        (["--seed", "-1"], "'-1' is no whole number of 0 or more"),
        (["--hosts", "301"], "'301' is no whole number from 1 to 300"),
    ],
)
def test_what_cannot_be_is_told(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["page", "generate", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("file").write_text("")
    assert main(["page", "generate", "-o", "file/folder"]) != 0
    assert "failed to write file/folder/generated-1-0001.page.json" in capsys.readouterr().err
