"""Announced names: the closed form, the edge's documents of each case, the values of a fetch, and the section."""

import asyncio
import tomllib
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import CoalescingMode, Failure, FetchNamesRecord, NameAnnouncement
from resolab.plan import Corpus, load_plan, parse_plan
from resolab.plan.corpus import PROJECT_ROOT
from resolab.store.study_values import StudyValuesRow
from resolab.studies.announced import edge_tables, model, sections, trials
from resolab.studies.announced.congestion_control import CongestionControl
from resolab.studies.announced.model import SEPARATE, SHARED, DocumentCase
from resolab.trials.study.study_trials import StudyTrial

MS = 1_000_000
RTT_MS = 90.0
FILE = PROJECT_ROOT / "plans" / "announced.toml"
PLAN = load_plan(FILE, Corpus.from_project())
CASES = [trials.find_case(one) for one in PLAN.conditions()]


@pytest.mark.parametrize(
    ("announcement", "mode", "server_time_ms", "name_delay_ms", "wait_ms"),
    [
        ("document", SEPARATE, 0, 0, 90),
        ("document", SHARED, 150, 60, 150),
        # As early as the document, or by its server's time earlier.
        ("early_hints", SEPARATE, 0, 0, 90),
        ("early_hints", SHARED, 70, 0, 20),
        ("early_hints", SHARED, 150, 60, 0),
        # While the client connects; on an open connection with the document's request.
        ("https_record", SEPARATE, 0, 0, 0),
        ("https_record", SEPARATE, 0, 200, 20),
        ("https_record", SHARED, 0, 60, 60),
        ("server_push", SHARED, 0, 0, 0),
        ("server_push", SHARED, 0, 60, 60),
        ("server_push", SHARED, 150, 60, 0),
    ],
)
def test_the_wait_is_what_names_are_later_than_their_document(
    announcement: str, mode: str, server_time_ms: float, name_delay_ms: float, wait_ms: float
) -> None:
    case = DocumentCase(announcement, mode, server_time_ms, name_delay_ms)
    assert model.wait_ms(case, RTT_MS) == pytest.approx(wait_ms)


def test_the_plan_has_every_possible_case() -> None:
    assert len(CASES) == len(set(CASES)) == 28
    assert not any(one.announcement == "server_push" and one.mode == SEPARATE for one in CASES)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('["doh"]', '["doq"]', "names are announced over HTTP/2"),
        ('study_arm = ["server_push"]', 'study_arm = ["https_record"]', "only the resolver's own connection may push"),
        ("names_count = 8", 'congestion_control = "vegas"', "study.congestion_control: unknown level 'vegas'"),
    ],
)
def test_an_impossible_plan_is_refused(old: str, new: str, problem: str) -> None:
    text = FILE.read_text("utf-8")
    assert old in text
    with pytest.raises(ConfigurationError, match=problem):
        parse_plan(text.replace(old, new), "announced.toml", Corpus.from_project())


def test_each_case_has_a_document_and_its_announcement(tmp_path: Path) -> None:
    edge = tomllib.loads(edge_tables.write_tables(CASES, 3, tmp_path))
    documents = {file.name for file in (tmp_path / "announced").iterdir()}
    # The same for both modes, but push, which has one.
    assert len(documents) == 16
    sites = {one["host"]: one for one in edge["site"]}
    hosts = [host for host, _ in edge_tables.HOSTS.values()]
    assert set(sites) == {f"{before}{host}" for before in ("", "listed0-", "listed60-") for host in hosts}
    shared = {one["path"]: one for one in sites["shared.resolab.test"]["response"]}
    assert len(shared["/server_push-0-60.html"]["pushed_questions"]) == 3
    assert len(shared["/early_hints-150-0.html"]["early_hints"]) == 3
    assert set(shared["/document-150-0.html"]) == {"path", "server_time_ms"}
    listed = [one for one in edge["zone"] if one["type"] == "HTTPS"]
    assert len(listed) == 4
    assert all(one["value"].count("late") == 3 for one in listed)
    late = (tmp_path / "announced" / "document-0-60.html").read_text("utf-8")
    assert late.count("https://late60-") == 3
    assert {one["delay_ms"] for one in edge["name"]} == {60.0}
    # Every condition's URL is one of these.
    urls = {f"https://{host}{one['path']}" for host, site in sites.items() for one in site["response"]}
    assert {edge_tables.find_url(one) for one in CASES} == urls


