"""The user agents of browsers loading strangers' pages: the browser's own, followed by the operator.

For: pure text. Not for: the suffix's URL (`manners`), or setting the user agent (`browsers`). The browser's own part
stays complete: a headless Chromium says so.
"""

import platform

from resolab.basics.records import BrowserKind
from resolab.plan.manners import user_agent_suffix


def user_agent(browser: BrowserKind, version: str, operator_url: str) -> str:
    """Return the user agent of a browser of this version, such as `156.0.8078.79`, on this machine."""
    system, major = f"Linux {platform.machine()}", version.partition(".")[0]
    own = {
        BrowserKind.CHROMIUM: f"Mozilla/5.0 (X11; {system}) AppleWebKit/537.36 (KHTML, like Gecko) "
        f"HeadlessChrome/{major}.0.0.0 Safari/537.36",
        BrowserKind.FIREFOX: f"Mozilla/5.0 (X11; {system}; rv:{major}.0) Gecko/20100101 Firefox/{major}.0",
    }
    return f"{own[browser]} {user_agent_suffix(operator_url)}"


def version_number(told: str) -> str:
    """Return the number in a browser's version text, e.g. of `Mozilla Firefox 153.7.0esr`."""
    return next((word for word in told.split() if word[:1].isdigit()), "0")
