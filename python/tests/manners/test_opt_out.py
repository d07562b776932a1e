"""The opt-out list: whom it covers, and that a batch does not begin without it."""

from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.plan.manners import NOBODY, OptOut, fetch_opt_out

LIST = """# asked by mail
Shop.Test   # all of it
www.news.test.
*.films.test

bücher.test
"""


@pytest.mark.parametrize(
    ("host", "covered"),
    [
        ("shop.test", True),
        ("a.b.shop.test", True),
        ("workshop.test", False),
        ("news.test", False),
        ("www.news.test", True),
        ("films.test", True),
        ("xn--bcher-kva.test", True),
        ("test", False),
        ("SHOP.TEST.", True),
    ],
)
def test_a_domain_covers_what_is_below_it(host: str, covered: bool) -> None:
    assert OptOut.read(LIST, source="list").covers(host) is covered


def test_nobody_is_on_no_list() -> None:
    assert not NOBODY.covers("shop.test")


@pytest.mark.parametrize(
    "line", ["<html><body>404</body></html>", "two words", "https://shop.test/", "a..test", "-a.test"]
)
def test_what_is_no_list_is_refused(line: str) -> None:
    with pytest.raises(ConfigurationError, match="line 2 of the opt-out list L is no domain"):
        OptOut.read(f"shop.test\n{line}\n", source="L")


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text("shop.test\n")
    assert fetch_opt_out(str(file), user_agent="x").covers("shop.test")
    file.write_text("news.test\n")
    found = fetch_opt_out(str(file), user_agent="x")
    assert (found.covers("shop.test"), found.covers("news.test")) == (False, True)
    file.unlink()
    with pytest.raises(MachineError, match="nothing is contacted without it"):
        fetch_opt_out(str(file), user_agent="x")


def test_a_list_comes_over_https_or_from_a_file() -> None:
    with pytest.raises(ConfigurationError, match="must come over https"):
        fetch_opt_out("http://lists.test/out", user_agent="x")


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        fetch_opt_out(str(file), user_agent="x")


@pytest.mark.parametrize(
    ("line", "covered", "not_covered"),
    [
        ("straße.test", "xn--strae-oqa.test", "strasse.test"),
        ("*.FAß.test.", "a.xn--fa-hia.test", "a.fass.test"),
        ("βόλος.test", "xn--nxasmm1c.test", "xn--nxasmq6b.test"),
        ("example\u3002test", "example.test", "test"),
    ],
)
def test_a_line_protects_the_domain_that_browsers_ask_for(line: str, covered: str, not_covered: str) -> None:
    """UTS #46, nontransitional: Python's codec of 2003 reads another domain."""
    found = OptOut.read(line, source="list")
    assert (found.covers(covered), found.covers(not_covered)) == (True, False)