FETCH = FetchNamesRecord(
    announcement=NameAnnouncement.DOCUMENT, coalescing_mode=CoalescingMode.SEPARATE, url="https://own.resolab.test/",
    resolver="https://dns.resolab.test/dns-query", sequence=0, time_origin_ns=0, document_first_byte_ns=50 * MS,
    names=[], names_complete_ns=140 * MS, name_wait_ns=90 * MS, unneeded_count=0, refused_push_count=0,
)  # fmt: skip


def test_a_fetch_has_its_wait_and_a_failed_fetch_none() -> None:
    values = trials.sum_up(FETCH).values
    assert (values["wait_ms"], values["complete_ms"], values["document_ms"]) == (90.0, 140.0, 50.0)
    failed = trials.sum_up(msgspec.structs.replace(FETCH, failure=Failure.QUERY_TIMEOUT))
    assert (failed.values, failed.failure, failed.limit_ms) == ({}, Failure.QUERY_TIMEOUT, 20_000.0)
    unanswered = trials.sum_up(msgspec.structs.replace(FETCH, name_wait_ns=None, names_complete_ns=None))
    assert (unanswered.values, unanswered.failure) == ({}, Failure.OTHER)
    assert unanswered.failure_detail == "a name of the document has no answer"


def test_the_client_has_the_recorded_limit_and_the_key_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    started: list[list[str]] = []
    keys: list[object] = []

    async def run_client(pid: int, arguments: list[str], limit_s: float, *, key_log_file: object) -> list[object]:
        started.append(arguments)
        keys.append(key_log_file)
        return [FETCH]

    monkeypatch.setattr(trials.engine, "run_client", run_client)

    class RunningPath:
        ready = SimpleNamespace(pid=1)

    def build_resolver(condition: Any, transport: str) -> Any:
        return SimpleNamespace(url="https://dns.resolab.test/dns-query", arguments=list)

    lab = SimpleNamespace(
        path=RunningPath(), build_resolver=build_resolver, ca_file="ca.pem", keeper=SimpleNamespace(key_log_file="keys")
    )
    for condition in PLAN.conditions()[:2]:
        trial = StudyTrial(cast("Any", lab), PLAN, condition, PLAN.study and PLAN.study.settings, 1)
        assert asyncio.run(trials.TRIALS.run(trial)).failure is None
    assert keys == ["keys", "keys"]
    for arguments in started:
        assert arguments[arguments.index("--timeout-ms") + 1] == "20000"


def test_a_wait_far_from_the_closed_form_is_told() -> None:
    found = []
    for condition in PLAN.conditions():
        wait_ms = model.wait_ms(trials.find_case(condition), RTT_MS)
        late_ms = 5.0 if condition.id == "4g.doh.early_hints.separate_150_0" else 1.5
        row = StudyValuesRow(
            trial_id="t", block=0, condition=condition.id, values={"wait_ms": wait_ms + late_ms, "document_ms": 1.0}
        )
        found.append(sections.compute_figures(PLAN, condition, [row] * 6, RTT_MS))
    assert [one.condition.id for one in found if not one.is_near] == ["4g.doh.early_hints.separate_150_0"]
    assert "27 of 28 waits are within" in sections.build_table(found, 8).note
    assert "exceed a first window" in sections.build_table(found, 20).note


@pytest.mark.parametrize(
    ("old", "new"),
    [("names_count = 8", "names_count = 20"), ("names_count = 8", 'names_count = 8\ncongestion_control = "bbr"')],
)
def test_what_the_closed_form_lacks_is_not_judged(old: str, new: str) -> None:
    plan = parse_plan(FILE.read_text("utf-8").replace(old, new), "announced.toml", Corpus.from_project())
    condition = plan.conditions()[0]
    row = StudyValuesRow(trial_id="t", block=0, condition=condition.id, values={"wait_ms": 900.0, "document_ms": 1.0})
    found = sections.compute_figures(plan, condition, [row] * 6, RTT_MS)
    assert not found.is_judged
    assert sections.build_table([found], 8).table.rows[0][-1] == ""


def test_the_congestion_control_is_set_before_the_first_trial_and_not_in_trials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[Any] = []

    async def set_congestion_control(pid: int, name: CongestionControl) -> None:
        given.append((pid, name))

    monkeypatch.setattr(trials, "set_congestion_control", set_congestion_control)
    lab: Any = SimpleNamespace(path=SimpleNamespace(ready=SimpleNamespace(pid=7)))
    asyncio.run(trials.TRIALS.prepare(lab, PLAN))  # type: ignore[arg-type]
    assert given == [(7, CongestionControl.RENO)]
