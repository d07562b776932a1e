"""A live plan as a campaign: what its dataset says, and how it is taken up again; with pretended trials."""

import io
from pathlib import Path

import pytest
from killable import PretendedTestbed
from rich.console import Console

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserKind, TrialRecord
from resolab.campaign import manifests, resume_campaign, run_campaign
from resolab.campaign.margins import margins_ms
from resolab.campaign.run import make_trial_runner as place_of
from resolab.plan import Plan, parse_plan, pool_pages
from resolab.plan.corpus import Corpus
from resolab.store import load_manifest, read_trial
from resolab.trials.live import LiveBed

TEXT = """
name = "live"
question = "q?"
seed = 7
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://study.resolab.test/"
[sites]
list = "list.csv"
list_id = "XYZ"
ranks = ["1-9"]
sample = 3
[resolvers.local]
doudp = "system"
[resolvers.quick]
doudp = "198.18.8.1"
dot = "tls://198.18.8.1"
[factors]
resolver = ["local", "quick"]
dns_transport = ["doudp", "dot"]
browser = ["firefox"]
[baseline]
resolver = "local"
dns_transport = "doudp"
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setattr(manifests, "_VERSION_OF", {browser: lambda: "150" for browser in BrowserKind})
    (tmp_path / "list.csv").write_text("".join(f"{rank},site{rank}.test\n" for rank in range(1, 20)))
    return parse_plan(TEXT, "live.toml", Corpus.from_project(), base=tmp_path)


def run(plan: Plan, folder: Path) -> Path:
    run_campaign(plan, folder, Console(file=io.StringIO()), PretendedTestbed)
    return folder


def head(file: Path) -> TrialRecord:
    first = next(iter(read_trial(file)))
    assert isinstance(first, TrialRecord)
    return first


def test_the_dataset_says_where_whom_and_which_sites(plan: Plan, tmp_path: Path) -> None:
    folder = run(plan, tmp_path / "d")
    manifest = load_manifest(folder)
    live = manifest.live
    assert live is not None
    assert (live.vantage_point, live.list_id, live.list_ranks, live.list_sample) == ("here", "XYZ", [(1, 9)], 3)
    assert [site.page for site in live.sites] == list(plan.factors.page)
    assert all(site.rank for site in live.sites)
    assert live.resolvers["quick"] == {"doudp": "udp://198.18.8.1:53", "dot": "tls://198.18.8.1"}
    heads = [head(file) for file in sorted((folder / "trials").iterdir())]
    assert len(heads) == 9
    assert {one.vantage_point for one in heads} == {"here"}
    assert {(one.resolver, one.dns_transport) for one in heads} == {
        ("local", "doudp"), ("quick", "doudp"), ("quick", "dot"),
    }  # fmt: skip


def test_it_is_taken_up_where_it_stands(plan: Plan, tmp_path: Path) -> None:
    folder = run(plan, tmp_path / "d")
    gone = folder / "trials" / "b001-t001.jsonl"
    before = head(gone)
    gone.unlink()
    resume_campaign(folder, Console(file=io.StringIO()), PretendedTestbed)
    after = head(gone)
    assert (after.condition, after.resolver, after.vantage_point) == (before.condition, before.resolver, "here")


def test_without_its_sites_it_is_not_taken_up(plan: Plan, tmp_path: Path) -> None:
    folder = run(plan, tmp_path / "d")
    (folder / "trials" / "b001-t001.jsonl").unlink()
    (tmp_path / "list.csv").write_text("1,other.test\n2,another.test\n3,third.test\n")
    with pytest.raises(ConfigurationError, match="which the run began with, is not drawn any more"):
        resume_campaign(folder, Console(file=io.StringIO()), PretendedTestbed)


def test_its_trials_run_in_a_live_bed(plan: Plan, tmp_path: Path) -> None:
    assert isinstance(place_of(plan, 1, tmp_path, 1), LiveBed)


def test_alike_is_a_number_of_milliseconds(tmp_path: Path) -> None:
    text = TEXT.replace("[baseline]", "[analysis]\nequivalence_margin_ms = 20\n[baseline]")
    (tmp_path / "list.csv").write_text("".join(f"{rank},site{rank}.test\n" for rank in range(1, 20)))
    plan = pool_pages(parse_plan(text, "live.toml", Corpus.from_project(), base=tmp_path))
    assert set(margins_ms(plan, []).values()) == {20.0}
