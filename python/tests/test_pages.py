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
}


def clones():
    spec = importlib.util.spec_from_file_location("make_clones", PAGES / "make_clones.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CLONES


@pytest.mark.parametrize("page", SIZES)
def test_the_committed_site_is_what_the_maker_makes(page):
    made = clones()[page]()
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
