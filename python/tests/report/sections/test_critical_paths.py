"""Critical paths of a dataset: medians by arm, the closed form beside, pages without a model, and the command."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from h20_dataset import link
from made_page_model import SCRIPT, document, model, request
from recorded_trial import connection, edge_request, page_load, resource, trial
from synthetic_dataset import PLAN_TEXT, make_dataset, make_manifest, make_plan

from resolab.basics.records import (
    ConnectionState,
    DnsTransport,
    HandshakeMode,
    HttpVersion,
    PageFailure,
    Record,
    ResolverCache,
    ResourceRecord,
    TrialEndRecord,
)
from resolab.cli.main import main
from resolab.lab.cache_misses import draw_missed_names
from resolab.pages.clone.names import host_name, make_url
from resolab.pages.file import model_text
from resolab.pages.model import Kind, PageModel
from resolab.plan import Corpus, Plan, parse_plan
from resolab.plan.settings import PageCertificates, PageDistances
from resolab.report import build_report
from resolab.report.sections.paths import load_paths, path_summaries, section
from resolab.report.sections.paths.predictions import LookupPredictor
from resolab.report.sections.paths.section import path_content
from resolab.report.sections.section import Paragraph
from resolab.store import (
    MergedRun,
    RunStatus,
    TrialWriter,
    create_dataset_folder,
    load_manifest,
    save_manifest,
    trial_id,
)


def page(name: str) -> PageModel:
    made = model(document(), request(0, kind=Kind.SCRIPT, host=1), request(1, SCRIPT, host=2), request(0), hosts=3)
    return msgspec.structs.replace(made, name=name)


BEGAN_NS = 4_266_500_000
"""navigationStart of `recorded_trial.page_load` on its trial's own clock."""
TRIAL = msgspec.structs.replace(
    trial("b000-t000"), condition="one.office.doudp.h3.full", page="one", profile="office",
    dns_transport=DnsTransport.DOUDP, http_version=HttpVersion.H3, requested_handshake_mode=HandshakeMode.FULL,
)  # fmt: skip
MODELS = {name: page(name) for name in ("one", "two", "three", "four", "five", "six", "seven")}


def records(name: str, dns_ms: float, later_ms: float, load_ms: float | None) -> list[Record]:
    """Make a load whose chain of three names takes `dns_ms` for each and 40 ms for each request."""
    at, found = 0.0, []
    for place in range(3):
        asked = at + dns_ms
        sent = asked + 20
        instants = (at, asked, asked, sent, sent, sent + 30, sent + 40)
        found.append(msgspec.structs.replace(resource("/", "img", at, *instants), url=make_url(MODELS[name], place), next_hop_protocol="h3"))  # fmt: skip
        at = sent + 40 + later_ms
    return [msgspec.structs.replace(page_load(), plt_ms=load_ms), *found, *served(name)]


def served(name: str) -> list[Record]:
    """Make the server's records: the third name's requests go over the second one's connection."""
    names = [host_name(MODELS[name], host) for host in range(3)]
    opened = [
        msgspec.structs.replace(
            connection(number), server_name=names[number], accepted_ns=BEGAN_NS, handshake_complete_ns=BEGAN_NS,
            handshake_mode=HandshakeMode.RESUMED,
        )
        for number in range(2)
    ]  # fmt: skip
    asked = [
        msgspec.structs.replace(edge_request("/", min(number, 1), BEGAN_NS + 1, 9), authority=names[number])
        for number in range(3)
    ]
    return [*asked, *opened]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    create_dataset_folder(folder)
    manifest = make_manifest(make_plan(), finished=True, planned=1, run=1)
    save_manifest(folder, msgspec.structs.replace(manifest, profiles=[link("office")]))
    return folder


def write(folder: Path, rows: list[tuple[str, str, list[Record]]]) -> None:
    """Write a trial of each page, transport and records."""
    for number, (name, transport, kept) in enumerate(rows):
        head = msgspec.structs.replace(
            trial(trial_id(number, 0)), block=number, condition=f"{name}.office.{transport}.h3.full", page=name,
            profile="office", dns_transport=DnsTransport(transport), http_version=HttpVersion.H3,
        )  # fmt: skip
        with TrialWriter(folder, head) as writer:
            for one in kept:
                writer.write(one)
            writer.finish(TrialEndRecord(trial_id=head.trial_id, monotonic_ns=9, flags=[]))


