"""Events of several sessions as one list, with one id for each request. Pure.

For: cross-site frames and workers, with their own sessions. Two sessions may report one request: a frame's document
begins in the session around the frame and ends in the frame's own. Equal ids of two processes become distinct names.
Not for: attaching to sessions (`sessions`) or the meaning of events (`recordings.devtools.reader`).
"""

from resolab.browser.remote import Json

OF_NETWORK = frozenset(
    f"Network.{name}"
    for name in (
        "requestWillBeSent",
        "requestWillBeSentExtraInfo",
        "responseReceived",
        "responseReceivedExtraInfo",
        "dataReceived",
        "loadingFinished",
        "loadingFailed",
        "requestServedFromCache",
        "resourceChangedPriority",
        "webSocketCreated",
    )
)
OF_PAGE = frozenset({"Page.domContentEventFired", "Page.loadEventFired"})
"""Reported by each session about its own frame: only the page's events count."""
SENT = "Network.requestWillBeSent"
ENDS = frozenset({"Network.loadingFinished", "Network.loadingFailed"})


class SessionMerger:
    """Takes events as they come."""

    def __init__(self, main_session: str) -> None:
        self._main = main_session
        self._names: dict[tuple[str, str], str] = {}
        """The name for each id of a session."""
        self._first: dict[str, tuple[str, str]] = {}
        """The first session with an id, and the URL of the latest request."""
        self.messages: list[Json] = []

    def take(self, session: str, event: str, params: Json) -> bool:
        """Take one event; return True when the event begins or ends a request."""
        if event in OF_PAGE:
            if session == self._main and self._first:
                self.messages.append({"method": event, "params": params})
            return False
        if event not in OF_NETWORK:
            return False
        identity = str(params.get("requestId", ""))
        name = self._name_request(session, identity, params) if event == SENT else self._name(session, identity)
        if name is None:
            return False
        told = params if name == identity else params | {"requestId": name}
        self.messages.append({"method": event, "params": told})
        return event == SENT or event in ENDS

    def _name_request(self, session: str, identity: str, params: Json) -> str | None:
        """Name a new or redirected request; `None` if another session reported the request already."""
        url = str(params.get("request", {}).get("url", ""))
        first = self._first.get(identity)
        if first is None or first[0] == session or self._goes_on(session, identity, params):
            self._first[identity] = (session if first is None else first[0], url)
            return self._names.setdefault((session, identity), identity)
        if first[1] == url and (session, identity) not in self._names:
            self._names[session, identity] = identity
            return None
        return self._names.setdefault((session, identity), f"{session}.{identity}")

    def _goes_on(self, session: str, identity: str, params: Json) -> bool:
        return "redirectResponse" in params and self._names.get((session, identity), identity) == identity

    def _name(self, session: str, identity: str) -> str:
        return self._names.get((session, identity), identity)
