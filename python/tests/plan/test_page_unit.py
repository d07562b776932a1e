"""Plans that sample pages: what a block loads, in which order, what is compared, and what is refused."""

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_dataset import PLAN_TEXT, make_plan

from resolab.basics.errors import ConfigurationError
from resolab.plan import (
    Plan,
    block_order,
    find_counting_condition,
    find_page,
    load_plan,
    page_order,
    pool_pages,
    trials_a_block,
)

PAGES = [f"page{number}" for number in range(12)]
TEXT = (
    PLAN_TEXT.replace('["example", "wikipedia"]', str(PAGES).replace("'", '"')).replace("blocks = 6\n", "")
    + '[design]\nunit = "page"\n'
)


def plan_with(more: str = "", blocks: int | None = None) -> Plan:
    text = TEXT if blocks is None else TEXT.replace("seed = 7", f"seed = 7\nblocks = {blocks}")
    return make_plan(text + more)


PLAN = plan_with()


def test_without_a_number_of_blocks_each_page_is_loaded_once() -> None:
    assert (PLAN.blocks, PLAN.samples_pages, trials_a_block(PLAN)) == (12, True, 12)
    assert len(PLAN.conditions()) == 12 * 12
    with pytest.raises(ConfigurationError, match="blocks: is missing"):
        make_plan(TEXT.replace('"page"\n', '"block"\n'))


@given(seed=st.integers(0, 2**63 - 1), first_round=st.integers(0, 5))
@settings(deadline=None, max_examples=30)
def test_a_round_loads_each_page_once_under_every_condition_and_rounds_are_alike(seed: int, first_round: int) -> None:
    blocks = range(12 * first_round, 12 * (first_round + 1))
    orders = [block_order(PLAN, seed, block) for block in blocks]
    assert Counter(one.id for order in orders for one in order) == Counter(one.id for one in PLAN.conditions())
    pages = [{one.page for one in order} for order in orders]
    assert pages == [{page} for page in page_order(PLAN, seed)]
    assert orders == [block_order(PLAN, seed, block) for block in blocks]


def test_pages_and_conditions_are_in_an_order_of_their_own_by_the_seed() -> None:
    # A resumed run must meet the order its dataset was begun with: this may never change.
    assert page_order(PLAN, 7)[:4] == ["page4", "page9", "page11", "page10"]
    assert [one.id for one in block_order(PLAN, 7, 0)][:2] == [
        "page4.fiber.doq.h3.full",
        "page4.fiber.doudp.h3.zero_rtt",
    ]
    assert page_order(PLAN, 8) != page_order(PLAN, 7) != list(PLAN.factors.page)
    turned = replace(
        PLAN, factors=replace(PLAN.factors, levels={**PLAN.factors.levels, "page": PLAN.factors.page[::-1]})
    )
    assert page_order(turned, 7) == page_order(PLAN, 7)
    assert find_page(PLAN, 7, 13) == find_page(PLAN, 7, 1)
    within = {tuple(one.id.partition(".")[2] for one in block_order(PLAN, 7, block)) for block in range(24)}
    assert len(within) > 20


def test_comparisons_are_over_pages_and_profiles_stay_apart() -> None:
    compared = pool_pages(PLAN)
    assert pool_pages(compared) == compared
    pairs = [(one.treatment.id, one.baseline.id) for one in compared.comparisons()]
    assert len(pairs) == 10
    assert ("all-pages.4g.doq.h3.full", "all-pages.4g.doudp.h3.full") in pairs
    assert {find_counting_condition(PLAN, one).id for one in PLAN.conditions()} == {
        one.id for one in compared.conditions()
    }
    of_blocks = make_plan()
    assert pool_pages(of_blocks) is of_blocks
    assert find_counting_condition(of_blocks, of_blocks.conditions()[0]) == of_blocks.conditions()[0]


def test_copies_run_on_every_page() -> None:
    plan = plan_with('[[repeat]]\ndns_transport = ["doudp"]\nprofile = ["4g"]\nrequested_handshake_mode = ["full"]\n')
    assert trials_a_block(plan) == 13
    assert [one.id for one in block_order(plan, 7, 3) if one.replicate == 2] == [
        f"{find_page(plan, 7, 3)}.4g.doudp.h3.full.copy2"
    ]


CHOSEN = '\npage = ["page1"]\n'
WIDTH = "[stop]\nci_width_ms = 5\nmin_blocks = 6\n"


@pytest.mark.parametrize(
    ("more", "blocks", "says"),
    [
        (f"[[exclude]]{CHOSEN}", None, 'exclude[0].page: design.unit = "page" takes every page alike'),
        (f"[[repeat]]{CHOSEN}", None, "repeat[0].page: design.unit"),
        (
            f'[[comparison]]\nname = "x"\nbaseline = {{ dns_transport = "doudp" }}\n[comparison.treatment]{CHOSEN}',
            None,
            "comparison[0].treatment.page: design.unit",
        ),
        (WIDTH, 13, "stop: 13 blocks are more than the 12 pages"),
    ],
)
def test_what_makes_no_sense_of_sampled_pages_is_refused(more: str, blocks: int | None, says: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"made-up.toml: {says}")):
        plan_with(more, blocks)
    assert plan_with(WIDTH, 12).stop is not None


def test_a_number_of_blocks_from_the_command_line_is_checked_too(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    text = TEXT.replace(str(PAGES).replace("'", '"'), '["flat-1", "flat-2", "flat-4", "flat-8", "flat-12", "flat-20"]')
    file.write_text(text + WIDTH)
    assert load_plan(file).blocks == 6
    with pytest.raises(ConfigurationError, match="stop: 7 blocks are more than the 6 pages"):
        load_plan(file, blocks=7)
    file.write_text(text.replace('unit = "page"', 'unit = "site"'))
    with pytest.raises(ConfigurationError, match=r"design\.unit: unknown level 'site'; allowed: block, page"):
        load_plan(file)
