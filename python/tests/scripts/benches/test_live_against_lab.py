"""Live against lab: both sides are told of the same pages, distances and caches, and the verdict holds to its margin."""

import argparse
import math
import tomllib
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import live_dataset
import numpy as np
import pytest

from benches.internet.against_lab import command, comparison, comparison_files, rounds, steady_cache
from benches.internet.against_lab.comparison import ComparedLoad, compare_cells, number_loads
from resolab.basics.errors import ConfigurationError, ResolabError
from resolab.basics.records import ResolverCache
from resolab.extras.internet import compose
from resolab.extras.internet.layout import HOME
from resolab.extras.internet.servers import authoritative
from resolab.lab.distance import move_page, move_resolver, resolver_rtt_ms
from resolab.lab.sites import assign_sites
from resolab.plan import Corpus, load_plan, parse_plan

PAGES = ("calibre-2020-07", "google-2018-11")
CELL = ("a-page", "firefox", "dot")


@cache
def a_box(level):
    return steady_cache.steady_layout(compose(Path("/nowhere/opt-out"), PAGES), level)


def sides(level=ResolverCache.HIT, **told):
    words = {"pages": PAGES, "resolver": "quick", "transports": ["doudp", "dot", "doh", "doq"], "browsers": ["firefox"]}
    options = argparse.Namespace(**(words | {"cache": level, "loads": 3, "rounds": 4} | told))
    return command.sides_of(a_box(level), options)


@pytest.fixture
def folder(tmp_path):
    comparison_files.write(sides(), tmp_path / "all", Corpus.from_project())
    return tmp_path / "all"


def test_the_lab_has_the_boxs_pages_at_the_boxs_distances(folder):
    plan, corpus = rounds.lab_plan(folder)
    assert plan.factors.page == PAGES
    box, (condition, *_) = sides(), plan.conditions()
    for page, site in assign_sites(corpus, plan.factors.page).items():
        link = move_resolver(move_page(corpus.profile("box-home"), site), condition.resolver_extra_rtt_ms)
        assert resolver_rtt_ms(link) == pytest.approx(box.layout.rtt_ms(HOME, box.resolver.address))
        of_box = next(one for one in box.sites if one.page == page)
        places = {one.host: one for one in comparison_files.origins_of(of_box)}
        assert [*places] == [*site.hosts]
        assert site.url == of_box.url
        of_corpus = assign_sites(Corpus.from_project(), [page])[page]
        assert site.request_count == of_corpus.request_count
        far = {one.network.partition("/")[0]: 2 * one.extra_one_way_delay_ms for one in link.far or []}
        for origin, original in zip(site.origins, of_corpus.origins, strict=True):
            rtt_ms = 10.0 + far.get(origin.address, 0.0)
            assert rtt_ms == pytest.approx(box.layout.rtt_ms(HOME, places[origin.host].address), abs=1e-5)
            assert (origin.folder, origin.needed) == (original.folder, original.needed)
            assert {"compression": []} | origin.settings == {"compression": []} | original.settings
            assert origin.serving.certificate == original.serving.certificate


def test_names_that_share_an_address_in_the_box_share_one_in_the_lab(folder):
    _, corpus = rounds.lab_plan(folder)
    for page, site in assign_sites(corpus, PAGES).items():
        of_box = next(one for one in sides().sites if one.page == page)
        shared = {one.host: one.address for one in comparison_files.origins_of(of_box)}
        own = {one.host: one.address for one in site.origins}
        assert all((shared[a] == shared[b]) == (own[a] == own[b]) for a in own for b in own)


def test_the_profile_has_no_rate_and_no_loss(folder):
    link = Corpus(folder).profile("box-home")
    for direction in (link.up, link.down):
        assert (direction.one_way_delay_ms, direction.rate_bps, direction.loss_ratio) == (5.0, None, 0.0)


def test_a_resolver_nearer_than_the_sites_is_the_nearest_of_all(tmp_path):
    near = sides(resolver="local", transports=["doudp"])
    comparison_files.write(near, tmp_path / "all", Corpus.from_project())
    plan, corpus = rounds.lab_plan(tmp_path / "all")
    assert corpus.profile("box-home").up.one_way_delay_ms == 2.5
    assert {one.resolver_extra_rtt_ms for one in plan.conditions()} == {0.0}
    assert all(one.serving.extra_rtt_ms >= 5 for one in assign_sites(corpus, PAGES)[PAGES[0]].origins)


