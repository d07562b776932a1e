"""A clone as a page folder: `page.toml`, the files of each host, and the edge's settings for each host.

For: writing the folder (docs/formats/page.md, docs/formats/page-model.md). Not for: the content of files (`content`).
"""

import enum
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from resolab.basics.toml_text import key_lines, key_text, value_text
from resolab.pages.clone.content import CloneAnswer, make_content
from resolab.pages.clone.names import host_name, make_path
from resolab.pages.clone.roles import assign_roles, has_body
from resolab.pages.facts import holds_load
from resolab.pages.file import model_text
from resolab.pages.model import Host, Outcome, PageModel

MODEL_FILE = "clone.page.json"
_VERSIONS = ("h1", "h2", "h3")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


class ProtocolSource(enum.StrEnum):
    """The HTTP versions of a clone's hosts."""

    PLAN = "plan"
    """All: a plan's condition decides for the whole page."""
    RECORDED = "recorded"
    """Per host, no version newer than the newest in the recording; a host without a recorded version speaks all."""


@dataclass(frozen=True, slots=True)
class CloneSummary:
    """The numbers of a written clone."""

    requests_count: int
    model_bytes: int
    """Bytes of the bodies on the wire in the model."""
    wire_bytes: int
    """Bytes of the bodies on the wire in the clone; a text may need more bytes for naming its requests."""


def write_clone(
    model: PageModel, folder: Path, *, seed: int, protocols: ProtocolSource = ProtocolSource.PLAN
) -> CloneSummary:
    """Write the clone of a page into an empty or missing folder; the same seed gives the same bytes."""
    contents: dict[int, list[CloneAnswer]] = defaultdict(list)
    roles = assign_roles(model)
    for place, one in enumerate(model.resources):
        contents[one.host].append(make_content(model, place, roles, seed))
    for host, of_host in sorted(contents.items()):
        spoken = _spoken(model.hosts[host]) if protocols is ProtocolSource.RECORDED else ()
        _write_host(folder / "hosts", host, of_host, spoken)
    (folder / "page.toml").write_text("\n".join(_page_lines(model, sorted(contents))) + "\n", "utf-8")
    (folder / MODEL_FILE).write_text(model_text(model), "utf-8")
    bodies = [one.body for of_host in contents.values() for one in of_host if one.body is not None]
    return CloneSummary(
        requests_count=len(model.resources),
        model_bytes=sum(one.wire_bytes for one in model.resources if has_body(one)),
        wire_bytes=sum(body.wire_bytes for body in bodies),
    )


def _spoken(host: Host) -> Sequence[str]:
    """List a host's recorded versions and the older ones, available for a browser's settings; empty: not known."""
    newest = max((_VERSIONS.index(one) for one in host.protocols), default=len(_VERSIONS) - 1)
    return () if newest == len(_VERSIONS) - 1 else _VERSIONS[: newest + 1]


def _write_host(folder: Path, host: int, contents: Sequence[CloneAnswer], spoken: Sequence[str]) -> None:
    files = folder / str(host)
    files.mkdir(parents=True)
    for content in contents:
        if content.body is not None:
            (files / content.path[1:]).write_bytes(content.body.identity)
            if content.body.gzip is not None:
                (files / f"{content.path[1:]}.gz").write_bytes(content.body.gzip)
    (folder / f"{host}.toml").write_text("\n".join(_list_serving_lines(contents, spoken)) + "\n", "utf-8")


def _list_serving_lines(contents: Sequence[CloneAnswer], spoken: Sequence[str]) -> Iterator[str]:
    if spoken:
        yield f"protocols = {value_text(spoken)}"
    yield "precoded = true"
    yield "cors = true"
    yield f"methods = {value_text(_METHODS)}"
    responses = [one for one in contents if one.response or one.body is None]
    if responses:
        yield "response = ["
        for one in responses:
            keys = ", ".join(key_lines(one.response))
            yield f"  {{ path = {value_text(one.path)}{', ' if keys else ''}{keys} }},"
        yield "]"


def _page_lines(model: PageModel, hosts: Sequence[int]) -> Iterator[str]:
    first = model.resources[0].host
    others = [host for host in hosts if host != first]
    yield f"description = {value_text(f'a clone of the page model {model.name}')}"
    yield f"source = {value_text(_source(model))}"
    yield f"host = {value_text(host_name(model, first))}"
    yield f'folder = "hosts/{first}"'
    yield f"path = {value_text(make_path(model, 0))}"
    yield f"request_count = {sum(holds_load(one) and one.outcome is Outcome.ANSWERED for one in model.resources)}"
    if others:
        yield ""
        yield "[hosts]"
        for host in others:
            yield f'{key_text(host_name(model, host))} = "hosts/{host}"'
    nearest_ms = min((one.round_trip_ms for one in model.hosts if one.round_trip_ms is not None), default=0.0)
    of_host = _places_by_host(model)
    for host in hosts:
        yield ""
        yield f"[serving.{key_text(host_name(model, host))}]"
        yield f'settings = "hosts/{host}.toml"'
        if rest := [make_path(model, place) for place in of_host[host] if not holds_load(model.resources[place])]:
            yield f"not_awaited = {value_text(rest)}"
        yield from key_lines(_facts(model.hosts[host], nearest_ms))


def _places_by_host(model: PageModel) -> Mapping[int, Sequence[int]]:
    places: dict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(model.resources):
        places[one.host].append(place)
    return places


def _facts(host: Host, nearest_ms: float) -> Mapping[str, int | float]:
    """Describe a host's network position: its extra round trip is the distance beyond the nearest host."""
    extra_ms = 0.0 if host.round_trip_ms is None else round(host.round_trip_ms - nearest_ms, 3)
    facts: dict[str, int | float | None] = {
        "address_group": host.address_group,
        "certificate": host.certificate,
        "extra_rtt_ms": extra_ms or None,
    }
    return {key: value for key, value in facts.items() if value is not None}


def _source(model: PageModel) -> str:
    source = model.source
    told = [source.form, source.creator, source.recorded, source.sha256]
    return ", ".join(one for one in told if one)
