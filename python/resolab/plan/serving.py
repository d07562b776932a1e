"""How single names of a page are served: `[serving."NAME"]` of its `page.toml`, read and checked.

For: what the edge is told of a name, with whom it shares address and certificate, how far away it is. Not for: giving
addresses (`testbed.sites`), or whether the edge takes a setting: that is the edge's to say.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

LONGEST_EXTRA_RTT_MS = 20_000.0
"""The link adds at most half of it in each direction."""
OF_THE_TESTBED = ("host", "address", "addresses", "folder", "ticket_policy")
"""Keys of the edge's `[[site]]` that a page has no say in."""
_CODED = ".gz"
_KEYS = {
    "settings": "the path of a TOML file",
    "address_group": "a whole number, from 0",
    "certificate": "a whole number, from 0",
    "extra_rtt_ms": f"a number of milliseconds, from 0 to {LONGEST_EXTRA_RTT_MS:g}",
    "not_awaited": "a list of paths that begin with /",
}


class Serving(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """What is particular about one name; of an ordinary one nothing is."""

    settings: Mapping[str, Any] = {}
    """Keys of the edge's `[[site]]`."""
    address_group: int | None = None
    """Names of one page with the same number share an address."""
    certificate: int | None = None
    """Names of one page with the same number share a certificate."""
    extra_rtt_ms: float = 0.0
    """How much farther away it is than the access network's end."""
    not_awaited: frozenset[str] = frozenset()
    """Paths whose answers the load event does not wait for: asked for after it, or by a script that fetches."""

    @cached_property
    def responses(self) -> Mapping[str, Mapping[str, Any]]:
        """Paths the settings have a response for."""
        return {one["path"]: one for one in self.settings.get("response", [])}

    @property
    def protocols(self) -> frozenset[str] | None:
        """HTTP versions it speaks, `h1`, `h2`, `h3`; `None`: all."""
        told = self.settings.get("protocols")
        return frozenset(told) if isinstance(told, list) else None

    def speaks(self, version: str) -> bool:
        """Whether it speaks an HTTP version."""
        return self.protocols is None or version in self.protocols

    def response(self, target: str) -> Mapping[str, Any] | None:
        """Find what the settings say of a request target, as the edge does: query included, else its path's."""
        if not self.responses:
            return None
        return self.responses.get(unquote(target)) or self.responses.get(unquote(target.partition("?")[0]))

    def has_anything(self, folder: Path) -> bool:
        """Whether there is something to serve."""
        return bool(self.responses) or has_files(folder)

    def files(self, folder: Path) -> list[Path]:
        """List what the edge sends, as it travels: of a file with a coding beside it, the coding."""
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        coded = {file.with_name(file.name.removesuffix(_CODED)) for file in files if file.suffix == _CODED}
        return [file for file in files if file not in coded] if self._precoded else files

    def is_never_awaited(self, folder: Path) -> bool:
        """Whether the load event waits for nothing of it, so that a load can do without the name."""
        if not self.not_awaited:
            return False
        ending = _CODED if self._precoded else ""
        files = {f"/{file.relative_to(folder).as_posix()}".removesuffix(ending) for file in self.files(folder)}
        return {*files, *self.responses} <= self.not_awaited

    @property
    def _precoded(self) -> bool:
        return bool(self.settings.get("precoded"))


def has_files(folder: Path) -> bool:
    """Whether there is a file below a folder."""
    return any(file.is_file() for file in folder.rglob("*"))


ORDINARY = Serving()


def read_serving(told: object, folder: Path) -> tuple[Serving, list[str]]:
    """Read what is told of one name, and say everything that is wrong with it; files are relative to the page's."""
    if not isinstance(told, dict):
        return ORDINARY, [f"must be a table, not {told!r}"]
    problems = [*_wrong_keys(told)]
    settings: dict[str, Any] = {}
    if isinstance(told.get("settings"), str):
        settings, more = _read_settings(folder / told["settings"])
        problems += more
    if problems:
        return ORDINARY, problems
    return Serving(
        settings=settings,
        address_group=told.get("address_group"),
        certificate=told.get("certificate"),
        extra_rtt_ms=float(told.get("extra_rtt_ms", 0.0)),
        not_awaited=frozenset(told.get("not_awaited", ())),
    ), []


def _wrong_keys(told: Mapping[str, Any]) -> Iterator[str]:
    for key, value in told.items():
        if key not in _KEYS:
            yield f"unknown key {key!r}; allowed: {', '.join(_KEYS)}"
        elif not _fits(key, value):
            yield f"{key}: must be {_KEYS[key]}, not {value!r}"


def _fits(key: str, value: object) -> bool:
    if isinstance(value, bool):
        return False
    match key:
        case "settings":
            return isinstance(value, str)
        case "not_awaited":
            return isinstance(value, list) and all(isinstance(one, str) and one.startswith("/") for one in value)
        case "extra_rtt_ms":
            # TOML has nan, which is in no range.
            return isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= LONGEST_EXTRA_RTT_MS
    return isinstance(value, int) and value >= 0


def _read_settings(file: Path) -> tuple[dict[str, Any], list[str]]:
    try:
        settings = tomllib.loads(file.read_text("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"settings: failed to read {file}: {error}"]
    problems = [
        f"settings: {file} sets {key}, which is the testbed's; remove it" for key in OF_THE_TESTBED if key in settings
    ]
    responses = settings.get("response", [])
    if not isinstance(responses, list) or not all(_is_response(one) for one in responses):
        problems.append(f"settings: {file}: response must be a list of tables, each with a path")
    return settings, problems


def _is_response(one: object) -> bool:
    return isinstance(one, dict) and isinstance(one.get("path"), str)
