"""The errors on the console, from the page and from the browser.

For: asking for errors after a load, so no listener runs during the measurement. The renderer keeps its messages and
sends them again after the domains are enabled. Not for: warnings and notes, or failed requests' details
(`network_log`).
"""

import asyncio

from resolab.browser.chromium.cdp import Session
from resolab.browser.remote import Json

ERRORS_KEPT = 50
LENGTH_KEPT = 500
_LEVELS = frozenset({"error", "assert"})


class Console:
    """The console errors of one tab's present document."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._errors: list[tuple[float, str]] = []

    async def ask(self, timeout_s: float) -> None:
        """Ask the browser for the kept messages; the events come before the answers."""
        self._errors.clear()
        domains = ("Runtime", "Log")
        await asyncio.gather(*(self._session.call(f"{domain}.enable", timeout_s=timeout_s) for domain in domains))
        await asyncio.gather(*(self._session.call(f"{domain}.disable", timeout_s=timeout_s) for domain in domains))

    def take(self, event: str, params: Json) -> None:
        """Take one event; ignore events of other domains."""
        if event == "Runtime.consoleAPICalled" and params["type"] in _LEVELS:
            words = " ".join(_words(argument) for argument in params["args"])
            self._keep(params["timestamp"], f"console.{params['type']}: {words}", params.get("stackTrace"))
        elif event == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", "").partition("\n")[0]
            self._keep(params["timestamp"], f"{details['text']} {thrown}".strip(), {"callFrames": [details]})
        elif event == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            self._keep(entry["timestamp"], f"{entry['source']}: {entry['text']}", {"callFrames": [entry]})

    def errors(self) -> list[str]:
        """Build the lines, in the order they were written."""
        return [text for _, text in sorted(self._errors, key=lambda error: error[0])]

    def _keep(self, timestamp: float, text: str, stack: Json | None) -> None:
        if len(self._errors) == ERRORS_KEPT:
            return
        frame: Json = next(iter((stack or {}).get("callFrames", [])), {})
        place = f" ({frame['url']}:{frame.get('lineNumber', 0) + 1})" if frame.get("url") else ""
        self._errors.append((timestamp, text[: LENGTH_KEPT - len(place)] + place))


def _words(argument: Json) -> str:
    if "value" in argument:
        return str(argument["value"])
    return str(argument.get("description", argument["type"])).partition("\n")[0]
