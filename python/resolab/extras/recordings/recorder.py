"""One load of any public page, listened to in a browser of this machine, as a page model.

For: the browser's life and settings for pages outside the lab, and each failure as an error of one line. Not for:
listening (`browser`) or meaning (`browser_load`).
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import resolab
from resolab.basics.errors import ConfigurationError, DeadlineError, MachineError, ResolabError
from resolab.basics.records import BrowserKind, HttpVersion, PageFailure
from resolab.browser import Browser, BrowserSettings, Chromium, Firefox, H3Discovery, ListeningRequest, LoadEvents
from resolab.extras.recordings.browser_load import read_browser_load
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import PageModel

_NATURAL: dict[str, bool | int | str] = {
    # As Firefox comes: both ways to HTTP/3, and IPv6.
    "network.dns.use_https_rr_as_altsvc": True,
    "network.dns.disableIPv6": False,
}
_NO_SANDBOX = "the browser's own sandbox is off, so the page's code has"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingOptions:
    """The options of a recording."""

    url: str
    name: str
    browser: BrowserKind
    timeout_s: float
    quiet_after_s: float
    ca_file: Path | None
    keep_names: bool


async def record(wish: RecordingOptions, say: Callable[[str], None]) -> PageModel:
    """Load the page once and make the model; `say` receives messages for the user."""
    browser: Browser = Chromium() if wish.browser is BrowserKind.CHROMIUM else Firefox()
    try:
        await _start(browser, wish, say)
        request = ListeningRequest(url=wish.url, timeout_s=wish.timeout_s, quiet_after_s=wish.quiet_after_s)
        heard = await browser.listen(request)
    finally:
        await browser.close()
    if heard.failure is not None:
        raise _error(heard, wish)
    recording = read_browser_load(heard)
    recording.creator = f"resolab {resolab.__version__}"
    recording.recorded = time.strftime("%Y-%m", time.gmtime())
    return build(recording, wish.name, keep_names=wish.keep_names)


async def _start(browser: Browser, wish: RecordingOptions, say: Callable[[str], None]) -> None:
    """Start the browser, with the sandbox where possible."""
    is_root = os.geteuid() == 0
    if wish.browser is not BrowserKind.CHROMIUM:
        await browser.start([], _settings(wish, own_sandbox=False))
    elif is_root:
        say(f"{_NO_SANDBOX} root's rights; better record as an ordinary user")
        await browser.start([], _settings(wish, own_sandbox=False))
    else:
        try:
            await browser.start([], _settings(wish, own_sandbox=True))
        except MachineError as error:
            if "sandbox" not in str(error):
                raise
            say(f"{_NO_SANDBOX} your rights; with user namespaces, or the package chromium-sandbox, it would be on")
            await browser.start([], _settings(wish, own_sandbox=False))


def _settings(wish: RecordingOptions, *, own_sandbox: bool) -> BrowserSettings:
    return BrowserSettings(
        resolvable_names=("*",),
        http_version=HttpVersion.H3,
        h3_discovery=H3Discovery.ALT_SVC,
        ca_file=wish.ca_file,
        own_sandbox=own_sandbox,
        extra_preferences=_NATURAL if wish.browser is BrowserKind.FIREFOX else {},
    )


def _error(heard: LoadEvents, wish: RecordingOptions) -> ResolabError:
    problem, kind = _PROBLEMS.get(heard.failure or PageFailure.OTHER, _OTHER)
    told = problem.format(timeout_s=wish.timeout_s, status=heard.status)
    detail = f" ({heard.failure_detail})" if heard.failure_detail and kind is not DeadlineError else ""
    return kind(f"could not record {wish.url}: {told}{detail}")


_OTHER: tuple[str, type[ResolabError]] = ("its load failed", ConfigurationError)
_LOST: tuple[str, type[ResolabError]] = ("the browser did not outlive it; try once more", MachineError)
_PROBLEMS: dict[PageFailure, tuple[str, type[ResolabError]]] = {
    PageFailure.DNS: ("its name was not resolved; look it up, or mend the URL", ConfigurationError),
    PageFailure.CONNECT: ("no connection, or one that broke", ConfigurationError),
    PageFailure.TLS: ("its certificate was refused; a private authority is trusted with --ca FILE", ConfigurationError),
    PageFailure.HTTP_STATUS: ("the server answered with no page", ConfigurationError),
    PageFailure.PAGE_TIMEOUT: ("no load event within {timeout_s:g} s; give more with --timeout", DeadlineError),
    PageFailure.BROWSER_CRASH: _LOST,
    PageFailure.BROWSER_HANG: _LOST,
    PageFailure.DRIVER: _LOST,
}
