"""The limit for the names in Chromium's command line: all names of a plan's pages are in one argument.

For: refusing a plan before its run. Not for: the command line itself (`browser.chromium.flags`).
"""

from collections.abc import Sequence

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserKind, HttpVersion, TrialKind
from resolab.plan.condition import Condition
from resolab.plan.model import Plan
from resolab.plan.preset_levels import browser_looks_up

LONGEST_ARGUMENT_BYTES = 131_072 - 512
"""The longest argument in Linux (MAX_ARG_STRLEN), less the text beside the pages' names."""
_PORT_BYTES = len(":443,")
_MAPPING_BYTES = len("MAP  10.77.255.254 , EXCLUDE 10.77.255.254 , ")


def tells_names(plan: Plan) -> bool:
    """Return True when a browser gets the names of pages at its start."""
    return bool(_select_conditions(plan))


def check_told_names(source: str, plan: Plan, hosts: Sequence[str]) -> None:
    """Refuse too many names, for pages over HTTP/3 in Chromium, or with the preset mapping addresses."""
    told = _select_conditions(plan)
    if not told:
        return
    with_addresses = not all(map(browser_looks_up, told))
    beside_bytes = _MAPPING_BYTES if with_addresses else _PORT_BYTES
    names_bytes = sum(len(host) + beside_bytes for host in hosts)
    if names_bytes > LONGEST_ARGUMENT_BYTES:
        problem = f"chromium cannot be told {len(hosts)} host names for HTTP/3: one argument has room for some thousand"
        raise ConfigurationError(f"{source}: factors.page: {problem}; leave pages out, or take h1 or h2, or firefox")


def _select_conditions(plan: Plan) -> list[Condition]:
    if plan.kind is not TrialKind.PAGE_LOAD:
        return []
    chromium = [one for one in plan.conditions() if one.browser_kind is not BrowserKind.FIREFOX]
    return [one for one in chromium if one.http_version is HttpVersion.H3]
