"""The committed pages are what their makers make, with the sizes and numbers their sources give."""

import importlib.util
import re
import struct
import sys
import tomllib
import zlib
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "pages"
SIZES = {
    "example": {"index.html": 1256},
    "wikipedia": {"index.html": 18252, "logo.png": 15857, "mark.png": 2039, "sprite.svg": 17229, "index.js": 614},
    "instagram": {
        "index.html": 32000,
        "base.css": 122000,
        "page.css": 51000,
        "logo.png": 12000,
        "store-1.png": 9000,
        "store-2.png": 9000,
        "runtime.js": 18000,
        "vendor.js": 407000,
        "style.js": 60000,
        "images.js": 90000,
        "consent.js": 60000,
        "login.js": 150000,
        "main.js": 260000,
    },
}


def maker(name="make_clones", monkeypatch=None):
    if monkeypatch is not None:
        monkeypatch.syspath_prepend(PAGES)
    spec = importlib.util.spec_from_file_location(name, PAGES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Its frozen dataclasses look themselves up there.
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", SIZES)
def test_the_committed_site_is_what_the_maker_makes(page):
    made = maker().CLONES[page]()
    site = PAGES / page / "site"
    assert {name: len(content) for name, content in made.items()} == SIZES[page]
    assert {file.name: file.read_bytes() for file in site.iterdir()} == made


@pytest.mark.parametrize("page", SIZES)
def test_page_toml_counts_the_requests_of_the_site(page):
    description = tomllib.loads((PAGES / page / "page.toml").read_text())
    assert description["request_count"] == len(SIZES[page])
    assert (PAGES / page / description["folder"]).is_dir()


def test_padded_png_chunks_have_valid_checksums():
    content = (PAGES / "wikipedia/site/logo.png").read_bytes()
    offset = 8
    kinds = []
    while offset < len(content):
        length, kind = struct.unpack(">I4s", content[offset : offset + 8])
        body = content[offset + 4 : offset + 8 + length]
        assert zlib.crc32(body) == struct.unpack(">I", content[offset + 8 + length : offset + 12 + length])[0]
        kinds.append(kind)
        offset += 12 + length
    assert kinds == [b"IHDR", b"paDd", b"IDAT", b"IEND"]


def test_the_third_class_has_the_parts_the_paper_names_and_the_bytes_inferred_from_its_times():
    names = list(SIZES["instagram"])
    assert [sum(name.endswith(kind) for name in names) for kind in (".js", ".css", ".html", ".png")] == [7, 2, 1, 3]
    assert sum(SIZES["instagram"].values()) == 1_280_000
    document = (PAGES / "instagram/site/index.html").read_text()
    assert "<img" not in document
    assert "<form" not in document
    assert "banner" not in document


def test_the_colour_the_scripts_end_at_is_that_of_so_many_rounds():
    made = maker()
    state = 1
    for rounds in range(50):
        assert made.work_colour(rounds) == f"#{state >> 8:06x}"
        state = (state * 1664525 + 1013904223) % 2**32
    scripts = b"".join(content for name, content in made.instagram(1000).items() if name.endswith(".js"))
    assert sum(int(part.split(b")")[0]) for part in scripts.split(b"clone.work(")[1:]) == 1000


NAMES = {"names-4": (4, 14), "names-12": (12, 40), "names-12-chain": (12, 40), "names-32": (32, 77)}


def sites(page):
    """Folder and name of every host of a page, the document's first."""
    described = tomllib.loads((PAGES / page / "page.toml").read_text())
    return [(described["host"], described["folder"]), *described["hosts"].items()], described


@pytest.mark.parametrize("page", NAMES)
def test_a_committed_page_of_many_names_is_what_its_maker_makes(page, monkeypatch):
    made = maker("make_names", monkeypatch).names_page(page)
    committed = {str(f.relative_to(PAGES / page)): f.read_bytes() for f in (PAGES / page).rglob("*") if f.is_file()}
    assert committed == made


@pytest.mark.parametrize(("page", "names", "requests"), [(page, *numbers) for page, numbers in NAMES.items()])
def test_every_name_has_files_and_every_file_is_asked_for_once(page, names, requests):
    hosts, described = sites(page)
    assert (len(hosts), described["request_count"]) == (names, requests)
    there = {f"https://{host}/{file.name}" for host, below in hosts for file in (PAGES / page / below).iterdir()}
    assert len(there) == requests
    texts = [file.read_text() for file in (PAGES / page).rglob("*") if file.suffix in {".html", ".js"}]
    named = [url for text in texts for url in re.findall(r"https://[\w.-]+/[\w.]+", text)]
    for text in texts:
        for host, files in re.findall(r"'([\w.-]+\.test)':'([^']+)'", text):
            named += [f"https://{host}/{file}" for file in files.split()]
    assert sorted(named) == sorted(there - {f"https://{described['host']}/index.html"})


def test_the_light_page_and_its_chain_differ_in_where_names_are_found_and_in_nothing_else():
    files = [
        {(host.split(".")[0], file.name): file.stat().st_size for host, below in sites(page)[0][1:]
         for file in (PAGES / page / below).iterdir()}
        for page in ("names-12", "names-12-chain")
    ]  # fmt: skip
    assert files[0] == files[1]
    in_document = {
        page: len(set(re.findall(r"https://([\w.-]+)/", (PAGES / page / "sites/00/index.html").read_text())))
        for page in NAMES
    }
    assert in_document == {"names-4": 4, "names-12": 12, "names-12-chain": 5, "names-32": 32}


def test_the_median_page_has_the_archives_requests_and_bytes_by_type(monkeypatch):
    made = maker("make_names", monkeypatch).names_page("names-32")
    sums = {
        kind: sum(len(content) for name, content in made.items() if name.endswith(kind))
        for kind in (".html", ".css", ".js", ".png")
    }
    assert sums == {".html": 22_000, ".css": 82_000, ".js": 708_000, ".png": 1_600_000}
    by_name = [sum(name.startswith(f"sites/{number:02}/") for name in made) for number in range(32)]
    assert by_name[0] / 77 == pytest.approx(0.3, abs=0.01)
    assert sum(count == 1 for count in by_name) / 32 == pytest.approx(0.43, abs=0.02)
