"""Whether Chromium can be told all names of a plan's pages: each stands in one argument of its command line.

For: refusing a plan before it runs. Not for: the command line itself (`browser.chromium.flags`).
"""

from collections.abc import Sequence

from resolab.errors import ConfigurationError
from resolab.plan.model import Plan
from resolab.plan.page import Page
from resolab.records import BrowserName, BrowserPreset, HttpVersion

LONGEST_ARGUMENT_BYTES = 131_072 - 512
"""Linux takes no longer one (MAX_ARG_STRLEN); less what stands beside the pages' names."""
_PORT_BYTES = len(":443,")
_MAPPING_BYTES = len("MAP  10.77.255.254 , EXCLUDE 10.77.255.254 , ")


def check_told_names(source: str, plan: Plan, pages: Sequence[Page]) -> None:
    """Refuse pages over HTTP/3 in Chromium, or with the preset that tells it addresses, whose names are too many."""
    chromium = [one for one in plan.conditions() if one.browser is BrowserName.CHROMIUM]
    told = [one for one in chromium if one.http_version is HttpVersion.H3]
    if not told:
        return
    with_addresses = any(one.browser_preset is BrowserPreset.S24 for one in told)
    beside_bytes = _MAPPING_BYTES if with_addresses else _PORT_BYTES
    names_bytes = sum(len(host) + beside_bytes for page in pages for host in page.hosts)
    if names_bytes > LONGEST_ARGUMENT_BYTES:
        count = sum(len(page.hosts) for page in pages)
        problem = f"chromium cannot be told {count} host names for HTTP/3: one argument has room for some thousand"
        raise ConfigurationError(f"{source}: factors.page: {problem}; leave pages out, or take h1 or h2, or firefox")