def test_both_plans_have_the_same_loads_ways_and_browsers(folder):
    live = load_plan(folder / "live.toml")
    lab, _ = rounds.lab_plan(folder)
    assert {one.url for one in live.live.sites.values()} == {one.url for one in sides().sites}

    def ways(plan):
        return {(str(one.browser), str(one.dns_transport), str(one.resolver_path)) for one in plan.conditions()}

    assert ways(live) == ways(lab) == {
        ("firefox", "doudp", "native"), ("firefox", "doh", "native"), ("firefox", "dot", "stub"),
        ("firefox", "doq", "stub"),
    }  # fmt: skip
    assert (live.blocks, lab.blocks) == (3 * len(PAGES), 3)
    assert {
        (str(one.resolver_cache), str(one.http_version), str(one.dns_connection_state)) for one in lab.conditions()
    } == {("hit", "h2", "cold")}
    assert live.live.resolvers["quick"].endpoints["dot"].url == "tls://dns.quick.example"


def test_in_a_steady_box_every_name_is_kept_or_none_is():
    kept, not_kept = (a_box(level) for level in ResolverCache)
    of_sites = [
        [record for zone in layout.zones if "-20" in zone.origin for record in zone.records]
        for layout in (kept, not_kept)
    ]
    assert [{one.ttl_s for one in records} for records in of_sites] == [{86_400}, {0}]
    assert len({zone.server for zone in kept.zones if "-20" in zone.origin}) > 1
    others = [zone for zone in not_kept.zones if zone.origin.endswith(".example") and zone.origin != "optout.example"]
    assert all(record.ttl_s == 86_400 for zone in others for record in zone.records)


@pytest.mark.parametrize(("level", "ttl_s"), [(ResolverCache.HIT, 86_400), (ResolverCache.MISS, 0)])
def test_that_there_is_no_record_is_kept_as_long(level, ttl_s):
    layout = a_box(level)
    seen_count = 0
    for server in layout.servers:
        program = authoritative(layout, server, Path("/nowhere"))
        changed = steady_cache.steady_program(program, level)
        zones = [name for name in changed.files if name.endswith(".zone")]
        for name in zones:
            start = next(line for line in changed.files[name].splitlines() if " SOA " in line)
            assert start.split()[-1] == str(ttl_s)
            seen_count += 1
        unchanged = {name: text for name, text in program.files.items() if not name.endswith(".zone")}
        assert unchanged.items() <= changed.files.items()
    assert seen_count > len(layout.servers)


