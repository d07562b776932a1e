import hashlib
import subprocess
import sys
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic_dataset import make_plan

from resolab.plan import Repeat, block_order, load_plan, stream_seed
from resolab.plan.corpus import PROJECT_ROOT
from resolab.plan.factors import selects

PLAN = make_plan()
QUICK_ORDER_SHA256 = "5191fdc9353d95281d5483f84222c52162406a0030258e405125dced6e9ce831"
PINNED = ["example.fiber.doudp.h3.zero_rtt", "example.4g.doh.h3.full", "wikipedia.4g.doq.h3.full"]


@given(seed=st.integers(0, 2**63 - 1), block=st.integers(0, 1000))
@settings(deadline=None)
def test_a_block_runs_every_condition_once_and_always_alike(seed: int, block: int) -> None:
    order = block_order(PLAN, seed, block)
    assert sorted(one.id for one in order) == sorted(one.id for one in PLAN.conditions())
    assert order == block_order(PLAN, seed, block)


LEVELS = {"page": ["example", "wikipedia"], "profile": ["fiber", "4g"], "dns_transport": ["doudp", "doh", "doq", "dot"]}
SELECTIONS = st.fixed_dictionaries(
    {}, optional={factor: st.sets(st.sampled_from(words), min_size=1).map(tuple) for factor, words in LEVELS.items()}
)


@given(
    seed=st.integers(0, 2**63 - 1),
    block=st.integers(0, 1000),
    exclude=st.lists(SELECTIONS, max_size=3),
    repeat=st.lists(st.builds(Repeat, SELECTIONS, st.integers(2, 20)), max_size=3),
)
@settings(deadline=None, max_examples=50)
def test_exclusions_and_copies_lose_and_double_nothing(
    seed: int, block: int, exclude: list[dict[str, tuple[str, ...]]], repeat: list[Repeat]
) -> None:
    plan = replace(PLAN, exclude=tuple(exclude), repeat=tuple(repeat))
    expected = Counter(
        (one.id, copy)
        for one in PLAN.conditions()
        if not any(selects(levels, one) for levels in exclude)
        for copy in range(max([1, *(some.times for some in repeat if selects(some.levels, one))]))
    )
    order = block_order(plan, seed, block)
    firsts = [replace(one, replicate=1) for one in order]
    assert Counter((first.id, one.replicate - 1) for first, one in zip(firsts, order, strict=True)) == expected
    assert len({one.id for one in order}) == len(order)
    # Those that are left keep the order they have without copies and exclusions.
    kept = [one.id for one in order if one.replicate == 1]
    assert kept == [one.id for one in block_order(PLAN, seed, block) if (one.id, 0) in expected]
    assert block_order(plan, seed, block) == order


def test_order_is_pinned_across_versions() -> None:
    # A resumed run must meet the order its dataset was begun with: this may never change.
    assert [one.id for one in block_order(PLAN, 7, 0)][:3] == PINNED
    assert stream_seed(7, "block_order", 0) == 2911496972142494816


def test_the_order_of_the_quick_plan_is_as_it_always_was() -> None:
    # Its identifiers in the order of eight blocks, as of format 1.4, before there were optional factors.
    plan = load_plan(PROJECT_ROOT / "plans" / "quick.toml", blocks=8)
    order = [one.id for block in range(plan.blocks) for one in block_order(plan, plan.seed, block)]
    assert order[:2] == ["wikipedia.4g.doudp.h3.zero_rtt", "wikipedia.fiber.doh.h3.zero_rtt"]
    assert hashlib.sha256("\n".join(order).encode()).hexdigest() == QUICK_ORDER_SHA256


def test_order_does_not_depend_on_the_order_of_levels() -> None:
    turned = replace(
        PLAN, factors=replace(PLAN.factors, levels={**PLAN.factors.levels, "page": PLAN.factors.page[::-1]})
    )
    assert block_order(turned, 7, 3) == block_order(PLAN, 7, 3)


def test_every_condition_comes_first_about_equally_often() -> None:
    firsts = Counter(block_order(PLAN, 1, block)[0].id for block in range(2_400))
    assert len(firsts) == 24
    assert min(firsts.values()) > 60
    assert max(firsts.values()) < 150


def test_streams_differ_by_label_and_seed() -> None:
    assert len({stream_seed(1, "a"), stream_seed(1, "b"), stream_seed(2, "a"), stream_seed(1, "a", 0)}) == 4


def test_plan_and_store_load_without_the_heavy_libraries() -> None:
    code = (
        "import sys, resolab.plan, resolab.store, resolab.report\n"
        "print([name for name in ('numpy', 'scipy', 'matplotlib', 'duckdb', 'jinja2') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
