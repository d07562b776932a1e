"""Closed and full outputs, and errors that are none of the tree's: one line and an exit code, never a traceback."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from resolab.cli import main as command_line
from resolab.cli.main import main
from resolab.report.plots import Drawing, save_file

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "recordings"))
from made_har import document, entry, har

QUERY = ["query", "a.test", "-r", "udp://127.0.0.1:9", "--timeout-ms", "300"]
FULL = "resolab: failed to write standard output: No space left on device\n"
CLOSED = "resolab: standard output is closed: nobody could read what is said; send it to a file or /dev/null\n"
MODEL = "www-shop.page.json"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("www.shop.har").write_text(json.dumps(har(document(), *(entry(f"/{n}.png", 50 + n) for n in range(300)))))


def resolab(
    words: list[str], redirected: str, before: Callable[[], None] | None = None, *, unbuffered: str = ""
) -> tuple[int, str]:
    """Run a command as a shell would; return its exit code and what stood on standard error."""
    line = 'exec "$@" ' + redirected
    shell = ["bash", "-c", line, "bash", sys.executable, "-m", "resolab", *words]
    path = os.pathsep.join(filter(None, map(os.path.abspath, sys.path)))
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUNBUFFERED": unbuffered}
    ended = subprocess.run(
        shell, env=environment, capture_output=True, text=True, timeout=60, check=False, preexec_fn=before
    )
    assert "Traceback" not in ended.stderr
    assert "Exception ignored" not in ended.stderr
    return ended.returncode, ended.stderr


COMMANDS = [
    ["--help"],
    ["list", "profiles", "--json"],
    ["plan", "check", "quick"],
    ["page", "show", "www.shop.har", "--waterfall"],
    ["page", "import", "www.shop.har", "--force"],
    ["doctor"],
    QUERY,
    [*QUERY, "--json"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_one_line(words: list[str]) -> None:
    assert resolab(words, "> /dev/full") == (4, FULL)


@pytest.mark.parametrize("words", [["--help"], ["list", "profiles"]], ids=" ".join)
def test_also_where_nothing_is_buffered(words: list[str]) -> None:
    assert resolab(words, "> /dev/full", unbuffered="1") == (4, FULL)


@pytest.mark.parametrize("words", [["--version"], ["list", "profiles"], QUERY], ids=" ".join)
def test_a_closed_standard_output_is_one_line(words: list[str]) -> None:
    assert resolab(words, ">&-") == (4, CLOSED)


@pytest.mark.parametrize("redirected", ["2>&-", "2> /dev/full", "<&- 2> /dev/full"])
@pytest.mark.parametrize(("words", "code"), [(["page", "show", "none.har"], 3), (["list", "profiles"], 0)])
def test_without_a_standard_error_the_exit_code_says_it(words: list[str], code: int, redirected: str) -> None:
    assert resolab(words, redirected) == (code, "")


def test_no_result_is_lost_for_a_word_on_a_full_standard_error(tmp_path: Path) -> None:
    """Two files of three cannot be read, which is told on standard error."""
    for name in ("a.har", "b.har"):
        Path(name).write_text("{")
    words = ["page", "import", "a.har", "www.shop.har", "b.har", "-o", str(tmp_path / "made")]
    assert resolab(words, "2> /dev/full") == (3, "")
    assert [file.name for file in (tmp_path / "made").iterdir()] == [MODEL]


def test_what_a_closed_stream_leaves_free_is_no_file_of_ours() -> None:
    """A file opened as number 1 or 2 would get what children write."""
    assert resolab(["page", "import", "www.shop.har"], "<&- 2>&-")[0] == 0
    assert json.loads(Path(MODEL).read_text())["format"]


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (MemoryError(), 4, "resolab: there is not enough memory"),
        (RecursionError(), 3, "resolab: what was given is nested too deeply"),
        (PermissionError(13, "Permission denied", "/root/x"), 4, "failed to read or write /root/x: Permission denied"),
        (OSError(24, "Too many open files"), 4, "resolab: failed to reach what it needs: Too many open files"),
        (BrokenPipeError(), 141, ""),
        (KeyboardInterrupt(), 130, "resolab: interrupted"),
        (ExceptionGroup("", [ExceptionGroup("", [MemoryError()])]), 4, "resolab: there is not enough memory"),
        (
            UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates not allowed"),
            2,
            "a word or a file's name is no text",
        ),
    ],
    ids=lambda one: type(one).__name__,
)
def test_errors_of_others_are_one_line(
    raised: BaseException, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        raise raised

    monkeypatch.setattr(command_line, "_list", run)
    assert main(["list", "profiles"]) == code
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == (1 if said else 0)


def test_a_defect_keeps_its_traceback_and_has_the_code_of_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(_: object) -> int:
        return {}["none"]  # type: ignore[no-any-return]

    monkeypatch.setattr(command_line, "_list", run)
    assert main(["list", "profiles"]) == 70
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1] == "resolab: KeyError: 'none'; this is a defect of resolab's: please report what is above"


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, 1_000))


@pytest.mark.parametrize("force", [[], ["--force"]], ids=["new", "over one that is there"])
def test_a_model_that_does_not_fit_leaves_what_was_there(force: list[str]) -> None:
    if force:
        Path(MODEL).write_text("old")
    code, said = resolab(["page", "import", "www.shop.har", *force], "", small_files)
    assert code == 4
    assert (
        said
        == f"resolab: failed to write {Path(MODEL).resolve()}: File too large; see to that or give another folder\n"
    )
    assert {file.name for file in Path().iterdir()} == {"www.shop.har", *([MODEL] if force else [])}
    assert not force or Path(MODEL).read_text() == "old"


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_a_drawing_that_does_not_fit_leaves_the_old_one(suffix: str) -> None:
    Path(f"a.{suffix}").write_text("old")
    code, _ = resolab(["page", "show", "www.shop.har", "-o", f"a.{suffix}"], "", small_files)
    assert (code, Path(f"a.{suffix}").read_text()) == (4, "old")


def test_a_drawing_may_go_into_a_pipe(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

    os.mkfifo(tmp_path / "a.svg")
    reader = subprocess.Popen(["cat", tmp_path / "a.svg"], stdout=subprocess.PIPE)
    save_file(Drawing("a", "", Figure(), []), tmp_path / "a.svg")
    assert b"<svg" in reader.communicate(timeout=30)[0]
    assert (tmp_path / "a.svg").is_fifo()


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("/dev/stdout", "/dev/stdout is no folder: give one, or a file NAME.page.json"),
        ("a.b.page.json", "a.b.page.json is no name for a page's model"),
        ("shop.json", "shop.json is no name for a page's model"),
    ],
)
def test_a_model_goes_where_plans_can_name_it(output: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "import", "www.shop.har", "-o", output]) == 3
    assert said in capsys.readouterr().err
    assert [file.name for file in Path().iterdir()] == ["www.shop.har"]


def test_a_model_is_called_after_the_file_it_is_written_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "import", "www.shop.har", "-o", "shop.page.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["page"] == "shop"


def test_a_model_nobody_could_name_is_refused_by_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["page", "import", "www.shop.har"]) == 0
    Path(MODEL).rename("a.b.page.json")
    assert main(["page", "check", "a.b.page.json"]) == 3
    assert "a.b.page.json is no name for a page's model" in capsys.readouterr().err


def test_a_link_to_a_model_stays_one(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    Path("shop.page.json").symlink_to("there/x.page.json")
    assert main(["page", "import", "www.shop.har", "-o", "shop.page.json"]) == 0
    assert Path("shop.page.json").is_symlink()
    assert (tmp_path / "there/x.page.json").is_file()
