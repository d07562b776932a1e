"""A page's description is read whole, and everything wrong with it is said in one line."""

from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.plan.pages.page_file import read_pages
from resolab.plan.pages.serving import ORDINARY, Serving

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
        "unknown key 'colour'; allowed: host, folder, path, request_count, description, source, hosts, serving",
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
        ('host = "shop.example"', "'shop.example': must be a name below test"),
        ('host = "dns.resolab.test"', "not dns.resolab.test"),
        ('host = "test"', "must be a name below test"),
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


def test_names_of_two_pages_and_more_names_than_addresses_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = [written(tmp_path, GOOD, name) for name in ("one", "two")]
    assert "shop.resolab.test stands in 2 of the plan's pages" in problem_of(*twice)
    monkeypatch.setattr("resolab.plan.pages.page_file.ADDRESSES_LIMIT", 10)
    hosts = "".join(f'"n{number}.resolab.test" = "site"\n' for number in range(10))
    many = written(tmp_path, f"{GOOD}[hosts]\n{hosts}", "many")
    assert "pages need 11 addresses, more than 10; leave pages out" in problem_of(many)
    # Names that share an address need one.
    shared = "".join(f'[serving."n{number}.resolab.test"]\naddress_group = 3\n' for number in (0, 5))
    read_pages([written(tmp_path, f"{GOOD}[hosts]\n{hosts}{shared}", "shared")])


@pytest.mark.parametrize("path", ["/", "/?lang=en", "/a%20b.html", "/a b.html?x=1", "/page?id=7", "/deep/"])
def test_a_document_is_found_as_the_edge_finds_it(tmp_path: Path, path: str) -> None:
    folder = written(tmp_path, GOOD.replace('path = "/"', f'path = "{path}"'))
    (folder / "site" / "deep").mkdir()
    for name in ("a b.html", "page?id=7", "deep/index.html"):
        (folder / "site" / name).touch()
    (page,) = read_pages([folder])
    assert page.path == path


def test_a_name_may_be_anything_below_test(tmp_path: Path) -> None:
    text = GOOD.replace("shop.resolab.test", "h0.s0-cnn.test") + '[hosts]\n"cnn.test" = "site"\n'
    (page,) = read_pages([written(tmp_path, text)])
    assert [*page.hosts] == ["h0.s0-cnn.test", "cnn.test"]


SERVED = f"""{GOOD}
[hosts]
"img.shop.test" = "site"
[serving."img.shop.test"]
settings = "img.toml"
address_group = 0
certificate = 2
extra_rtt_ms = 12.5
not_awaited = ["/17.png"]
"""


def test_what_is_particular_about_a_name_is_read(tmp_path: Path) -> None:
    folder = written(tmp_path, SERVED)
    (folder / "img.toml").write_text('cors = true\n[[response]]\npath = "/a"\nstatus = 404\n')
    (page,) = read_pages([folder])
    serving = page.find_serving("img.shop.test")
    assert serving.settings == {"cors": True, "response": [{"path": "/a", "status": 404}]}
    assert (serving.address_group, serving.certificate, serving.extra_rtt_ms) == (0, 2, 12.5)
    assert serving.not_awaited == {"/17.png"}
    assert page.find_serving("shop.resolab.test") == ORDINARY
    assert page.addresses_count == 2


def test_everything_wrong_with_how_names_are_served_is_told_at_once(tmp_path: Path) -> None:
    text = SERVED + "".join(
        f'[serving."{name}"]\n{keys}\n'
        for name, keys in {
            "shop.resolab.test": "colour = 1\naddress_group = -1\ncertificate = true\nextra_rtt_ms = nan",
            "gone.test": "extra_rtt_ms = 20_001\nnot_awaited = ['x']",
        }.items()
    )
    folder = written(tmp_path, text + "[serving.a]\nsettings = 3\n")
    (folder / "img.toml").write_text('host = "x"\naddresses = []\nticket_policy = "none"\nresponse = [1]\n')
    told = problem_of(folder)
    for part in (
        "serving of gone.test: is no name of the page; name it in [hosts]",
        "serving of shop.resolab.test: unknown key 'colour'; allowed: settings, address_group, certificate, extra_rtt_ms,",
        "address_group: must be a whole number, from 0, not -1",
        "certificate: must be a whole number, from 0, not True",
        "extra_rtt_ms: must be a number of milliseconds, from 0 to 20000, not nan",
        "not 20001",
        "not_awaited: must be a list of paths that begin with /, not ['x']",
        "settings: must be the path of a TOML file, not 3",
        "img.toml sets host, which is the testbed's; remove it",
        "sets addresses,",
        "sets ticket_policy,",
        "img.toml: response must be a list of tables, each with a path",
    ):
        assert part in told
    assert told.count("failed to read page") == 1


@pytest.mark.parametrize("text", [None, "= ="])
def test_settings_that_cannot_be_read_are_told(tmp_path: Path, text: str | None) -> None:
    folder = written(tmp_path, SERVED)
    if text is not None:
        (folder / "img.toml").write_text(text)
    assert "serving of img.shop.test: settings: failed to read" in problem_of(folder)


def test_a_document_may_be_a_response_and_a_name_without_files_needs_one(tmp_path: Path) -> None:
    text = GOOD.replace('path = "/"', 'path = "/0.html?a=1"') + '[serving."shop.resolab.test"]\nsettings = "s.toml"\n'
    folder = written(tmp_path, text)
    (folder / "site" / "index.html").unlink()
    (folder / "s.toml").write_text('response = [{ path = "/0.html", status = 302, location = "/1.html" }]\n')
    (page,) = read_pages([folder])
    assert page.path == "/0.html?a=1"
    (folder / "s.toml").write_text("response = []\n")
    told = problem_of(folder)
    assert "site holds no file, and its settings have no response" in told
    assert "path: /0.html?a=1 is no file of" in told


def test_a_name_is_only_asked_after_the_load_event_when_all_it_serves_is(tmp_path: Path) -> None:
    for name in ("1.png", "2.js", "2.js.gz"):
        (tmp_path / name).touch()
    settings = {"response": [{"path": "/3"}]}
    precoded = settings | {"precoded": True}
    asked = frozenset({"/1.png", "/2.js", "/3"})
    assert Serving(settings=precoded, not_awaited=asked).is_never_awaited(tmp_path)
    # Without it the coded file is one of its own.
    assert not Serving(settings=settings, not_awaited=asked).is_never_awaited(tmp_path)
    assert not Serving(settings=precoded, not_awaited=asked - {"/3"}).is_never_awaited(tmp_path)
    assert not ORDINARY.is_never_awaited(tmp_path)
    assert [file.name for file in Serving(settings=precoded).files(tmp_path)] == ["1.png", "2.js.gz"]
