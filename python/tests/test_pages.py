"""The committed page clones are what their maker makes, with the sizes the paper gives."""

import importlib.util
import struct
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


def maker():
    spec = importlib.util.spec_from_file_location("make_clones", PAGES / "make_clones.py")
    module = importlib.util.module_from_spec(spec)
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