def test_arms_have_medians_over_pages_with_the_closed_form_beside(dataset: Path) -> None:
    rows = [
        (name, transport, records(name, 10 + number + (transport == "doq") * 5, 20, 400))
        for transport in ("doudp", "doq")
        for number, name in enumerate(MODELS)
    ]
    write(dataset, rows)
    paths = load_paths(dataset, MODELS)
    assert (len(paths.found), paths.pages_without_model, paths.loads_without_path_count) == (14, (), 0)
    plain, quic = path_summaries(paths.found)
    assert (plain.arm, plain.loads_count, plain.pages_count) == ("office.doudp.h3.full", 7, 7)
    assert plain.lookup_ms.value == pytest.approx(39), "three names, 13 ms each on the page in the middle"
    assert quic.lookup_ms.value == pytest.approx(54)
    assert (plain.predicted_lookup_ms.value, quic.predicted_lookup_ms.value) == (30, 40)
    assert (plain.blocking_lookups_count.value, plain.lookups_count.value) == (3, 3)
    shares = {part: one.value for part, one in plain.shares_ratio.items()}
    assert shares == pytest.approx(
        {
            "browser": (400 - 3 * 73) / 400, "dns": 39 / 400, "connect": 0, "handshake": 60 / 400,
            "round_trip": 60 / 400, "server": 30 / 400, "transfer": 30 / 400, "untold": 0,
        }
    )  # fmt: skip
    assert plain.lookup_ms.ci_low is not None, "seven pages are enough for an interval"
    counts = {what: one.value for what, one in plain.connections.items()}
    assert counts == {
        "connections": 2, "unused": 0, "failed": 0, "full": 0, "resumed": 2, "zero_rtt": 0, "names": 3, "sharing_names": 1,
        "may_share_names": 0,
    }  # fmt: skip
    assert plain.with_untold_count == 7, "the image is not told"


def test_without_a_handshake_an_answer_still_takes_the_access_network_s_round_trip(dataset: Path) -> None:
    """In 0-RTT and on another name's connection: all of it was the server's, which no change of it explains."""
    without = [
        msgspec.structs.replace(one, connect_start_ms=None, connect_end_ms=None)
        if isinstance(one, ResourceRecord)
        else one
        for one in records("one", 10, 20, 400)
    ]
    write(dataset, [("one", "doudp", without)])
    (found,) = load_paths(dataset, MODELS).found
    ms = {part.value: took / 1e6 for part, took in found.path.parts_ns.items()}
    assert (ms["round_trip"], ms["server"]) == (3 * 10, 3 * 20), "of 30 ms each, 10 to the office's end and back"


@pytest.mark.parametrize(
    ("changes", "lookup_ms", "load_ms"),
    [
        # Three names, one after the other: of each a look-up, a handshake over HTTP/3 and the request, 10 ms each.
        ({}, 30, 90),
        ({"resolver_extra_rtt_ms": 5.0}, 45, 105),
        ({"resolver_cache": ResolverCache.MISS}, 3 * (10 + 40), 3 * (10 + 40) + 60),
        ({"resolver_miss_ratio": 1.0}, 3 * (10 + 40), 3 * (10 + 40) + 60),
        # The page's connections send their requests in early data, or wait for TCP and TLS.
        ({"requested_handshake_mode": HandshakeMode.ZERO_RTT}, 30, 60),
        ({"http_version": HttpVersion.H2}, 30, 120),
        ({"dns_transport": DnsTransport.DOH}, 50, 110),
        ({"dns_transport": DnsTransport.DOH, "requested_dns_handshake_mode": HandshakeMode.ZERO_RTT}, 40, 100),
        ({"dns_transport": DnsTransport.DOH, "dns_connection_state": ConnectionState.WARM}, 30, 90),
    ],
)
def test_the_closed_form_is_of_the_trial_s_condition(
    dataset: Path, changes: dict[str, Any], lookup_ms: float, load_ms: float
) -> None:
    predictions = LookupPredictor(load_manifest(dataset), make_plan())
    found = predictions.predict(MODELS["one"], msgspec.structs.replace(TRIAL, **changes))
    assert (found.lookup_ms, found.load_ms) == (lookup_ms, load_ms)


def test_the_closed_form_knows_which_names_a_trial_s_resolver_had_to_find(dataset: Path) -> None:
    manifest = load_manifest(dataset)
    half = msgspec.structs.replace(TRIAL, resolver_miss_ratio=0.5)
    names = [host_name(MODELS["one"], host) for host in range(3)]
    seen = set()
    for block in range(12):
        drawn = msgspec.structs.replace(half, trial_id=trial_id(block, 0), block=block)
        missed = draw_missed_names(names, manifest.seed, drawn.trial_id, ratio=0.5)
        seen.add(len(missed))
        assert LookupPredictor(manifest, make_plan()).predict(MODELS["one"], drawn).lookup_ms == 30 + 40 * len(missed)
    assert len(seen) > 1
    # A run that was merged drew by its own seed and its own count of blocks.
    merged = MergedRun(
        dataset_id="other", first_block=12, blocks=12, seed=manifest.seed, trials_finished_count=12,
        created_unix_ns=1, status=RunStatus.FINISHED,
    )  # fmt: skip
    later = msgspec.structs.replace(half, trial_id=trial_id(15, 0), block=15)
    of_merged = LookupPredictor(msgspec.structs.replace(manifest, seed=1, merged_from=[merged]), make_plan())
    missed = draw_missed_names(names, manifest.seed, trial_id(3, 0), ratio=0.5)
    assert of_merged.predict(MODELS["one"], later).lookup_ms == 30 + 40 * len(missed)


