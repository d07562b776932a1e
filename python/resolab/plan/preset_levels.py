"""What a browser preset decides of a condition: the factors it fixes, and to which level.

For: conditions that say what their browser really did. Not for: the presets' other settings (`browser.presets`).
"""

from typing import Any

from resolab.plan.condition import Condition, sends_doh
from resolab.records import BrowserPreset, DohMethod, NameResolution


def fixed_levels(condition: Condition) -> dict[str, Any]:
    """Levels of the optional factors that the condition's preset sets, whatever their defaults are.

    Hounsel et al. had Do53, and what their DoT stub was asked, by getaddrinfo, and DoH by POST.
    """
    if condition.browser_preset is not BrowserPreset.H20:
        return {}
    if sends_doh(condition):
        return {"doh_method": DohMethod.POST}
    return {"name_resolution": NameResolution.GETADDRINFO}
