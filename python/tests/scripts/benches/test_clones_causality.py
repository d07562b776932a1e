"""Pages changed in one thing: what changes, what the graph predicts, and what measured pairs come to."""

import contextlib

import msgspec
import pytest
from made_page_model import MARKUP, SCRIPT, document, model, request

from benches.clones.causality import choose_pages
from benches.clones.changes import ChangedModel, ModelChange, busier_script, change_models, slower_host
from benches.clones.effects import Effect, effects_of, is_effect, table
from benches.clones.trials import read_times, write_model, write_plan
from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DirectionProfile, LinkProfile
from resolab.pages.clone.names import host_name
from resolab.pages.file import read_model
from resolab.pages.model import Discovery, Evidence, Kind, Outcome, PageModel, ScriptMode
from resolab.pages.path import lab_load_ms, move_to_lab
from resolab.plan import Corpus

PROFILE = LinkProfile(
    name="made", source="made", up=DirectionProfile(one_way_delay_ms=4), down=DirectionProfile(one_way_delay_ms=6)
)


def script(host: int, **more: object) -> object:
    return request(0, MARKUP, Kind.SCRIPT, host=host, script_mode=ScriptMode.ASYNC, **more)


PAGE = model(
    document(server_time_ms=50),
    script(1, server_time_ms=20, start_ms=1),
    request(1, SCRIPT, host=2, due_ms=30, server_time_ms=40, start_ms=2),
    request(0, host=3, server_time_ms=5),
    request(0, host=3, server_time_ms=6),
    request(0, host=3, server_time_ms=900, outcome=Outcome.FAILED),
    request(0, host=4, server_time_ms=900, after_load=True),
    hosts=5,
)
"""A script of h1 and what it asks h2 for are the longest path, by far; h3 and its images are off it."""


def made(page: PageModel = PAGE) -> dict[ModelChange, ChangedModel]:
    return {one.change: one for one in change_models(page, PROFILE, server_ms=100, run_ms=50)}


def times_of(page: PageModel, key: str) -> list[float]:
    return [getattr(one, key) or 0.0 for one in page.resources]


def test_a_slower_host_is_slower_in_each_answer_and_in_nothing_else() -> None:
    slower = slower_host(PAGE, 3, 100)
    assert times_of(slower, "server_time_ms") == [50, 20, 40, 105, 106, 900, 900]
    assert slower_host(slower, 3, -100) == PAGE


def test_a_busier_script_asks_later_for_what_it_asks_for() -> None:
    busier = busier_script(PAGE, 1, 50)
    assert times_of(busier, "run_ms") == [0, 50, 0, 0, 0, 0, 0]
    assert times_of(busier, "due_ms") == [0, 0, 80, 0, 0, 0, 0]
    assert busier.resources[2].start_ms == PAGE.resources[2].start_ms, "what held it in the recording still does"


def test_a_change_on_the_path_is_predicted_whole_and_one_off_it_not_at_all() -> None:
    # Document 40 + 50; script 40 + 20; 30; its request 40 + 40: by 10 ms a round trip and a look-up.
    assert lab_load_ms(move_to_lab(PAGE, PROFILE), PROFILE) == 260
    found = made()
    assert list(found) == [*ModelChange]
    assert (found[ModelChange.SAME].predicted_ms, found[ModelChange.SAME].model.resources) == (0, PAGE.resources)
    assert (found[ModelChange.SERVER_ON].what, found[ModelChange.SERVER_ON].predicted_ms) == (
        "h1 +100 ms",
        pytest.approx(100),
    )
    assert (found[ModelChange.SERVER_OFF].what, found[ModelChange.SERVER_OFF].predicted_ms) == ("h3 +100 ms", 0)
    assert (found[ModelChange.SCRIPT].what, found[ModelChange.SCRIPT].predicted_ms) == (
        "script 1 +50 ms",
        pytest.approx(50),
    )
    assert found[ModelChange.SERVER_ON].model.resources == slower_host(PAGE, 1, 100).resources
    assert found[ModelChange.SCRIPT].model.resources == busier_script(PAGE, 1, 50).resources