def test_the_closed_form_has_servers_as_far_as_the_plan_has_them(dataset: Path) -> None:
    hosts = tuple(
        msgspec.structs.replace(host, round_trip_ms=ms)
        for host, ms in zip(MODELS["one"].hosts, (20.0, 50.0, 20.0), strict=True)
    )
    far, plan = msgspec.structs.replace(MODELS["one"], hosts=hosts), make_plan()
    near = replace(plan, pages=replace(plan.pages, distances=PageDistances.NONE))
    manifest = load_manifest(dataset)
    # The second name's handshake and request take 40 ms each.
    assert LookupPredictor(manifest, plan).predict(far, TRIAL).load_ms == 90 + 2 * 30
    assert LookupPredictor(manifest, near).predict(far, TRIAL).load_ms == 90


def test_repeated_loads_of_several_pages_are_clusters_and_of_one_page_loads(dataset: Path) -> None:
    write(
        dataset,
        [(name, "doudp", records(name, 10 + number, 20, 400)) for name in ("one", "two") for number in range(6)],
    )
    (both,) = path_summaries(load_paths(dataset, MODELS).found)
    assert both.lookup_ms.ci_low is None, "two pages are too few"
    (alone,) = path_summaries([one for one in load_paths(dataset, MODELS).found if one.trial.page == "one"])
    assert alone.lookup_ms.ci_low is not None


def test_what_has_no_path_is_counted_and_named(dataset: Path) -> None:
    failed, endless = [page_load(failure=PageFailure.PAGE_TIMEOUT)], records("one", 10, 20, None)
    good = records("one", 10, 20, 400)
    rows = [("one", "doudp", good), ("one", "doudp", failed), ("two", "doudp", failed), ("one", "doudp", endless)]
    write(dataset, rows)
    paths = load_paths(dataset, {"one": MODELS["one"]})
    assert (len(paths.found), paths.pages_without_model, paths.loads_without_path_count) == (1, ("two",), 1)
    assert paths.failed_count == {"office.doudp.h3.full": {"page_timeout": 1}}


