"""Generated pages: the same everywhere, whole, and distributed as what they are drawn from."""

import hashlib
import math
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from scipy import stats

from resolab.pages.facts import count_facts, is_redirected
from resolab.pages.file import ENDING, model_text, read_model
from resolab.pages.generated import format_name, generate, published, serves
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.copula import draw_scores, normal_correlations
from resolab.pages.generated.margins import MarginalDistribution
from resolab.pages.generated.totals import HOSTS, MARGINS, Totals
from resolab.pages.model import Cors, Discovery, Evidence, Kind, PageModel, ScriptMode

PROJECT = Path(__file__).resolve().parents[3]
DIGEST = "a65248b96f775789d0d5548428b1c50645447918ae6609c65d06a8064512738f"
"""Of pages 1 to 12 of seed 1. Where it changes, all pages do: raise METHOD in generated/page.py, and put the new one."""
DIGEST_CODE = (
    "import hashlib;from resolab.pages.file import model_text;from resolab.pages.generated import generate;"
    "print(hashlib.sha256(''.join(model_text(generate(1,k)) for k in range(1,13)).encode()).hexdigest())"
)
DRAWN = 2_000
"""Pages whose totals are drawn; a percentile of so many lies within 0.13 of its score (3 standard errors)."""
SCORE_ERROR = 0.13


@pytest.fixture(scope="module")
def pages() -> list[PageModel]:
    return [generate(5, number) for number in range(1, 201)]


@pytest.fixture(scope="module")
def totals() -> list[Totals]:
    return [serves(11, number) for number in range(1, DRAWN + 1)]


def test_a_page_is_the_same_everywhere_and_whatever_else_is_made() -> None:
    generate(1, 300)
    text = "".join(model_text(generate(1, number)) for number in range(1, 13))
    assert hashlib.sha256(text.encode()).hexdigest() == DIGEST


def test_a_page_does_not_depend_on_the_order_of_sets() -> None:
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(PROJECT / "python")}
        said = subprocess.run([sys.executable, "-c", DIGEST_CODE], env=environment, capture_output=True, check=True)
        assert said.stdout.decode().strip() == DIGEST


def test_pages_of_other_seeds_and_numbers_are_others() -> None:
    made = [generate(seed, number) for seed in (1, 2, 11) for number in (1, 2, 11)]
    assert len({one.resources for one in made}) == len(made)
    assert len({one.name for one in made}) == len(made)
    assert format_name(1, 7) == "generated-1-0007"
    assert format_name(1, 7, 12) == "generated-1-h12-0007"


def test_a_page_has_what_was_drawn(pages: Sequence[PageModel]) -> None:
    for number, page in enumerate(pages, start=1):
        had(page, serves(5, number))


@pytest.mark.parametrize("hosts", [1, 2, 3, 7, 20, 40, 300])
def test_pages_with_a_number_of_hosts_have_it(hosts: int) -> None:
    for number in range(1, 9):
        drawn = serves(3, number, hosts=hosts)
        assert drawn.hosts == hosts
        had(generate(3, number, hosts=hosts), drawn)


@pytest.mark.parametrize("requests", [3, 4, 5, 8, 13, 1_200])
def test_pages_with_a_number_of_requests_have_it(requests: int) -> None:
    for number in range(1, 9 if requests < 100 else 2):
        drawn = serves(4, number, requests=requests)
        assert drawn.requests == requests
        had(generate(4, number, requests=requests), drawn)


def had(page: PageModel, drawn: Totals) -> None:
    facts = count_facts(page)
    assert (facts.requests_count, facts.hosts_count, facts.sites_count) == (drawn.requests, drawn.hosts, drawn.sites)
    assert (facts.wire_bytes, facts.depth) == (drawn.wire_bytes, drawn.depth)
    assert (facts.redirects_count, facts.documents_count) == (drawn.redirects, drawn.documents)


def test_more_hosts_mean_a_larger_page() -> None:
    means = [np.mean([serves(3, number, hosts=hosts).requests for number in range(1, 200)]) for hosts in (1, 10, 40)]
    assert means[0] < 10 < means[1] < 80 < means[2]


def test_nothing_happens_before_what_caused_it(pages: Sequence[PageModel]) -> None:
    for page in pages:
        assert page.dom_content_loaded_ms is not None
        assert page.load_ms is not None
        assert 0 < page.dom_content_loaded_ms < page.load_ms
        for one in page.resources[1:]:
            assert one.parent is not None
            parent = page.resources[one.parent]
            assert parent.first_byte_ms is not None
            assert one.start_ms >= parent.first_byte_ms - 0.002
            if one.discovery in {Discovery.REDIRECT, Discovery.SCRIPT, Discovery.STYLESHEET}:
                assert one.start_ms >= parent.first_byte_ms + parent.receive_ms - 0.002
            assert one.first_byte_ms is not None
            assert one.first_byte_ms - one.start_ms >= one.server_time_ms
            assert one.after_load == (one.start_ms > page.load_ms)


