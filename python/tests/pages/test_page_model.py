"""Page models: what no page can be, files, schema, numbers."""

import json
from pathlib import Path

import msgspec
import pytest

from resolab.basics.errors import ConfigurationError
from resolab.pages.facts import count_facts, depths
from resolab.pages.file import model_text, read_model
from resolab.pages.model import Discovery, Evidence, Host, Kind, Loss, PageModel, Resource, Source
from resolab.pages.schema import page_schema

PROJECT = Path(__file__).resolve().parents[3]


def resource(parent: int | None = 0, **more: object) -> Resource:
    fields = {
        "host": 0, "kind": Kind.IMAGE, "discovery": Discovery.DOCUMENT, "evidence": Evidence.INITIATOR, "parent": parent,
        "start_ms": 1.0, "wire_bytes": 100, "raw_bytes": 100,
    }  # fmt: skip
    return Resource(**(fields | more))  # type: ignore[arg-type]


ROOT = resource(None, kind=Kind.DOCUMENT, discovery=Discovery.NAVIGATION, start_ms=0.0)


def page(*others: Resource, hosts: int = 2) -> PageModel:
    return PageModel(
        name="made",
        source=Source(form="har", creator="made"),
        hosts=tuple(Host(site=number, protocols=("h2",)) for number in range(hosts)),
        resources=(ROOT, *others),
        load_ms=10.5,
        losses=(Loss("certificates of servers", 0),),
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (resource(1), r"resources\[1\]: parent 1 does not stand before it"),
        (resource(-1), "does not stand before it"),
        (resource(0, host=2), "host 2 is none of 2"),
        (resource(0, frame=1), "frame 1 does not stand before it"),
        (resource(None), "the first, and no other, has no parent"),
        (resource(0, discovery=Discovery.NAVIGATION), "the first, and no other, is by navigation"),
    ],
)
def test_what_no_page_can_be_is_refused(wrong: Resource, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        page(wrong)


def test_a_file_is_read_back_as_it_was_and_says_no_defaults(tmp_path: Path) -> None:
    made = page(resource(0, host=1), resource(1, discovery=Discovery.SCRIPT, due_ms=2.5, method="POST"))
    text = model_text(made)
    (tmp_path / "made.page.json").write_text(text)
    assert read_model(tmp_path / "made.page.json") == made
    assert text.count("\n") == len(made.resources) + len(made.hosts) + len(made.losses) + 13 - 1
    assert '"method":"GET"' not in text
    assert '"POST"' in text
    assert msgspec.json.decode(text)["format"] == made.format


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("1.", "2."), "its format is 2; this resolab reads 1"),
        (('"parent":0', '"parent":7'), "parent 7 does not stand before it"),
        (('"image"', '"picture"'), "Invalid enum value 'picture'"),
        (("{", "["), "failed to read page model"),
    ],
)
def test_a_file_that_is_wrong_is_told_in_a_line(tmp_path: Path, change: tuple[str, str], said: str) -> None:
    file = tmp_path / "made.page.json"
    file.write_text(model_text(page(resource())).replace(*change))
    with pytest.raises(ConfigurationError, match=said):
        read_model(file)


def test_numbers_of_a_page() -> None:
    made = page(
        resource(0, host=1, kind=Kind.SCRIPT),
        resource(1, discovery=Discovery.SCRIPT, evidence=Evidence.INFERRED, wire_bytes=50),
        resource(2, discovery=Discovery.REDIRECT, evidence=Evidence.REDIRECT, after_load=True),
    )
    facts = count_facts(made)
    assert depths(made.resources) == [0, 1, 2, 3]
    assert (facts.requests_count, facts.hosts_count, facts.sites_count, facts.single_request_hosts_count) == (
        4,
        2,
        2,
        1,
    )
    assert (facts.depth, facts.wire_bytes, facts.redirects_count, facts.after_load_count) == (3, 350, 1, 1)
    assert facts.evidence_ratio == pytest.approx(2 / 3)
    assert facts.requests_by_kind == {"image": 2, "document": 1, "script": 1}


def test_the_committed_schema_is_the_code_s() -> None:
    assert json.loads((PROJECT / "schema" / "page.schema.json").read_text()) == json.loads(json.dumps(page_schema())), (
        "run scripts/schema"
    )


def test_every_field_that_does_not_explain_itself_has_words() -> None:
    described = page_schema()["$defs"]["Resource"]["properties"]
    silent = {name for name, one in described.items() if "description" not in one}
    assert silent == {"kind", "discovery", "evidence", "method", "status", "outcome", "script_mode", "cors"}