def test_incomplete_loads_are_in_no_median_and_are_counted(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An arm that loses resources has shorter loads with fewer look-ups: no reason to look better."""
    good, lacking = records("one", 10, 20, 400), records("one", 10, 20, 200)
    load, *more = lacking
    failed: list[Record] = [msgspec.structs.replace(load, failure=PageFailure.INCOMPLETE), *more]
    write(dataset, [("one", "doudp", good), ("one", "doudp", failed), ("one", "doudp", failed), ("one", "doq", failed)])
    (summary,) = path_summaries(load_paths(dataset, {"one": MODELS["one"]}).found)
    assert (summary.loads_count, summary.load_ms.value, summary.connections["names"].n) == (1, 400, 1)
    said = "3 loads failed and are left out (office.doudp.h3.full: incomplete 2; office.doq.h3.full: incomplete 1)"
    found = path_content(dataset, plan_of(tmp_path, "one"), ["one"])
    assert any(one.text.startswith(said) for one in found.blocks if isinstance(one, Paragraph))
    monkeypatch.chdir(tmp_path)
    assert main(["page", "path", "run", "one.page.json"]) == 0
    assert said in capsys.readouterr().out


def test_the_command_prints_arms_links_and_what_is_missing(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)
    write(dataset, [("one", "doudp", records("one", 10, 20, 400)), ("two", "doudp", records("two", 10, 20, 400))])
    for name in ("one", "three"):
        Path(f"{name}.page.json").write_text(model_text(MODELS[name]))
    assert main(["page", "path", "run", "one.page.json"]) == 0
    output = capsys.readouterr().out
    row, counts = (line for line in output.splitlines() if line.startswith("office.doudp.h3.full"))
    assert counts.split()[1:] == ["2.0", "0.0", "0.0", "0.0", "2.0", "0.0", "3.0", "1.0", "0.0"]
    assert row.split()[1:4] == ["1", "1", "400"]
    assert row.split()[-4:] == ["3.0", "3.0", "30.0", "30.0"]
    assert "pages without a model, left out: two" in output
    assert main(["page", "path", "run", "one.page.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["blocking_lookups_count"]["low"] == 3
    assert main(["page", "path", "run", "one.page.json", "--trial", "b000-t000"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[2:5]] == [["0", "document"], ["1", "script"], ["2", "image"]]
    assert lines[-1].split() == ["load", "400.0", "190.0", "30.0", "60.0", "60.0", "30.0", "30.0"]
    assert main(["page", "path", "run", "one.page.json", "--trial", "b000-t000", "--json"]) == 0
    assert sum(json.loads(capsys.readouterr().out)["parts_ns"].values()) == 400_000_000
    assert main(["page", "show", "one.page.json"]) == 0
    assert "3 of 3 look-ups on its longest chain, estimated" in capsys.readouterr().out
    assert main(["page", "show", "one.page.json", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["estimate"]["blocking_lookups_count"] == 3
    for words, said in [
        (["three.page.json"], "it needs the models of its pages (one, two)"),
        (["one.page.json", "--trial", "b001-t000"], "one that has is b000-t000"),
        (["nowhere.page.json"], "failed to read page model"),
    ]:
        assert main(["page", "path", "run", *words]) == 3
        assert said in capsys.readouterr().err


def plan_of(folder: Path, *names: str) -> Plan:
    """Make a plan that names the models of pages, which are written."""
    for name in names:
        (folder / f"{name}.page.json").write_text(model_text(MODELS[name]))
    levels = json.dumps([f"./{name}.page.json" for name in names])
    text = PLAN_TEXT.replace('page = ["example", "wikipedia"]', f"page = {levels}")
    assert levels in text
    return parse_plan(text, "made-up.toml", Corpus.from_project(), base=folder)


def test_the_report_s_section_has_parts_look_ups_and_connections_of_the_plan_s_models(
    dataset: Path, tmp_path: Path
) -> None:
    write(dataset, [("one", "doudp", records("one", 10, 20, 400)), ("two", "doudp", records("two", 10, 20, 400))])
    found = path_content(dataset, plan_of(tmp_path, "one"), ["one"])
    parts, lookups, connections = found.tables
    assert (parts.table.columns[:4], parts.table.rows[0][:4]) == (
        ("arm", "pages", "loads", "load ms"), ("office.doudp.h3.full", "1", "1", "400"),
    )  # fmt: skip
    shares = dict(zip(parts.table.columns[4:], parts.table.rows[0][4:], strict=True))
    assert (shares["DNS %"], shares["TLS, QUIC %"], shares["browser %"]) == ("7.5", "15.0", "47.5")
    assert lookups.table.rows == [("office.doudp.h3.full", "3.0", "3.0", "30.0", "", "30.0")]
    counts = dict(zip(connections.table.columns, connections.table.rows[0], strict=True))
    assert (counts["connections"], counts["names asked"], counts["on others' connections"]) == ("2.0", "3.0", "1.0")
    assert lookups.rows[0]["blocking_lookups_count"] == 3
    assert any("left out: two" in one.text for one in found.blocks if isinstance(one, Paragraph))


def test_names_may_share_by_the_certificates_that_the_plan_gives_them(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = tuple(msgspec.structs.replace(host, site=0, address_group=3) for host in MODELS["one"].hosts)
    monkeypatch.setitem(MODELS, "one", msgspec.structs.replace(MODELS["one"], hosts=hosts))
    write(dataset, [("one", "doudp", records("one", 10, 20, 400))])
    plan = plan_of(tmp_path, "one")
    by_site = replace(plan, pages=replace(plan.pages, certificates=PageCertificates.SITE))
    sections = [path_content(dataset, one, ["one"]) for one in (plan, by_site)]
    assert [one.tables[2].rows[0]["may_share_names_count"] for one in sections] == [0, 3]


def test_pages_without_a_model_have_no_section_and_their_trials_are_not_read(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(dataset, [("one", "doudp", records("one", 10, 20, 400))])
    monkeypatch.setattr("resolab.report.sections.paths.section.load_paths", lambda *_: pytest.fail("trials were read"))
    assert path_content(dataset, make_plan(), ["example"]).blocks == []


def test_a_report_shows_the_section_and_writes_its_numbers(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(dataset, [("one", "doudp", records("one", 10, 20, 400))])
    found = path_content(dataset, plan_of(tmp_path, "one"), ["one"])
    monkeypatch.setattr(section, "path_content", lambda *_: found)
    page = build_report(make_dataset(tmp_path / "other"))
    text = page.read_text().partition('<section id="paths">')[2].partition("</section>")[0]
    assert "Blocking look-ups" in text
    assert "office.doudp.h3.full" in text
    assert (page.parent / "figures" / "path_connections.csv").read_text().startswith("arm,pages_count,loads_count,")
