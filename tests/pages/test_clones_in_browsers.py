"""Clones in both browsers: a made page with everything a page can do is repeated request by request."""

import json
from pathlib import Path

import pytest
from lab import resolab

from resolab.pages.file import model_text
from resolab.pages.model import Cors, Discovery, Evidence, Host, Kind, Outcome, PageModel, Resource, ScriptMode, Source

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]

DOCUMENT, SHEET, SCRIPT, REDIRECT = (
    Discovery.DOCUMENT, Discovery.STYLESHEET, Discovery.SCRIPT, Discovery.REDIRECT,
)  # fmt: skip
MARKUP = {"place": 0.3}


def asked(kind, discovery, parent, start_ms, host=0, **more):
    fields = {"evidence": Evidence.INITIATOR, "wire_bytes": 2_000, "raw_bytes": 2_000, "frame": 1 if parent else 0}
    fields |= {"due_ms": 20.0} if discovery in {SCRIPT, Discovery.LATE, Discovery.INLINE_SCRIPT} else {}
    return Resource(kind=kind, discovery=discovery, parent=parent, start_ms=start_ms, host=host, **(fields | more))


RESOURCES = (
    asked(Kind.DOCUMENT, Discovery.NAVIGATION, None, 0, status=301, wire_bytes=0),
    asked(Kind.DOCUMENT, REDIRECT, 0, 50, host=1, frame=0, wire_bytes=6_000, raw_bytes=30_000),
    asked(Kind.STYLESHEET, DOCUMENT, 1, 100, host=2, **MARKUP),
    asked(Kind.SCRIPT, DOCUMENT, 1, 101, host=2, script_mode=ScriptMode.SYNC, wire_bytes=3_000, raw_bytes=12_000, **MARKUP),
    asked(Kind.SCRIPT, DOCUMENT, 1, 102, host=3, script_mode=ScriptMode.ASYNC, run_ms=5.0, **MARKUP),
    asked(Kind.SCRIPT, DOCUMENT, 1, 103, host=1, script_mode=ScriptMode.DEFER, preload=True, **MARKUP),
    asked(Kind.IMAGE, DOCUMENT, 1, 104, host=2, place=0.8),
    asked(Kind.DOCUMENT, DOCUMENT, 1, 105, host=3, place=0.9),  # 7, a frame of another site
    asked(Kind.FONT, SHEET, 2, 160, host=2, cors=Cors.ANONYMOUS),
    asked(Kind.IMAGE, SHEET, 2, 161, host=2),
    asked(Kind.STYLESHEET, SHEET, 2, 162, host=2),
    asked(Kind.IMAGE, SCRIPT, 3, 200, host=4),
    asked(Kind.SCRIPT, SCRIPT, 4, 201, host=4, status=302, wire_bytes=0),
    asked(Kind.SCRIPT, REDIRECT, 12, 240, host=3),  # 13
    asked(Kind.FETCH, SCRIPT, 13, 300, host=4, method="POST", request_bytes=3_000, preflight=True, cors=Cors.CREDENTIALS),
    asked(Kind.XHR, SCRIPT, 13, 301, host=1, wire_bytes=1_500, raw_bytes=6_000),  # 15, a text that is run
    asked(Kind.IMAGE, SCRIPT, 15, 350, host=2),
    asked(Kind.IMAGE, Discovery.LATE, 7, 351, host=4, frame=7),
    asked(Kind.IMAGE, SCRIPT, 4, 352, host=3, outcome=Outcome.FAILED, status=0, wire_bytes=0, raw_bytes=0),
    asked(Kind.IMAGE, Discovery.INLINE_SCRIPT, 1, 353, host=2, status=404),
    asked(Kind.MEDIA, DOCUMENT, 1, 354, host=2, place=0.95, wire_bytes=200_000, raw_bytes=200_000),
    asked(Kind.BEACON, SCRIPT, 4, 2_500, host=4, method="POST", status=204, due_ms=2_300.0, wire_bytes=0, after_load=True),
)  # fmt: skip
HOSTS = (
    Host(site=0, round_trip_ms=20.0, address_group=0, certificate=0),
    Host(site=0, round_trip_ms=20.0, address_group=0, certificate=0),
    Host(site=0, round_trip_ms=45.0, address_group=1, protocols=("h1",)),
    Host(site=1, round_trip_ms=30.0, address_group=1, protocols=("h1", "h2")),
    Host(site=2),
)
MODEL = PageModel(
    name="made-page",
    source=Source(form="generated", initiators=True, async_stacks=True),
    hosts=HOSTS,
    resources=RESOURCES,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory, privileged):
    file = tmp_path_factory.mktemp("models") / "made-page.page.json"
    file.write_text(model_text(MODEL))
    return file


