"""`resolab page import` and `page show`: files, words, exit codes."""

import json
import sys
from pathlib import Path

import pytest

from resolab.cli.main import main

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recordings"))
from made_har import SITE, document, entry, har

ROOT = f"{SITE}/"


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    script = entry("https://ads.example/a.js", 50, "script", parser=ROOT, line=4)
    child = entry("https://img.ads.example/p.gif", 200, script=["https://ads.example/a.js"])
    file = tmp_path / "www.shop.example.har"
    file.write_text(json.dumps(har(document(), script, child)))
    return file


def test_an_import_writes_a_model_and_says_what_was_not_told(
    recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["page", "import", str(recorded)]) == 0
    output = capsys.readouterr().out
    assert output.startswith("www-shop-example.page.json: 3 requests, 3 hosts of 2 sites, 22 kB, 0 redirects, depth 2")
    assert "discoverer evident in 100%" in output
    assert "not told: certificates of servers" in output
    text = Path("www-shop-example.page.json").read_text()
    assert "ads." not in text
    assert "https:" not in text
    assert main(["page", "import", str(recorded)]) == 3
    assert "--force" in capsys.readouterr().err
    assert main(["page", "import", str(recorded), "--force", "--keep-names"]) == 0
    assert '"name":"img.ads.example"' in Path("www-shop-example.page.json").read_text()


def test_several_files_go_into_a_folder_and_a_bad_one_stops_none(
    recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.har").write_text("{")
    assert main(["page", "import", "bad.har", str(recorded), "-o", "models", "--json"]) == 3
    said = capsys.readouterr()
    (line,) = said.out.splitlines()
    assert json.loads(line)["facts"]["requests_count"] == 3
    assert "failed to read bad.har" in said.err
    assert [file.name for file in Path("models").iterdir()] == ["www-shop-example.page.json"]


def test_a_model_goes_to_standard_output_alone(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "import", str(recorded), "-o", "-"]) == 0
    said = capsys.readouterr()
    assert main(["page", "import", str(recorded)]) == 0
    assert said.out == Path("www-shop-example.page.json").read_text()
    assert said.err.startswith("-: 3 requests, 3 hosts of 2 sites")
    assert not Path("-").exists()


def test_standard_output_takes_one_result(recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "import", str(recorded), "-o", "-", "--json"]) == 3
    assert "would both write to standard output" in capsys.readouterr().err
    assert main(["page", "import", str(recorded), "b.har", "-o", "-"]) == 3
    assert "standard output takes one page" in capsys.readouterr().err
    assert main(["page", "record", "https://a.test/", "-o", "-", "--json"]) == 3
    assert "would both write to standard output" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        "page generate -o -", "page clone a.page.json -o -", "page show a.har -o -", "evidence d b001-t001 -o -",
        "export d -o ./-", "har d -o -", "waterfall d -o -",
    ],
)  # fmt: skip
def test_what_writes_files_makes_none_of_that_name(
    words: str, recorded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words.split())
    assert "- is standard output, and this needs a file or a folder with a name" in capsys.readouterr().err
    assert not Path("-").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["a.har", "b.har", "--name", "x"], "--name is of one page"),
        (["x/a.har", "y/a.har"], "two files would be page 'a'"),
        (["a.har", "--name", "a b"], "'a b' is no name of a page"),
        (["nowhere.har"], "failed to read nowhere.har"),
    ],
)
def test_what_cannot_be_is_one_line(
    recorded: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("x", "y"):
        Path(folder).mkdir()
        (Path(folder) / "a.har").write_bytes(recorded.read_bytes())
    assert main(["page", "import", *words]) == 3
    assert said in capsys.readouterr().err


def test_a_page_is_shown_as_numbers_tree_waterfall_and_drawing(
    recorded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["page", "import", str(recorded)]) == 0
    capsys.readouterr()
    model = "www-shop-example.page.json"
    assert main(["page", "show", model]) == 0
    assert "2 of 3 hosts" not in capsys.readouterr().out
    assert main(["page", "show", str(recorded), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["single_request_hosts_count"] == 3
    assert main(["page", "show", model, "--tree"]) == 0
    tree = capsys.readouterr().out
    assert "    └── 2 image h2.s1 1.0 kB 200 script at 200 ms" in tree
    assert main(["page", "show", model, "--waterfall", "-o", "a.svg"]) == 0
    text = capsys.readouterr().out
    for part in ("load", "2 image h2.s1", "drawn: a.svg"):
        assert part in text
    assert "<svg" in Path("a.svg").read_text()
    assert main(["page", "show", model, "-o", "a.txt"]) == 3
    assert ".txt is none of" in capsys.readouterr().err