def test_of_hosts_off_the_path_the_one_with_most_slack_and_then_most_to_do() -> None:
    # h0 to h2 are the path; of the others only h4's images would come too late.
    late = (request(0, host=4, server_time_ms=100) for _ in range(3))
    others = (request(0, host=host) for host in (3, 5, 5, 6))
    page = model(*PAGE.resources[:3], *late, *others, hosts=7)
    assert made(page)[ModelChange.SERVER_OFF].what == "h5 +100 ms"
    without = model(*PAGE.resources[:3], request(0, host=3, server_time_ms=100), hosts=4)
    assert made(without)[ModelChange.SERVER_OFF].predicted_ms == pytest.approx(100 - 30)


def test_what_slack_does_not_cover_is_predicted_and_a_host_asked_twice_counts_twice() -> None:
    # The images of h3 end at 90 + 40 + 66 = 196: 64 ms before the load.
    page = slower_host(PAGE, 3, 60)
    found = made(page)
    assert found[ModelChange.SERVER_OFF].predicted_ms == pytest.approx(100 - 64)
    chain = model(document(), script(1), request(1, SCRIPT, host=1), hosts=2)
    assert made(chain)[ModelChange.SERVER_ON].predicted_ms == pytest.approx(200)


def test_a_page_without_such_a_host_or_script_lacks_the_change() -> None:
    alone = made(model(document(server_time_ms=5)))
    assert list(alone) == [ModelChange.SAME, ModelChange.SERVER_ON]
    assert alone[ModelChange.SERVER_ON].what == "h0 +100 ms", "its own, as there is no other"
    assert len(change_models(PAGE, PROFILE, server_ms=0, run_ms=0)) == 1
    assert [one.change for one in change_models(PAGE, PROFILE, server_ms=0, run_ms=1)] == [
        ModelChange.SAME,
        ModelChange.SCRIPT,
    ]
    # A script that was answered by 404 runs nothing: the document asks in its stead.
    error = msgspec.structs.replace(
        PAGE,
        resources=(PAGE.resources[0], script(1, status=404), request(1, SCRIPT, host=2, evidence=Evidence.REFERER)),
    )
    assert ModelChange.SCRIPT not in made(error)