@pytest.mark.parametrize("browser", ["chromium", "firefox"])
@pytest.mark.parametrize("version", ["h2", "h3"])
def test_a_made_page_is_repeated_request_by_request(file: Path, browser: str, version: str) -> None:
    ended = resolab("page", "check", file, "--browser", browser, "--http-version", version, "--json")
    told = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [one["short"] for one in told] == [[]], (told, ended.stderr)
    assert ended.returncode == 0, ended.stderr
    (one,) = told
    assert one["failure"] is None
    assert (one["issued_count"], one["extra_count"]) == (len(RESOURCES), 0)
    assert (one["hosts_asked_count"], one["redirects_followed_count"], one["preflights_asked_count"]) == (5, 2, 1)
    assert one["body_bytes"] == pytest.approx(one["model_bytes"], rel=0.02)
    if browser == "chromium":
        assert (one["discoverers_ratio"], one["depth_seen"]) == (1.0, one["depth"])


def written_plan(folder: Path, page: str, version: str) -> Path:
    plan = folder / "plan.toml"
    plan.write_text(
        f'name = "clone"\nquestion = "q?"\nseed = 1\nblocks = 1\n[factors]\npage = ["./{page}"]\n'
        f'profile = ["fiber"]\ndns_transport = ["doudp"]\nhttp_version = ["{version}"]\n'
        'requested_handshake_mode = ["full"]\nbrowser = ["chromium", "firefox"]\n'
        '[resolver_path]\ndoudp = "native"\n[baseline]\ndns_transport = "doudp"\n'
    )
    return plan


def test_a_plan_loads_it_and_says_that_nothing_is_missing(file: Path, tmp_path: Path) -> None:
    plan = written_plan(file.parent, file.name, "h2")
    ended = resolab("run", plan, "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    for trial in (tmp_path / "out" / "trials").iterdir():
        records = [json.loads(line) for line in trial.read_text().splitlines()]
        (load,) = [one for one in records if one["record"] == "page_load" and one["measured"]]
        # Its last picture is asked for by a text that a script fetched: the load event is held back for it.
        assert load.get("failure") is None, load
        assert "no_lookup_in_load" not in records[0].get("flags", [])


def test_hosts_of_a_clone_can_speak_what_they_were_recorded_to_speak(file: Path, tmp_path: Path) -> None:
    made = resolab("page", "clone", file, "-o", tmp_path / "recorded", "--protocols", "recorded")
    assert made.returncode == 0, made.stderr
    ended = resolab("run", written_plan(tmp_path, "recorded", "h3"), "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    for trial in (tmp_path / "out" / "trials").iterdir():
        records = [json.loads(line) for line in trial.read_text().splitlines()]
        (load,) = [one for one in records if one["record"] == "page_load" and one["measured"]]
        assert load.get("failure") is None, load
        spoken = {
            (one["authority"].partition(".")[0], one["http_version"])
            for one in records
            if one["record"] == "edge_request"
        }
        assert spoken == {("h0", "h3"), ("h1", "h3"), ("h2", "h1"), ("h3", "h2"), ("h4", "h3")}
        assert "http_version_mismatch" not in records[-1].get("flags", []), records[-1]
