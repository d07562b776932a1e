"""Which of a page's names the resolver lacks: the share that the plan says, alike in a block, more with a larger share."""

from resolab.lab.cache_misses import draw_missed_names

NAMES = [f"n{number}.test" for number in range(2_000)]


def test_each_name_is_missed_by_its_own_chance():
    for ratio in (0.1, 0.5):
        share = len(draw_missed_names(NAMES, 7, "b000-t000", ratio=ratio)) / len(NAMES)
        assert abs(share - ratio) < 0.04  # 3.6 and 6 standard deviations of so many draws
    assert draw_missed_names(NAMES, 7, "b000-t000", ratio=0) == frozenset()
    assert draw_missed_names(NAMES, 7, "b000-t000", ratio=1) == frozenset(NAMES)


def test_a_block_draws_alike_and_a_larger_share_has_the_smaller_ones_names():
    few, many = (draw_missed_names(NAMES, 7, f"b003-t00{trial}", ratio=ratio) for trial, ratio in ((1, 0.2), (2, 0.6)))
    assert few < many
    assert few == draw_missed_names(NAMES, 7, "b003-t009", ratio=0.2)
    assert few != draw_missed_names(NAMES, 7, "b004-t001", ratio=0.2)
    assert few != draw_missed_names(NAMES, 8, "b003-t001", ratio=0.2)
