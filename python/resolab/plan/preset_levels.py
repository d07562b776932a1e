"""What a browser preset decides of a condition: the factors it fixes, and to which level.

For: conditions that say what their browser really did. Not for: the presets' other settings (`browser.presets`).
"""

from typing import TYPE_CHECKING, Any

from resolab.protocols import OVER_HTTP
from resolab.records import BrowserPreset, DohMethod, NameResolution, ResolverPath

if TYPE_CHECKING:
    from resolab.plan.condition import Condition


def fixed_levels(condition: "Condition") -> dict[str, Any]:
    """Levels of the optional factors that the condition's preset sets, whatever their defaults are.

    Hounsel et al. had Do53, and what their DoT stub was asked, by getaddrinfo, and DoH by POST.
    """
    if condition.browser_preset is not BrowserPreset.H20:
        return {}
    if condition.resolver_path is ResolverPath.NATIVE and condition.dns_transport in OVER_HTTP:
        return {"doh_method": DohMethod.POST}
    return {"name_resolution": NameResolution.GETADDRINFO}