def test_discoverers_can_discover_what_they_are_said_to(pages: Sequence[PageModel]) -> None:
    asks = {
        Discovery.DOCUMENT: Kind.DOCUMENT,
        Discovery.INLINE_SCRIPT: Kind.DOCUMENT,
        Discovery.LATE: Kind.DOCUMENT,
        Discovery.SCRIPT: Kind.SCRIPT,
        Discovery.STYLESHEET: Kind.STYLESHEET,
    }
    for page in pages:
        led = {one.parent for one in page.resources if one.discovery is Discovery.REDIRECT}
        for place, one in enumerate(page.resources[1:], start=1):
            assert one.parent is not None
            parent = page.resources[one.parent]
            assert is_redirected(one) == (place in led)
            if one.discovery is Discovery.REDIRECT:
                assert is_redirected(parent)
                assert one.kind is parent.kind
                assert one.evidence is Evidence.REDIRECT
            else:
                assert not is_redirected(parent)
                assert parent.kind is asks[one.discovery]
                assert one.evidence is Evidence.INITIATOR
            document = page.resources[one.frame]
            assert document.kind is Kind.DOCUMENT
            assert one.frame == (
                one.parent if parent.kind is Kind.DOCUMENT and not is_redirected(parent) else parent.frame
            )


def test_a_request_has_what_a_clone_of_it_needs(pages: Sequence[PageModel]) -> None:
    by_runs = {Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE}
    for page in pages:
        for one in page.resources:
            assert (one.due_ms is not None) == (one.discovery in by_runs)
            assert (one.place is not None) == (one.discovery is Discovery.DOCUMENT)
            assert one.priority in {"VeryHigh", "High", "Medium", "Low", "VeryLow"}
            assert one.raw_bytes >= one.wire_bytes >= 0
            assert (one.method == "POST") >= (one.request_bytes > 0)
            if is_redirected(one) or one.status == 204:
                assert one.wire_bytes == 0
            is_element = one.kind is Kind.SCRIPT and one.discovery is Discovery.DOCUMENT
            assert one.script_mode in ({ScriptMode.SYNC, ScriptMode.ASYNC, ScriptMode.DEFER} if is_element else {None})
            if one.kind is Kind.FONT:
                assert one.cors is Cors.ANONYMOUS
            if one.preflight:
                assert one.kind in {Kind.XHR, Kind.FETCH}
                assert one.cors is not Cors.NO
                assert one.host != page.resources[one.frame].host


def test_hosts_behind_one_address_are_one_place(pages: Sequence[PageModel]) -> None:
    for page in pages:
        assert page.hosts[page.resources[0].host].site == 0
        assert {host.site for host in page.hosts} == set(range(count_facts(page).sites_count))
        distances: dict[int | None, float | None] = {}
        for host in page.hosts:
            assert host.round_trip_ms == distances.setdefault(host.address_group, host.round_trip_ms)
            assert host.protocols
            assert ("h3" in host.protocols) <= bool(host.alt_svc)
            assert host.round_trip_ms is not None
            assert host.round_trip_ms > published.ACCESS_ROUND_TRIP_MS
        for number in {host.certificate for host in page.hosts}:
            assert len({host.site for host in page.hosts if host.certificate == number}) == 1


def test_a_model_is_read_back_as_it_was(pages: Sequence[PageModel], tmp_path: Path) -> None:
    for page in pages[:20]:
        file = tmp_path / f"{page.name}{ENDING}"
        file.write_text(model_text(page), "utf-8")
        assert read_model(file) == page
        assert page.source.form == "generated"
        assert msgspec.json.decode(file.read_bytes())["source"]["async_stacks"] is True


@pytest.mark.parametrize("name", ["requests", "hosts", "sites", "wire_bytes", "depth", "redirects", "documents"])
def test_percentiles_are_the_published_ones(totals: Sequence[Totals], name: str) -> None:
    margin = MARGINS["bytes" if name == "wire_bytes" else name]
    values = np.array([getattr(one, name) for one in totals], float)
    for share in published.PERCENTILES:
        score = float(stats.norm.ppf(share))
        # Whole numbers: the percentile may be off by one half, and redirects are drawn one half above.
        low, high = (margin.value(score + error) for error in (-SCORE_ERROR, SCORE_ERROR))
        least = 1 if name in {"documents", "sites", "depth"} else 0
        assert low - 1.0 <= max(np.quantile(values, share), least) <= max(high, least) + 1.0, share


def test_the_published_numbers_are_met_by_what_is_drawn(totals: Sequence[Totals]) -> None:
    requests = np.quantile([one.requests for one in totals], published.PERCENTILES)
    assert requests == pytest.approx(published.REQUESTS, rel=0.10)
    hosts = [one.hosts for one in totals]
    assert np.mean(np.array(hosts) >= 20) == pytest.approx(0.5, abs=0.05)
    assert max(hosts) > 150


