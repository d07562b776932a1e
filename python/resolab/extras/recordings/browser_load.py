"""The requests heard in a browser of ours, as a recording.

For: `page record`, and loads of clones for a comparison with their models. Not for: listening (`browser`).
"""

from collections.abc import Callable, Mapping

from resolab.basics.errors import ConfigurationError
from resolab.browser import LoadEvents
from resolab.extras.recordings.devtools.reader import make_recording
from resolab.extras.recordings.firefox_load import add_exchanges
from resolab.extras.recordings.recording import Recording
from resolab.extras.recordings.values import same_url

FORM = "record"


def read_browser_load(heard: LoadEvents) -> Recording:
    """Make the recording, also of a failed load with at least one request."""
    shown = f"what {heard.browser} was heard to ask for"
    found = _READERS[heard.browser](heard, shown)
    found.url = same_url(heard.url)
    found.browser = f"{heard.browser.capitalize()} {heard.version}"
    return found


def _read_chromium(heard: LoadEvents, shown: str) -> Recording:
    found = Recording(form=FORM, exchanges=[], async_stacks=True, is_parser_sure=True)
    return make_recording(heard.messages, found, shown, goes_on=True)


def _read_firefox(heard: LoadEvents, shown: str) -> Recording:
    found = Recording(form=FORM, exchanges=[], is_parser_sure=True)
    found.loaded_ms, found.complete_ms = heard.loaded_unix_ms, heard.complete_unix_ms
    add_exchanges(heard.rows, found)
    if not found.exchanges:
        raise ConfigurationError(f"failed to read {shown}: it has no request of a page")
    return found


_READERS: Mapping[str, Callable[[LoadEvents, str], Recording]] = {"chromium": _read_chromium, "firefox": _read_firefox}
