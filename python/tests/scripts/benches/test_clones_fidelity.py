"""Fidelity of many pages: what is left to load, what stands in the file, and what its lines come to."""

import json

import msgspec
import pytest
from made_page_model import document, model, request

from benches.clones import loads, verdicts
from benches.clones.__main__ import files_of
from benches.clones.lines import add_lines, read_lines
from benches.clones.loads import foreseen_s, lines_of, list_left
from benches.clones.summary import summary
from benches.clones.verdicts import pages_of
from resolab.basics.errors import ConfigurationError, MachineError
from resolab.extras.fidelity.bars import shortfalls
from resolab.extras.fidelity.lab import CloneCheck
from resolab.extras.fidelity.measures import Fidelity
from resolab.pages.file import model_text

GOOD = Fidelity(
    page="made", browser="chromium", evidence_ratio=0.9, requests_count=200, issued_count=200, extra_count=0,
    never_asked=(), asked_again=(), foreign=(), hosts_count=4, hosts_asked_count=4, redirects_count=10, redirects_followed_count=10,
    preflights_count=0, preflights_asked_count=0, model_bytes=1_000, body_bytes=1_000, bytes_by_kind={}, depth=3,
    depth_seen=3, discoverers_ratio=1.0, tau=0.9, tau_apart=0.9, plt_ms=100.0, model_load_ms=100.0,
)  # fmt: skip


def load(**changed: object) -> Fidelity:
    return msgspec.structs.replace(GOOD, **changed)


def lines(*checked: CloneCheck) -> list[dict[str, object]]:
    return json.loads(json.dumps(lines_of(checked)))


def checked(one: Fidelity, starts: list[float] | None = None, failure: str | None = None) -> CloneCheck:
    return CloneCheck(one, dict(enumerate(starts or [])), failure)


@pytest.mark.parametrize(
    "one",
    [
        load(),
        load(issued_count=199),
        load(issued_count=198),
        load(extra_count=1),
        load(hosts_asked_count=3),
        load(redirects_followed_count=9),
        load(redirects_count=0, redirects_followed_count=0),
        load(body_bytes=1_020),
        load(body_bytes=970),
        load(model_bytes=0, body_bytes=9),
        load(depth_seen=4),
        load(discoverers_ratio=0.96),
        load(depth_seen=None, discoverers_ratio=None),
    ],
)
def test_bars_are_those_of_one_load(one: Fidelity) -> None:
    missed = [bar for bar, meets in verdicts.BARS.items() if meets(one) is False]
    assert len(missed) == len([*shortfalls(one)])


def test_a_page_meets_a_bar_when_each_of_its_loads_does() -> None:
    (page,) = pages_of(lines(checked(load()), checked(load(extra_count=2))))
    assert page.short == ["2 requests too many"]
    assert (page.meets("no request too many"), page.meets("all hosts"), page.is_good) == (False, True, False)
    (failed,) = pages_of(lines(checked(load(), failure="page_timeout")))
    assert not failed.is_good


def test_two_loads_have_a_tau_of_their_orders() -> None:
    written = lines(checked(load(), [0, 1, 2]), checked(load(), [5, 9, 7]))
    assert len(written) == 3
    assert written[2] == {"page": "made", "browser": "chromium", "tau_of_two_loads": pytest.approx(1 / 3, abs=1e-4)}
    assert len(lines(checked(load(), [0, 1]))) == 1