def test_ranks_go_together_as_in_real_pages(totals: Sequence[Totals]) -> None:
    names = ["wire_bytes" if name == "bytes" else name for name in published.VARIABLES]
    values = np.array([[getattr(one, name) for name in names] for one in totals])
    found = np.asarray(stats.spearmanr(values).statistic)
    # Rounding small whole numbers, and limits among them, cost some.
    assert np.max(np.abs(found - np.array(published.SPEARMAN))) < 0.06


def test_kinds_are_those_of_the_archive(pages: Sequence[PageModel]) -> None:
    for kind, median in ((Kind.SCRIPT, published.SCRIPT_REQUESTS[2]), (Kind.IMAGE, published.IMAGE_REQUESTS[2])):
        counts = [sum(one.kind is kind and not is_redirected(one) for one in page.resources) for page in pages]
        assert np.median(counts) == pytest.approx(median, rel=0.25)


def test_shares_are_those_of_real_pages(pages: Sequence[PageModel]) -> None:
    facts = [count_facts(page) for page in pages]
    assert 0.42 < np.median([one.single_request_hosts_count / one.hosts_count for one in facts]) < 0.55
    assert 0.07 < np.median([one.after_load_count / one.requests_count for one in facts]) < 0.13
    own = [sum(page.hosts[one.host].site == 0 for one in page.resources) / len(page.resources) for page in pages]
    assert 0.27 < np.median(own) < 0.45
    children = Counter(
        (page.name, one.parent) for page in pages for one in page.resources if one.discovery is Discovery.SCRIPT
    )
    scripts = [
        (page.name, place)
        for page in pages
        for place, one in enumerate(page.resources)
        if one.kind is Kind.SCRIPT and not is_redirected(one)
    ]
    assert 0.55 < np.mean([children[one] == 0 for one in scripts]) < 0.72


def test_a_margin_goes_through_its_percentiles_and_back() -> None:
    margin = MarginalDistribution.from_percentiles(published.REQUESTS)
    for share, value in zip(published.PERCENTILES, published.REQUESTS, strict=True):
        score = float(stats.norm.ppf(share))
        assert margin.value(score) == pytest.approx(value)
        assert margin.score(value) == pytest.approx(score)
    values = [margin.value(score / 10) for score in range(-40, 41)]
    assert values == sorted(values)
    assert HOSTS.value(0.0) == pytest.approx(published.HOSTS_MEDIAN)
    regressed = MarginalDistribution.log_normal(10.0, 0.5).regress((2.0, 1.0, 0.3))
    assert regressed.value(0.0) == pytest.approx(math.e * 100)
    assert regressed.log_sd == pytest.approx(math.hypot(1.0, 0.3))


def test_the_correlations_are_those_of_a_distribution() -> None:
    matrix = np.array(normal_correlations())
    assert np.allclose(matrix, matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > 0
    exact = 2 * np.sin(np.pi * np.array(published.SPEARMAN) / 6)
    assert np.max(np.abs(matrix - exact)) < 0.02


def test_a_given_score_stands_and_the_others_follow_it() -> None:
    drawn = [draw_scores(UniformStream("test", number), {"hosts": 1.5}) for number in range(2_000)]
    assert {one["hosts"] for one in drawn} == {1.5}
    matrix = normal_correlations()
    known = matrix[published.VARIABLES.index("hosts")][published.VARIABLES.index("bytes")]
    others = np.array([one["bytes"] for one in drawn])
    assert others.mean() == pytest.approx(1.5 * known, abs=0.06)
    assert others.std() == pytest.approx(math.sqrt(1 - known**2), abs=0.05)


def test_chance_is_as_likely_as_it_says() -> None:
    chance = UniformStream("test")
    draws = [chance.uniform() for _ in range(5_000)]
    assert stats.kstest(draws, "uniform").pvalue > 0.01
    assert stats.kstest([chance.normal() for _ in range(5_000)], "norm").pvalue > 0.01
    picked = Counter(chance.pick([1.0, 0.0, 3.0]) for _ in range(4_000))
    assert picked[1] == 0
    assert picked[2] == pytest.approx(3_000, abs=120)
    assert np.mean([chance.runs(1.71) for _ in range(4_000)]) == pytest.approx(1.71, abs=0.06)
    orders = Counter(tuple(chance.shuffle(3)) for _ in range(6_000))
    assert len(orders) == 6
    assert max(orders.values()) < 1_150


def test_a_real_pages_kinds_all_have_a_discoverer() -> None:
    assert set(published.DISCOVERIES) == set(Kind)
    for table in published.DISCOVERIES.values():
        assert sum(table.values()) == pytest.approx(1.0)
