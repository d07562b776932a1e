"""Words of strangers (URLs, questions, names, reasons) go through every way out and command none of them.

For: report, waterfalls, archives, traces, tables in a terminal. Not for: TOML (`test_toml_text`).
"""

import json
import re
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_page_model import SCRIPT, document, model, request
from recorded_trial import page_load, resource, trial
from rich.table import Table
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.basics.toml_text import value_text
from resolab.basics.urls import split_url
from resolab.basics.wording import clean, escape_xml_controls
from resolab.cli.console import Console
from resolab.cli.main import main
from resolab.extras.evidence.timeline import list_tracks, trace_bytes
from resolab.pages.clone.names import parse_request_index
from resolab.pages.file import model_text
from resolab.pages.model import Kind
from resolab.report import build_report, terminal_waterfall
from resolab.report.pages.waterfall.loads import Waterfall
from resolab.report.plots import PageEvent, Span, WaterfallRequest, draw_waterfall
from resolab.report.plots.save import inline_svg, save_drawing
from resolab.store import load_manifest, save_manifest
from resolab.store.har.archive import archive

if TYPE_CHECKING:
    from resolab.basics.records import Record

WORDS = [
    "/odata?$filter=a_b%20eq&$top=1",
    "$\\frac{$ {% raw %} {{ 7*7 }} %s %(a)s",
    "<script>alert(1)</script>&amp;\"'",
    "]]> --> <![CDATA[ <!-- </svg></style>",
    "[b]bold[/] [/red] [link=https://example.org]x :warning:",
    "\x1b]0;title\x07\x1b[2J\x9b31m\x00\r\n\t",
    "\u202eevil\u2066 e\u0301 \U0001f600\U0010ffff\ufffe",
    "https://[::1 //[",
    "x" * 10_000,
]
COMMANDS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
ANY = st.one_of(st.sampled_from(WORDS), st.text(st.characters(exclude_categories=["Cs"])))


class Reader(HTMLParser):
    """Counts elements and gathers what is not inside a script or style."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Have strangers' words wherever a dataset takes them: in its plan, its manifest and its records."""
    text = PLAN_TEXT.replace('["example", "wikipedia"]', '["example"]').replace('["fiber", "4g"]', '["4g"]')
    asked = f"question = {value_text(''.join(WORDS))}"
    text = re.sub(r'name = "made-up"\nquestion = "[^\n]*"', lambda _: f"name = {value_text(WORDS[4])}\n{asked}", text)
    assert asked in text
    folder = make_dataset(tmp_path_factory.mktemp("hostile") / "dataset", make_plan(text), Faults(timeouts=True))
    manifest = load_manifest(folder)
    versions = msgspec.structs.replace(manifest.versions, browser=WORDS[2] + WORDS[5])
    save_manifest(folder, msgspec.structs.replace(manifest, versions=versions, command_line=list(WORDS)))
    for number, file in enumerate(sorted((folder / "trials").glob("*.jsonl"))):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            words = WORDS[number % len(WORDS)]
            if line["record"] in {"resource", "page_load"}:
                line["url"] += words
            if line.get("failure"):
                line["failure_detail"] = words
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_a_report_holds_them_as_text(dataset: Path) -> None:
    page = build_report(dataset)
    html = page.read_text("utf-8")
    assert not COMMANDS.search(html)
    reader = Reader()
    reader.feed(html)
    assert not {"script", "iframe", "object"} & set(reader.elements)
    assert "<script>alert(1)</script>" in reader.text
    assert "{{ 7*7 }}" in reader.text
    for figure in page.parent.glob("figures/*.svg"):
        ET.fromstring(figure.read_text("utf-8"))


