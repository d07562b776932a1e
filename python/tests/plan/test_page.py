"""A page's description is read whole, and everything wrong with it is said in one line."""

from pathlib import Path

import pytest

from resolab.errors import ConfigurationError
from resolab.plan.page import read_pages

GOOD = """
host = "shop.resolab.test"
folder = "site"
path = "/"
request_count = 2
"""


def written(root: Path, text: str, name: str = "shop") -> Path:
    folder = root / name
    (folder / "site").mkdir(parents=True)
    (folder / "site" / "index.html").write_text("<p>")
    (folder / "page.toml").write_text(text, "utf-8")
    return folder


def problem_of(*folders: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_pages(folders)
    return str(caught.value)


def test_four_keys_are_a_page_and_those_for_people_may_be_left_out(tmp_path: Path) -> None:
    (page,) = read_pages([written(tmp_path, GOOD)])
    assert (page.name, page.path, page.request_count) == ("shop", "/", 2)
    assert page.hosts == {"shop.resolab.test": tmp_path / "shop" / "site"}
    told = 'description = "d"\nsource = "s"\n' + GOOD + '[hosts]\n"img.shop.resolab.test" = "site"\n'
    (page,) = read_pages([written(tmp_path / "more", told)])
    assert [*page.hosts] == ["shop.resolab.test", "img.shop.resolab.test"]


def test_every_key_that_is_missing_unknown_or_of_another_kind_is_told_at_once(tmp_path: Path) -> None:
    told = problem_of(written(tmp_path, 'colour = "red"\nfolder = "site"\nrequest_count = true\nhosts = 1\n'))
    assert told.count("failed to read page") == 1
    for part in (
        "unknown key 'colour'; allowed: host, folder, path, request_count, description, source, hosts",
        "host: is missing; must be a text",
        "path: is missing",
        "request_count: must be a whole number, not True",
        "hosts: must be a table of names and folders, not 1",
    ):
        assert part in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ('host = "shop.example"', "'shop.example': must be a name below resolab.test"),
        ('host = "dns.resolab.test"', "not dns.resolab.test"),
        ('host = "Shop.resolab.test"', "in lower case"),
        ('host = "a..resolab.test"', "must be a name below"),
        ('folder = "nowhere"', "nowhere does not exist"),
        ('path = "index.html"', "path: must begin with /, not 'index.html'"),
        ('path = "/shop.html"', "path: /shop.html is no file of "),
        ('path = "/shop/"', "a folder is served by its index.html"),
        ("request_count = 0", "request_count: must be at least 1"),
        ('[hosts]\n"shop.resolab.test" = "site"', "is the document's; name it once"),
        ('[hosts]\n"x.resolab.test" = 3', "host x.resolab.test: its folder must be a text, not 3"),
    ],
)
def test_what_no_page_can_have_is_refused(tmp_path: Path, key: str, says: str) -> None:
    name = key.split(" = ")[0]
    others = [line for line in GOOD.splitlines() if not line.startswith(name)]
    text = "\n".join([*others, key])
    assert says in problem_of(written(tmp_path, text))


def test_a_file_that_is_no_toml_and_one_that_is_not_there_are_told(tmp_path: Path) -> None:
    told = problem_of(written(tmp_path, "host ="), tmp_path / "gone")
    assert told.count("failed to read page") == 2


def test_names_of_two_pages_and_more_names_than_addresses_are_refused(tmp_path: Path) -> None:
    twice = [written(tmp_path, GOOD, name) for name in ("one", "two")]
    assert "shop.resolab.test stands in 2 of the plan's pages" in problem_of(*twice)
    hosts = "".join(f'"n{number}.resolab.test" = "site"\n' for number in range(253))
    many = written(tmp_path, f"{GOOD}[hosts]\n{hosts}", "many")
    assert "254 host names, more than 253" in problem_of(many)


@pytest.mark.parametrize("path", ["/", "/?lang=en", "/a%20b.html", "/a b.html?x=1", "/page?id=7", "/deep/"])
def test_a_document_is_found_as_the_edge_finds_it(tmp_path: Path, path: str) -> None:
    folder = written(tmp_path, GOOD.replace('path = "/"', f'path = "{path}"'))
    (folder / "site" / "deep").mkdir()
    for name in ("a b.html", "page?id=7", "deep/index.html"):
        (folder / "site" / name).touch()
    (page,) = read_pages([folder])
    assert page.path == path
