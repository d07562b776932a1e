"""The factors fixed by a browser preset, and their levels.

For: conditions describing the browser's real behaviour, and the refusal of other levels (`support`). Each study may
have a preset: a file `browser_preset.toml` in its folder, whose name is the level of the factor. Not for: the presets'
other settings (`browser.presets`).
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from resolab.basics.records import BrowserKind, DohMethod, H3Discovery, HttpVersion, NameResolution
from resolab.plan.condition import Condition, sends_doh

_STUDIES = Path(__file__).parents[1] / "studies"


class PresetLevels(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The levels set by a preset; `None` leaves the level to the plan."""

    browser: BrowserKind
    http_version: HttpVersion
    h3_discovery: H3Discovery | None = None
    name_resolution: NameResolution | None = None
    """The way to the system's resolver, where the browser sends no DoH."""
    doh_method: DohMethod | None = None
    looks_up: bool = True
    """False when the browser gets the addresses of the pages' names at its start."""


@cache
def read_presets() -> Mapping[str, PresetLevels]:
    """Read the levels of every preset, by the preset's name."""
    files = sorted(_STUDIES.glob("*/browser_preset.toml"))
    return {file.parent.name: msgspec.convert(tomllib.loads(file.read_text("utf-8")), PresetLevels) for file in files}


def browser_looks_up(condition: Condition) -> bool:
    """Return True when the condition's browser looks up the page's names itself."""
    return condition.browser_preset is None or read_presets()[condition.browser_preset].looks_up


def find_fixed_levels(condition: Condition) -> dict[str, Any]:
    """Return the levels of look-ups set by the condition's preset, instead of the factors' defaults."""
    if condition.browser_preset is None:
        return {}
    preset, factor = read_presets()[condition.browser_preset], "doh_method"
    if not sends_doh(condition):
        factor = "name_resolution"
    level = getattr(preset, factor)
    return {} if level is None else {factor: level}