def test_commands_print_and_draw_them(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build_report(dataset)
    for command in (["waterfall", str(dataset), "-o", str(tmp_path)], ["har", str(dataset), "-o", str(tmp_path)]):
        assert main(command) == 0
    assert not COMMANDS.search(capsys.readouterr().out)
    for drawn in tmp_path.glob("*.svg"):
        ET.fromstring(drawn.read_text("utf-8"))
    for file in tmp_path.glob("*.har"):
        json.loads(file.read_text("utf-8"))


@pytest.mark.filterwarnings("ignore:Glyph")
@settings(max_examples=15, deadline=None)
@given(st.lists(ANY, min_size=1, max_size=3), ANY)
def test_a_waterfall_draws_any_label(labels: list[str], title: str) -> None:
    spans = [Span("wait", 1.0, 2.0)]
    requests = [WaterfallRequest(label, 0.0, spans, {"url": label}) for label in labels]
    drawing = draw_waterfall("waterfall", title, requests, [PageEvent("load", 3.0)], title)
    with TemporaryDirectory() as folder:
        element = save_drawing(drawing, Path(folder))
        ET.fromstring((Path(folder) / "waterfall.svg").read_text("utf-8"))
    # HTML knows the prefix of links by itself.
    ET.fromstring(element.replace("<svg", '<svg xmlns:xlink="http://www.w3.org/1999/xlink"', 1))


@given(ANY)
def test_a_label_for_screen_readers_is_an_attribute_of_the_figure(label: str) -> None:
    element = ET.fromstring(inline_svg('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"></svg>', label))
    # An attribute's white space is one kind (XML 1.0, section 3.3.3).
    assert element.attrib["aria-label"] == re.sub(r"\r\n|[\t\n\r]", " ", escape_xml_controls(label))


@given(st.lists(ANY, min_size=1, max_size=4))
def test_a_terminal_shows_them_as_they_are(words: list[str]) -> None:
    stream = StringIO()
    console = Console(file=stream, width=200, force_terminal=True)
    table = Table(*words, title=words[0])
    table.add_row(*words)
    for one in (table, *words):
        console.print(one, highlight=False)
    kept = re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue())  # rich's own styles
    assert not COMMANDS.search(kept)
    assert "\x9b" not in kept


def test_a_terminal_reads_no_markup_and_no_emoji_in_words() -> None:
    stream = StringIO()
    console = Console(file=stream, width=200)
    console.print("[b]x[/b] [/red] :warning:", highlight=False)
    assert stream.getvalue() == "[b]x[/b] [/red] :warning:\n"


@given(ANY)
def test_a_load_s_lines_archive_and_trace_take_any_url(url: str) -> None:
    kept: list[Record] = [trial(), msgspec.structs.replace(page_load(), url=url)]
    for start in (0.0, 5.0):
        one = resource("/", "img", start, start, start, start, start + 1, start + 1, start + 2, start + 3)
        kept.append(msgspec.structs.replace(one, url=url))
    json.loads(json.dumps(archive(kept)))
    assert trace_bytes(list_tracks(kept), monotonic_ns=1, wall_time_unix_ns=1)
    waterfall = Waterfall(url, url, url, [WaterfallRequest(url, 0.0, [Span("wait", 0.0, 1.0)], {})], [])
    assert terminal_waterfall(waterfall, 80)
    parse_request_index(url)
    parse_request_index(f"https://h0.s0-a.test/{url}.gif")


def test_a_path_of_thousands_of_digits_is_no_place() -> None:
    assert parse_request_index(f"https://h0.s0-a.test/{'9' * 5000}.gif") is None
    assert parse_request_index("https://h0.s0-a.test/12.gif") == 12


def test_what_is_no_url_is_a_path() -> None:
    assert split_url("https://[::1").path == "https://[::1"
    assert split_url("https://a.test/b?c").query == "c"


def test_hosts_of_a_page_model_are_named_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20000")
    made = model(document(), request(0, SCRIPT, Kind.SCRIPT, host=1), hosts=2, name="[/red]\x1b[2J", round_trip_ms=20.0)
    file = tmp_path / "made.page.json"
    file.write_text(model_text(msgspec.structs.replace(made, name=WORDS[5] + "[b]")))
    for words in ([], ["--tree"], ["--waterfall"], ["-o", str(tmp_path / "drawn.svg")]):
        assert main(["page", "show", str(file), *words]) == 0
    said = capsys.readouterr().out
    assert "[/red]" in said
    assert not COMMANDS.search(said)
    ET.fromstring((tmp_path / "drawn.svg").read_text("utf-8"))


@given(ANY)
def test_cleaned_words_are_one_line_that_commands_nothing(words: str) -> None:
    assert clean(words).isprintable()
    assert len(clean(words)) == len(words)