def test_the_summary_of_a_file() -> None:
    rows = summary(
        [
            *lines(checked(load(page="a", tau_apart=0.8), [0, 1]), checked(load(page="a", tau_apart=0.9), [0, 1])),
            *lines(checked(load(page="b", tau_apart=0.95, extra_count=1))),
            *lines(checked(load(page="c", tau_apart=0.1, evidence_ratio=0.5), failure="page_timeout: 60 s")),
            *lines(checked(load(page="a", browser="firefox", depth_seen=None, discoverers_ratio=None, tau_apart=0.5))),
        ]
    ).splitlines()
    assert rows[0] == "| pages that meet it | chromium | firefox |"
    assert "| requests issued, 99.5 % or more | 3 of 3 | 1 of 1 |" in rows
    assert "| no request too many | 2 of 3 | 1 of 1 |" in rows
    assert "| discoverers the model's, 97 % or more | 3 of 3 | not told |" in rows
    assert "| every load ended | 2 of 3 | 1 of 1 |" in rows
    assert "| **all of these** | 1 of 3 | 1 of 1 |" in rows
    (apart,) = [row for row in rows if row.startswith("| against the recording")]
    assert apart.endswith("| 0.900 (2), bar 0.85: met | 0.500 (1), bar 0.8: MISSED |"), "0.85 and 0.95; not of c"
    (of_two,) = [row for row in rows if row.startswith("| between two loads")]
    assert of_two.endswith("| 1.000 (1), bar 0.95: met | not told |")
    short = rows.index("Short of a bar: 2 of 4 pages and browsers, the worst first.")
    assert rows[short + 1 : short + 3] == [
        "- `c`, chromium: 1 of 1 loads failed: page_timeout: 60 s",
        "- `b`, chromium: 1 request too many",
    ]
    assert "- chromium: `a` 0.850; 1.000, `b` 0.950; not told" in rows


def test_lines_that_are_no_loads_are_told() -> None:
    with pytest.raises(ConfigurationError, match="line 2"):
        pages_of([*lines(checked(load())), {"page": "made"}])


def test_half_a_line_is_what_a_kill_left(tmp_path) -> None:
    file = tmp_path / "out.jsonl"
    assert read_lines(file) == []
    add_lines(file, [{"page": "a"}, {"page": "b"}])
    with file.open("a") as out:
        out.write('{"page": "c", "bro')
    assert read_lines(file) == [{"page": "a"}, {"page": "b"}]
    add_lines(file, [{"page": "c"}])
    assert [one["page"] for one in read_lines(file)] == ["a", "b", "c"]
    file.write_text('{"page": "a"}\n{"pa\n')
    with pytest.raises(ConfigurationError, match="line 2"):
        read_lines(file)


def test_a_page_and_browser_that_stand_there_are_not_loaded_again(tmp_path, monkeypatch) -> None:
    files = []
    for name in ("a", "b"):
        files.append(tmp_path / f"{name}.page.json")
        page = msgspec.structs.replace(model(document(), request(start_ms=4_000.0)), name=name)
        files[-1].write_text(model_text(page))
    out = tmp_path / "out.jsonl"
    add_lines(out, lines_of([checked(load(page="a"))]))
    assert [(page.name, browser) for _, page, browser in list_left(files, ["chromium", "firefox"], read_lines(out))] == [
        ("a", "firefox"), ("b", "chromium"), ("b", "firefox"),
    ]  # fmt: skip

    async def pretended(file, settings):
        if settings.browser.value == "firefox":
            raise MachineError("no memory")
            yield
        yield checked(load(page=file.name.removesuffix(".page.json"), browser=settings.browser.value))

    monkeypatch.setattr(loads, "check_clone", pretended)
    said: list[str] = []
    missed = loads.measure(files, ["chromium", "firefox"], 1, out, "bench clones", said.append)
    assert missed == 2
    assert said == [
        f"1 of 4 stand in {out} already",
        "a in firefox: no memory",
        "b in firefox: no memory",
    ]
    assert [(one["page"], one["browser"]) for one in read_lines(out)] == [("a", "chromium"), ("b", "chromium")]


def test_a_load_is_foreseen_to_its_last_request_and_its_longest_pause() -> None:
    page = model(document(), request(start_ms=1_000.0), request(start_ms=9_000.0))
    assert foreseen_s(page, 3) - foreseen_s(page, 2) == pytest.approx(loads.LOAD_S + 9 + 8)


def test_models_are_found_by_file_and_pattern(tmp_path) -> None:
    file = tmp_path / "a.page.json"
    file.write_text("{}")
    assert files_of([str(file), str(file)]) == [file]
    with pytest.raises(ConfigurationError, match="none below pages/"):
        files_of(["no-such-folder/*"])
    with pytest.raises(ConfigurationError, match="unknown page model"):
        files_of(["no-such-page"])
