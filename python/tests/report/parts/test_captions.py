import math

from synthetic_dataset import PLAN_TEXT, RTT_MS, make_plan

from resolab.plan import stream_seed
from resolab.report.findings.oracle import Oracle
from resolab.report.findings.page_loads import condition_results
from resolab.report.parts.captions import how_sure
from resolab.stats import STOPPING_LEVEL, Method, Sample, median, relative_change
from resolab.store.outcomes import OUTCOMES, PLT
from resolab.store.rows import LoadRow


def test_a_caption_names_each_method_with_the_level_it_reaches() -> None:
    values = [float(value) for value in range(1, 13)]
    estimates = [median(Sample.exact(values)), median(Sample.exact(values[:6])), median(Sample.exact(values[:3]))]
    assert how_sure(estimates) == (
        "n = 3 to 12; 95 % intervals by order statistics, 96.9 % intervals by the range of all values, "
        "no interval for too few values."
    )
    assert how_sure([]) == "No values."


def test_every_method_has_its_words() -> None:
    for method in Method:
        one = relative_change(Sample.exact([1.0] * 6), Sample.exact([1.0] * 6), seed=stream_seed(1, "x"))
        object.__setattr__(one, "method", method)
        assert how_sure([one]).startswith("n = 6; ")


def load(condition: str, block: int, plt_ms: float) -> LoadRow:
    return LoadRow(
        trial_id=f"b{block}", block=block, condition=condition, page="example", profile="4g", dns_transport="doudp",
        http_version="h3", requested_handshake_mode="full", resolver_path="native", loaded=True, handshake_mode="full",
        limit_ms=30_000.0, failure=None, times_ms=dict.fromkeys(OUTCOMES, plt_ms),
    )  # fmt: skip


def test_a_plan_that_stops_by_itself_has_the_level_that_stopping_leaves() -> None:
    for rule, level in (("", 0.95), ("[stop]\nci_width_ms = 10\n", STOPPING_LEVEL)):
        plan = make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 20") + rule)
        names = ("example.4g.doudp.h3.full", "example.4g.doq.h3.full")
        loads = [load(name, block, 100 + 7 * math.sin(block * len(name))) for name in names for block in range(20)]
        compared = [
            one.comparison
            for one in condition_results(plan, loads, Oracle(plan, RTT_MS), PLT)
            if one.comparison and one.comparison.change.n
        ]
        assert [one.difference_ms.level for one in compared] == [level]
        assert [one.change.level for one in compared] == [level]
