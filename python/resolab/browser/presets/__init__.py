"""The two studies' browser settings as named presets: each setting, its source, its effect on the study's numbers.

For: pure changes of `BrowserSettings` and `LoadRequest`; each setting can be left out by its name. Not for: anything
beside the browser; links, orders and statistics are the plan's. Uses of the presets: docs/method/browser-presets.md.
"""

from resolab.browser.presets.h20 import H20
from resolab.browser.presets.s24 import S24
from resolab.browser.presets.shape import Preset, Setting
from resolab.errors import ConfigurationError

PRESETS = {one.name: one for one in (H20, S24)}


def preset(name: str) -> Preset:
    """Return the preset with this name."""
    if name not in PRESETS:
        raise ConfigurationError(f"unknown browser preset {name!r}; known: {', '.join(PRESETS)}")
    return PRESETS[name]


__all__ = ["PRESETS", "Preset", "Setting", "preset"]
