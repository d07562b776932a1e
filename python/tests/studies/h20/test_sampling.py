"""Pooled pairs: over pages from six on, over blocks of these very pages below."""

import numpy as np
import pytest

from resolab.report.live.configurations.sampling import BLOCKS_NEEDED, PooledPairs, describe_sampling, list_places
from resolab.stats import Method, Sample, estimate_clustered_median, quantile

RNG = np.random.default_rng(3)


def pooled(pages: int, blocks: int) -> PooledPairs:
    keys = [(block, f"page-{page}", "h2") for block in range(blocks) for page in range(pages)]
    return PooledPairs(Sample.exact(RNG.standard_normal(pages * blocks)), list_places(keys))


@pytest.mark.parametrize(("pages", "unit"), [(2, "block"), (5, "block"), (6, "page"), (12, "page")])
def test_many_pages_are_what_was_sampled_and_few_are_given(pages: int, unit: str):
    pairs = pooled(pages, 12)
    assert (pairs.unit, pairs.pages_count) == (unit, pages)
    names = [page if unit == "page" else block for block, page in pairs.places]
    assert pairs.median(0.95) == estimate_clustered_median(pairs.differences, names)
    assert pairs.median(0.95).method is Method.CLUSTER_SIGN


def test_a_page_alone_has_a_pair_a_block():
    pairs = pooled(1, 8)
    assert pairs.median(0.95) == quantile(pairs.differences, 0.5)


def test_few_pages_in_few_blocks_have_no_interval():
    assert pooled(3, BLOCKS_NEEDED - 1).median(0.95).method is Method.NONE


def test_words_say_for_which_pages_an_interval_is():
    assert describe_sampling([("block", 1)]) == "a pair a block"
    assert "these 3 very pages only" in describe_sampling([("block", 3), ("block", 1)])
    assert "6 to 12) as what was sampled" in describe_sampling([("page", 6), ("page", 12)]).replace("pages (", "")
