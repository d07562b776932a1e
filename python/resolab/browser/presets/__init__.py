"""Studies' browser settings as named presets: each setting, its source, its effect on the study's numbers.

For: pure changes of `BrowserSettings` and `LoadRequest`; each setting can be left out by its name. Not for: anything
beside the browser; links, orders and statistics are the plan's. Each study with a preset has a module `browser_preset`
with `PRESET`. Uses of the presets: docs/method/browser-presets.md.
"""

import importlib
from collections.abc import Mapping
from functools import cache

from resolab.basics.errors import ConfigurationError
from resolab.browser.presets.shape import Preset, Setting


@cache
def find_presets() -> Mapping[str, Preset]:
    """Return every preset by its name; this package knows no study, and finds them by the name of their package."""
    found: list[Preset] = importlib.import_module("resolab.studies").find_values("browser_preset", "PRESET")
    return {one.name: one for one in found}


def preset(name: str) -> Preset:
    """Return the preset with this name."""
    if name not in find_presets():
        raise ConfigurationError(f"unknown browser preset {name!r}; known: {', '.join(find_presets())}")
    return find_presets()[name]


__all__ = ["Preset", "Setting", "find_presets", "preset"]
