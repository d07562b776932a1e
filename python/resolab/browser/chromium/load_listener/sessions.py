"""Every session below a tab: cross-site frames, nested frames, and all workers, heard from their first request on.

For: attaching to a target before the target runs (the target waits), and enabling the events: requests, with stacks
through timers and promises. Not for: the use of the events (`session_merger`, `listener`).
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from resolab.browser.chromium.cdp import CdpConnection, retrieve_error
from resolab.browser.remote import REMOTE_ERRORS, Json

STACK_DEPTH = 8
"""The depth of stacks through timers and promises: without such stacks, images made by scripts have no script."""
_ATTACHED: Json = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}
_PREPARATION: tuple[tuple[str, Json], ...] = (
    ("Page.enable", {}),
    # Bodies, those of requests among them, are never asked for, so the browser need not keep them.
    ("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0, "maxPostDataSize": 0}),
    ("Debugger.enable", {}),
    ("Debugger.setSkipAllPauses", {"skip": True}),
    ("Debugger.setAsyncCallStackDepth", {"maxDepth": STACK_DEPTH}),
    ("Target.setAutoAttach", _ATTACHED),
)
_GO: tuple[str, Json] = ("Runtime.runIfWaitingForDebugger", {})
_DIALOG = "Page.javascriptDialogOpening"


class Sessions:
    """The sessions of one tab; `take` gets the session, name and parameters of each event."""

    def __init__(self, connection: CdpConnection, take: Callable[[str, str, Json], None]) -> None:
        self._connection = connection
        self._take = take
        self._heard: list[str] = []
        self._calls: set[asyncio.Task[Json]] = set()

    async def begin(self, session: str) -> None:
        """Listen to the tab itself, still blank; on return the tab is heard."""
        # Shared workers are nobody's below the tab; only the browser itself tells of them.
        self._connection.listen(None, partial(self._event, ""))
        shared = self._connection.call("Target.setAutoAttach", _ATTACHED | {"filter": [{"type": "shared_worker"}]})
        await asyncio.gather(shared, *self._prepare(session, _PREPARATION))

    async def end(self) -> None:
        """Listen to nothing any more."""
        for session in (None, *self._heard):
            self._connection.listen(session, None)
        with suppress(*REMOTE_ERRORS):  # The load's own failure says why.
            await self._connection.call("Target.setAutoAttach", _ATTACHED | {"autoAttach": False})

    def _prepare(self, session: str, calls: tuple[tuple[str, Json], ...]) -> list[asyncio.Task[Json]]:
        """Send the calls in this order; a target keeps the order."""
        self._heard.append(session)
        self._connection.listen(session, partial(self._event, session))
        return [self._call(session, method, params) for method, params in calls]

    def _call(self, session: str, method: str, params: Json) -> asyncio.Task[Json]:
        # What a target cannot do (workers have no Page) or did not live to do is no loss.
        call = asyncio.create_task(self._connection.call(method, params, session_id=session))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        call.add_done_callback(retrieve_error)
        return call

    def _event(self, session: str, event: str, params: Json) -> None:
        if event == "Target.attachedToTarget":
            self._prepare(params["sessionId"], (*_PREPARATION, _GO))
        elif event == _DIALOG:
            # Whoever listens to a page has its dialogs to close; nothing of it goes on meanwhile.
            self._call(session, "Page.handleJavaScriptDialog", {"accept": False})
        else:
            self._take(session, event, params)
