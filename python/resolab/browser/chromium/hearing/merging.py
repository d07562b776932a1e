"""Events of several sessions as one list, in which an id is one request's. Pure.

For: frames of other sites and workers, which have sessions of their own. A request may be told by two of them: that of
a frame's document begins in the session around the frame and ends in the frame's own. Ids that two processes both gave
away are told apart. Not for: attaching to them (`sessions`) or what the events mean (`recordings.cdp`).
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
"""Told by each session of the frame it is of: only the page's own count."""
SENT = "Network.requestWillBeSent"
ENDS = frozenset({"Network.loadingFinished", "Network.loadingFailed"})


class Merging:
    """Takes events as they come."""

    def __init__(self, main_session: str) -> None:
        self._main = main_session
        self._names: dict[tuple[str, str], str] = {}
        """What a session's id is called."""
        self._first: dict[str, tuple[str, str]] = {}
        """Session that first told of an id, and the URL it asked for last."""
        self.messages: list[Json] = []

    def take(self, session: str, event: str, params: Json) -> bool:
        """Take one event; whether a request began or ended by it."""
        if event in OF_PAGE:
            if session == self._main and self._first:
                self.messages.append({"method": event, "params": params})
            return False
        if event not in OF_NETWORK:
            return False
        identity = str(params.get("requestId", ""))
        name = self._sent(session, identity, params) if event == SENT else self._name(session, identity)
        if name is None:
            return False
        told = params if name == identity else params | {"requestId": name}
        self.messages.append({"method": event, "params": told})
        return event == SENT or event in ENDS

    def _sent(self, session: str, identity: str, params: Json) -> str | None:
        """Name a request that begins, or goes on behind a redirection; none if another session told it already."""
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