def test_changed_models_are_pages_of_one_plan_without_a_name_in_common(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    long = msgspec.structs.replace(PAGE, name="a-page-with-a-name-as-long-as-no-other-page-has-one")
    changed = [*made(long).values()]
    files = [write_model(one, tmp_path) for one in changed]
    assert len({host_name(one.model, 0) for one in changed}) == len(changed)
    assert len({len(host_name(one.model, 0)) for one in changed}) == 1, "longer names would be more bytes"
    assert [read_model(file) for file in files] == [one.model for one in changed]
    plan = write_plan("made", files, 3, 7, tmp_path)
    assert (plan.blocks, plan.seed) == (3, 7)
    assert sorted(one.page for one in plan.conditions()) == sorted(one.model.name for one in changed)
    assert dict(plan.own_pages) == {one.model.name: file for one, file in zip(changed, files, strict=True)}


def effect(predicted: float, differences: list[float | None]) -> Effect:
    changed = tuple(None if one is None else 1_000 + block + one for block, one in enumerate(differences))
    same = tuple(1_000.0 + block for block in range(len(differences)))
    return Effect(
        page="made", change=ModelChange.SERVER_ON, what="h1 +100 ms", predicted_ms=predicted, graph_load_ms=990,
        changed_ms=changed, same_ms=same,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("predicted", "differences", "agrees"),
    [
        (100, [98, 99, 100, 101, 102, 100, 99, 101], True),
        (109, [98, 99, 100, 101, 102, 100, 99, 101], True),
        (111, [98, 99, 100, 101, 102, 100, 99, 101], False),
        (140, [40, 60, 180, 90, 150, 200, 70, 100], True),
        (0, [98, 99, 100, 101, 102, 100, 99, 101], False),
        (100, [99, None], True),
        (100, [None, None], None),
    ],
)
def test_it_agrees_within_its_interval_or_10_ms(
    predicted: float, differences: list[float | None], agrees: bool | None
) -> None:
    assert effect(predicted, differences).agrees is agrees


def test_pairs_are_of_one_block_and_a_failed_load_takes_its_pair() -> None:
    changed = [*made().values()]
    times = {one: {0: 300.0, 2: 340.0, 1: 320.0} for one in ModelChange}
    times[ModelChange.SERVER_ON] = {1: 421.0, 0: 400.0}
    times[ModelChange.SERVER_OFF] = {0: 300.5, 1: None, 2: 340.5}
    on, off, busy = effects_of("made", changed, times, 260.0)
    assert on.pairs == [(400, 300), (421, 320)]
    assert off.pairs == [(300.5, 300), (340.5, 340)]
    assert (busy.measured.value, busy.predicted_ms, busy.graph_load_ms) == (0, 50, 260)


def test_the_table_is_made_of_the_file_alone() -> None:
    lines = [
        msgspec.to_builtins(effect(100, [98, 99, 100, 101, 102, 100, 99, 101])),
        msgspec.to_builtins(effect(0, [98, 99, 100, 101, 102, 100, None, 101])),
    ]
    assert all(map(is_effect, lines))
    rows = table(lines).splitlines()
    assert rows[2].startswith("| `made` | 1,004 (990) | server, on the path: h1 +100 ms | 100.0 | 100.0 [")
    assert rows[2].endswith("] | yes |")
    assert rows[3].endswith("] (1 of 8 left out) | **no** |")
    assert "1 of 2 agree" in rows[5]
    assert "For 1 ms it takes some" in rows[6]
    with pytest.raises(ConfigurationError, match="no measured change"):
        table([{"page": "made"}])


def test_pages_are_chosen_that_load_soon_and_whose_graph_is_known() -> None:
    def page(requests: int, load_ms: float | None, evidence: Evidence) -> PageModel:
        others = (request(0, Discovery.DOCUMENT, evidence=evidence) for _ in range(requests))
        return msgspec.structs.replace(model(document(), *others), load_ms=load_ms)

    models = {
        "large": page(9, 5_000, Evidence.INITIATOR),
        "small": page(2, 5_000, Evidence.INITIATOR),
        "slow": page(1, 6_000, Evidence.INITIATOR),
        "guessed": page(1, 1_000, Evidence.INFERRED),
        "endless": page(1, None, Evidence.INITIATOR),
    }
    assert choose_pages(models) == ["small", "large"]
    assert choose_pages(models, 1) == ["small"]


def test_the_profile_is_one_of_the_project_s() -> None:
    assert Corpus.from_project().profile("fiber").down.rate_bps


def test_times_are_read_by_change_and_block(monkeypatch, tmp_path) -> None:
    class Load(msgspec.Struct):
        page: str
        block: int
        failure: str | None
        times_ms: dict[str, float | None]

    class Tables:
        def measured_loads(self) -> list[Load]:
            return [
                Load("made-same", 0, None, {"plt": 300.0}),
                Load("made-path", 0, None, {"plt": 401.0}),
                Load("made-path", 1, "page_timeout", {"plt": None}),
            ]

    monkeypatch.setattr("benches.clones.trials.build_tables", lambda _folder: None)
    monkeypatch.setattr("benches.clones.trials.open_dataset", lambda _folder: contextlib.nullcontext(Tables()))
    times = read_times(tmp_path, [*made().values()])
    assert times[ModelChange.SAME] == {0: 300.0}
    assert times[ModelChange.SERVER_ON] == {0: 401.0, 1: None}
