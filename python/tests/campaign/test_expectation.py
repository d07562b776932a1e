"""The expected duration of a run against runs that were measured, and what it grows with."""

from dataclasses import replace
from pathlib import Path

import pytest

from resolab.basics.records import BrowserKind
from resolab.campaign import expectation
from resolab.campaign.expectation import COSTS, estimate_duration_s
from resolab.plan import Corpus, Plan, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT

CORPUS = Corpus.from_project()
MEASURED = {
    "plans/quick": (8, 310),
    "docs/results/s24-quick/plan": (8, 1_629),
    "docs/results/h20-quick/plan": (8, 1_422),
}
"""Blocks and seconds of whole runs on two cores, from `created` to `ended` of their manifests (docs/benchmarks.md)."""
MOST_WRONG = 1.5


def plan_of(name: str) -> Plan:
    return load_plan(PROJECT_ROOT / "plans" / f"{name}.toml")


@pytest.mark.parametrize("name", MEASURED)
def test_measured_runs_took_what_is_expected_within_a_factor(name: str) -> None:
    blocks, measured_s = MEASURED[name]
    ratio = estimate_duration_s(load_plan(PROJECT_ROOT / f"{name}.toml"), CORPUS, blocks) / measured_s
    assert 1 / MOST_WRONG < ratio < MOST_WRONG


def trial_s(**levels: str) -> float:
    """Seconds of a trial of the quick plan's first condition with other levels, starts of browsers apart."""
    plan = plan_of("h20-quick")
    words = {name: (level,) for name, level in ({"page": "names-12", "profile": "default-h20"} | levels).items()}
    plan = replace(plan, factors=replace(plan.factors, levels={**plan.factors.levels, **words}), exclude=())
    return (estimate_duration_s(plan, CORPUS, 30) - estimate_duration_s(plan, CORPUS, 20)) / 10 / len(plan.conditions())


def test_heavy_pages_and_slow_links_take_their_time_and_no_load_more_than_its_limit() -> None:
    light, heavy = trial_s(page="names-4"), trial_s(page="names-32")
    assert heavy > light + 0.5
    # 2.4 MB take 20 s of 1 Mbit/s; a trial has two loads of at most 30 s, or one, and queries.
    slow = trial_s(page="names-32", profile="3g-h20")
    assert 30 < slow < 80
    assert trial_s(profile="lossy-4g-h20") > trial_s(profile="4g-h20") > trial_s()


REAL_PAGE = """
name = "real"
question = "How long does a real page take?"
seed = 1
blocks = 1
[factors]
page = ["paulirish-2024-05"]
profile = ["4g"]
dns_transport = ["doudp", "doh"]
http_version = ["h2"]
requested_handshake_mode = ["full"]
[resolver_path]
doudp = "native"
doh = "native"
[baseline]
dns_transport = "doudp"
"""


def test_a_real_page_takes_what_its_structure_says() -> None:
    plan = parse_plan(REAL_PAGE, "p", None)
    trials_s = estimate_duration_s(plan, CORPUS, 30) - estimate_duration_s(plan, CORPUS, 20)
    # Loads of it took 1.6 s, trials a second more than two of them (docs/results/gathering).
    assert trials_s / 10 / len(plan.conditions()) == pytest.approx(4.2, rel=0.25)


def test_a_browser_that_no_longer_lives_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("browsers-quick")
    few_live = estimate_duration_s(plan, CORPUS)
    monkeypatch.setattr(expectation, "LIVE_LIMIT", 100)
    # Twelve ways in each block, of which four live: two of three trials find none.
    least_start_s = COSTS[BrowserKind.CHROMIUM].start_s
    assert few_live - estimate_duration_s(plan, CORPUS) > 40 * least_start_s


def test_blocks_add_up_and_copies_count(tmp_path: Path) -> None:
    plan = plan_of("quick")
    assert estimate_duration_s(plan, CORPUS, 0) == 0
    ten, twenty, thirty = (estimate_duration_s(plan, CORPUS, blocks) for blocks in (10, 20, 30))
    assert thirty - twenty == pytest.approx(twenty - ten, rel=0.1)
    text = (PROJECT_ROOT / "plans" / "quick.toml").read_text() + '[[repeat]]\ndns_transport = ["doh"]\n'
    (tmp_path / "p.toml").write_text(text)
    copied = load_plan(tmp_path / "p.toml")
    assert estimate_duration_s(copied, CORPUS) == pytest.approx(estimate_duration_s(plan, CORPUS) * 4 / 3, rel=0.1)


@pytest.mark.parametrize("paths", [2, 16])
def test_paths_share_a_block_down_to_its_longest_trial(paths: int) -> None:
    plan = plan_of("s24-quick")

    def block_s(paths: int) -> float:
        sharing = replace(plan, instrument=replace(plan.instrument, paths=paths))
        return estimate_duration_s(sharing, CORPUS, 11) - estimate_duration_s(sharing, CORPUS, 10)

    assert block_s(paths) == pytest.approx(block_s(1) / paths)
    # Of more paths than conditions each has its own, and the longest takes more than the mean.
    count = len(plan.conditions())
    assert block_s(2 * count) > 1.5 * block_s(1) / count