def test_misses_all_take_what_the_boxs_truth_says(tmp_path):
    missing = sides(ResolverCache.MISS)
    assert missing.recursion_ms == missing.layout.rtt_ms("quick", missing.layout.server_address("auth-a")) == 28.0
    comparison_files.write(missing, tmp_path / "all", Corpus.from_project())
    plan, _ = rounds.lab_plan(tmp_path / "all")
    assert plan.resolver.miss_delay_ms == 28.0
    assert {str(one.resolver_cache) for one in plan.conditions()} == {"miss"}
    assert sides().recursion_ms == 0.0
    mixed = compose(Path("/nowhere/opt-out"), PAGES)
    with pytest.raises(ValueError, match="misses of one length"):
        steady_cache.recursion_ms(mixed, mixed.resolver("quick"), mixed.sites[:2], ResolverCache.MISS)


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"rounds": 6, "transports": ["doudp", "dot", "doh", "doq"]}, "above the 60"),
        ({"resolver": "unbound"}, "no doq"),
        ({"resolver": "nobody"}, "there are local"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_starts(told, said):
    with pytest.raises(ConfigurationError, match=said):
        sides(**told)


def test_plans_without_a_pair_of_transports_load_too(tmp_path):
    comparison_files.write(sides(transports=["doq"]), tmp_path / "all", Corpus.from_project())
    load_plan(tmp_path / "all" / "live.toml")
    rounds.lab_plan(tmp_path / "all")
    text = (tmp_path / "all" / "lab.toml").read_text()
    assert tomllib.loads(text)["resolver_path"] == {"doq": "stub"}
    assert parse_plan(text, "lab.toml", Corpus(tmp_path / "all")).name == "box-lab-hit"


def loads(values, cell=CELL, limit_ms=30_000.0):
    return number_loads(ComparedLoad(cell, 0, value, limit_ms) for value in values)


def some(count, factor=1.0, noise=0.01, seed=1):
    rng = np.random.default_rng(seed)
    return [float(value) for value in factor * 500 * np.exp(noise * rng.standard_normal(count))]


@pytest.mark.parametrize(
    ("factor", "alike"), [(1.0, True), (1.03, True), (1 / 1.03, True), (1.07, False), (1 / 1.07, False), (1.05, False)]
)
def test_alike_is_what_lies_within_five_percent(factor, alike):
    (found,) = compare_cells(loads(some(20, factor, noise=0.004)), loads(some(20, noise=0.004, seed=2)))
    assert found.equivalence.is_alike is alike
    assert found.change.value == pytest.approx(factor - 1, abs=0.01)
    assert found.change.ci_low < found.change.value < found.change.ci_high
    part = comparison.table([found])
    assert part.missed_count == (not alike)


def test_few_or_noisy_pairs_are_not_called_alike():
    (few,) = compare_cells(loads(some(4)), loads(some(4, seed=2)))
    assert few.equivalence.p_value == pytest.approx(1 / 16)
    assert not few.equivalence.is_alike
    assert few.ratio_text == f"{1 + few.change.value:.3f}"
    (noisy,) = compare_cells(loads(some(20, noise=0.3)), loads(some(20, noise=0.3, seed=2)))
    assert not noisy.equivalence.is_alike


def test_five_fails_five_never_miss_by_the_margin_alone():
    exactly = [500.0] * 20
    (found,) = compare_cells(loads([500.0 * 1.05] * 20), loads(exactly))
    assert not found.equivalence.is_alike
    (within,) = compare_cells(loads([500.0 * 1.0499] * 20), loads(exactly))
    assert within.equivalence.is_alike
    assert within.equivalence.margin == pytest.approx(math.log(1.05))


def test_a_failed_load_took_its_limit_and_a_pair_of_them_says_nothing():
    live = [500.0] * 10 + [None, None]
    lab = [500.0] * 9 + [None, 500.0, None]
    (found,) = compare_cells(loads(live), loads(lab))
    assert (found.equivalence.n, found.both_failed_count) == (11, 1)
    # One of eleven lies beyond the margin on each side.
    assert found.equivalence.p_value == pytest.approx((11 + 1) / 2**11)
    assert found.live_ms == found.lab_ms == 500.0


def test_cells_are_judged_apart_and_together():
    other = ("b-page", "chromium", "doh")
    live = [*loads(some(12)), *loads(some(12, 1.2), other)]
    lab = [*loads(some(12, seed=2)), *loads(some(12, seed=2), other)]
    first, second, whole = compare_cells(live, lab)
    assert (first.cell, second.cell, whole.cell) == (CELL, other, ("all", "all", "all"))
    assert (first.equivalence.is_alike, second.equivalence.is_alike) == (True, False)
    assert whole.equivalence.n == 24


def test_a_load_without_its_half_is_counted_and_no_load_at_all_is_an_error():
    (found,) = compare_cells(loads(some(12)), loads(some(10)))
    assert (found.equivalence.n, found.alone_count) == (10, 2)
    assert "2 loads without" in comparison.table([found]).remarks[-1]
    with pytest.raises(ResolabError, match="no load"):
        compare_cells([], [])


def test_loads_are_numbered_within_their_cell_over_all_rounds():
    other = ("b-page", "firefox", "dot")
    mixed = number_loads(
        [ComparedLoad(CELL, 0, 1.0, 9.0), ComparedLoad(other, 0, 2.0, 9.0), ComparedLoad(CELL, 0, 3.0, 9.0)]
    )
    assert [(one.cell[0], one.place) for one in mixed] == [("a-page", 0), ("b-page", 0), ("a-page", 1)]


def test_live_loads_are_read_by_site_browser_and_transport(tmp_path):
    dataset = live_dataset.make_live_dataset(tmp_path / "d", live_dataset.Truth(rounds=2), 2)
    told = SimpleNamespace(
        sites=[SimpleNamespace(url=live_dataset.site(one), page=live_dataset.page(one)) for one in range(2)]
    )
    read = number_loads(rounds.live_loads(told, dataset))
    cells = {load.cell for load in read}
    assert cells == {(live_dataset.page(one), "firefox", way) for one in range(2) for way in ("doudp", "dot", "doh")}
    # Four resolvers, of which one has DoUDP alone, twice.
    assert sorted(load.place for load in read if load.cell == (live_dataset.page(0), "firefox", "doudp")) == [*range(8)]
    assert all(load.plt_ms is not None and load.plt_ms < load.limit_ms for load in read)
