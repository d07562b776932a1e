"""Bodies of clones: as many bytes on the wire as the page's, and texts that say what they must say."""

import gzip

import pytest

from resolab.pages.clone.body import GIF, Gap, draw_body, image_body, text_body


@pytest.mark.parametrize(
    ("raw", "wire"), [(5_000, 1_500), (100_000, 30_000), (100_000, 2_500), (300_000, 250_000), (40_000, 39_000)]
)
def test_a_coded_text_has_both_of_its_sizes(raw: int, wire: int) -> None:
    body = text_body(["<p>/*", Gap(raw - 7), "*/"], wire, coded=True, seed="1/2")
    assert body.gzip is not None
    assert gzip.decompress(body.gzip) == body.identity
    assert len(body.identity) == raw
    assert body.wire_bytes == pytest.approx(wire, rel=0.005)


def test_half_of_a_coded_text_is_there_with_half_of_its_bytes() -> None:
    body = text_body(["<!--", Gap(50_000), "--><!--", Gap(50_000), "-->"], 30_000, coded=True, seed="1/2")
    assert body.gzip is not None
    # The first half alone, coded.
    assert len(gzip.compress(body.identity[:50_000], 6)) == pytest.approx(15_000, rel=0.03)


def test_what_cannot_shrink_so_far_is_as_small_as_it_gets() -> None:
    body = text_body(["a" * 50 + "bcdefghijklmnop"], 20, coded=True, seed="1")
    assert body.identity == b"a" * 50 + b"bcdefghijklmnop"
    assert body.wire_bytes < 65


def test_a_text_that_travelled_as_it_was_does_so() -> None:
    body = text_body(["/*", Gap(996), "*/"], 1_000, coded=False, seed="1")
    assert (len(body.identity), body.gzip) == (1_000, None)


@pytest.mark.parametrize("size", [0, 10, 35, 36, 5_000])
def test_an_image_has_its_size_and_is_one_if_it_can_be(size: int) -> None:
    body = image_body(size, "1/7")
    assert body.wire_bytes == size
    assert body.identity.startswith(GIF[:size])


def test_the_seed_and_nothing_else_decides_what_is_drawn() -> None:
    assert draw_body(500, "1/3") == draw_body(500, "1/3")
    assert draw_body(500, "1/3") != draw_body(500, "1/4")
    text = ["/*", Gap(3_000), "*/"]
    assert text_body(text, 2_000, coded=True, seed="1/3") == text_body(text, 2_000, coded=True, seed="1/3")
