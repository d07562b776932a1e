"""The factors fixed by a browser preset, and their levels.

For: conditions describing the browser's real behaviour. Not for: the presets' other settings (`browser.presets`).
"""

from typing import Any

from resolab.plan.condition import Condition, sends_doh
from resolab.records import BrowserPreset, DohMethod, NameResolution


def find_fixed_levels(condition: Condition) -> dict[str, Any]:
    """Return the levels of the optional factors set by the condition's preset, regardless of their defaults.

    Hounsel et al. used getaddrinfo for Do53 and for the queries to their DoT stub, and POST for DoH.
    """
    if condition.browser_preset is not BrowserPreset.H20:
        return {}
    if sends_doh(condition):
        return {"doh_method": DohMethod.POST}
    return {"name_resolution": NameResolution.GETADDRINFO}
