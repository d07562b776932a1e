"""The serving of single names of a page: `[serving."NAME"]` of its `page.toml`, read and checked.

For: a name's settings for the edge, its shared address and certificate, its distance. Not for: giving addresses
(`testbed.sites`), or the validity of a setting, checked by the edge.
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
"""The largest extra round trip, in ms; the link adds at most half in each direction."""
OF_THE_TESTBED = ("host", "address", "addresses", "folder", "ticket_policy")
"""Keys of the edge's `[[site]]` reserved for the testbed."""
_CODED = ".gz"
_KEYS = {
    "settings": "the path of a TOML file",
    "address_group": "a whole number, from 0",
    "certificate": "a whole number, from 0",
    "extra_rtt_ms": f"a number of milliseconds, from 0 to {LONGEST_EXTRA_RTT_MS:g}",
    "not_awaited": "a list of paths that begin with /",
}


class Serving(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """The special settings of one name; an ordinary name has no special setting."""

    settings: Mapping[str, Any] = {}
    """Keys of the edge's `[[site]]`."""
    address_group: int | None = None
    """Names of one page with the same number share an address."""
    certificate: int | None = None
    """Names of one page with the same number share a certificate."""
    extra_rtt_ms: float = 0.0
    """The extra distance beyond the access network's end."""
    not_awaited: frozenset[str] = frozenset()
    """Paths ignored by the load event: requested after the event, or fetched by a script."""

    @cached_property
    def responses(self) -> Mapping[str, Mapping[str, Any]]:
        """Paths the settings have a response for."""
        return {one["path"]: one for one in self.settings.get("response", [])}

    @property
    def protocols(self) -> frozenset[str] | None:
        """Return the supported HTTP versions, `h1`, `h2`, `h3`; `None`: all."""
        told = self.settings.get("protocols")
        return frozenset(told) if isinstance(told, list) else None

    def speaks(self, version: str) -> bool:
        """Return True when the name supports an HTTP version."""
        return self.protocols is None or version in self.protocols

    def response(self, target: str) -> Mapping[str, Any] | None:
        """Find the settings for a request target, as the edge does: query included, else by path."""
        if not self.responses:
            return None
        return self.responses.get(unquote(target)) or self.responses.get(unquote(target.partition("?")[0]))

    def has_anything(self, folder: Path) -> bool:
        """Return True when the name has anything to serve."""
        return bool(self.responses) or has_files(folder)

    def files(self, folder: Path) -> list[Path]:
        """List the files as sent by the edge: for a file with a coded version beside, the coded version."""
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        coded = {file.with_name(file.name.removesuffix(_CODED)) for file in files if file.suffix == _CODED}
        return [file for file in files if file not in coded] if self._precoded else files

    def is_never_awaited(self, folder: Path) -> bool:
        """Return True when the load event waits for no file of this name, so a load is complete without the name."""
        if not self.not_awaited:
            return False
        ending = _CODED if self._precoded else ""
        files = {f"/{file.relative_to(folder).as_posix()}".removesuffix(ending) for file in self.files(folder)}
        return {*files, *self.responses} <= self.not_awaited

    @property
    def _precoded(self) -> bool:
        return bool(self.settings.get("precoded"))


def has_files(folder: Path) -> bool:
    """Return True when a folder contains any file."""
    return any(file.is_file() for file in folder.rglob("*"))


ORDINARY = Serving()


def read_serving(told: object, folder: Path) -> tuple[Serving, list[str]]:
    """Read the serving of one name, and report all faults; files are relative to the page's folder."""
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
