"""One tab: navigate once, wait for the load event, read the accounts.

For: turning any navigation, successful or failed, into a `PageLoad` within its limit. Not for: the order of warm-up,
clearing and measurement (`page_load`).
"""

import asyncio
import base64
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from resolab.basics.records import PageFailure
from resolab.browser import failures
from resolab.browser.firefox.agent import Agent
from resolab.browser.firefox.failures import classify_error_name
from resolab.browser.firefox.network_log import document_status, network_requests
from resolab.browser.firefox.page_report import page_script, read_account
from resolab.browser.remote import ALIVE_TIMEOUT_S, REMOTE_ERRORS, Json
from resolab.browser.result import PageLoad
from resolab.browser.timings import page_timings, resource_records

PARTIAL_S = 2.0
"""The agent's extra time beyond the limit for asking an unfinished page for its progress, in s."""
COLLECT_S = 12.0


class FirefoxPage:
    """One tab of a browser context."""

    def __init__(self, agent: Agent, tab: int, screenshot_folder: Path | None) -> None:
        self._agent = agent
        self._tab = tab
        self._screenshot_folder = screenshot_folder

    @classmethod
    async def open(
        cls, agent: Agent, context_id: int, url: str, *, wait: bool, screenshot_folder: Path | None
    ) -> "FirefoxPage":
        """Open a blank tab in the process `url` will be in."""
        return cls(agent, await agent.call("open", contextId=context_id, url=url, wait=wait), screenshot_folder)

    async def close(self) -> None:
        """Close the tab and with it every open request."""
        await self._agent.call("close", tab=self._tab)

    async def load(self, url: str, timeout_s: float, *, measured: bool) -> PageLoad:
        """Navigate and wait for the load event, at most `timeout_s`; failures of the page or browser never raise."""
        load = PageLoad(url=url, measured=measured, limit_ms=timeout_s * 1000)
        try:
            answer = await self._navigate(url, timeout_s)
            load = _page_load(load, answer)
            if load.failure is not None and self._screenshot_folder is not None:
                load = msgspec.structs.replace(load, screenshot_file=await self._screenshot(self._screenshot_folder))
        except REMOTE_ERRORS as error:
            load = msgspec.structs.replace(load, failure=failures.classify_exception(error), failure_detail=str(error))
        return load

    async def _navigate(self, url: str, timeout_s: float) -> Json:
        call = asyncio.ensure_future(
            self._agent.call(
                "load",
                timeout_s + PARTIAL_S + COLLECT_S + ALIVE_TIMEOUT_S,
                tab=self._tab,
                url=url,
                limitMs=timeout_s * 1000,
                script=page_script(partial=False),
                partialScript=page_script(partial=True),
            )
        )
        try:
            await asyncio.wait({call}, timeout=timeout_s + PARTIAL_S)
            if not call.done():
                # Late: either the load event came and the page is still being asked, or the browser itself is silent.
                await self._agent.check_alive()
            answer: Json = await call
        finally:
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
        return answer

    async def _screenshot(self, folder: Path) -> Path | None:
        with suppress(*REMOTE_ERRORS):
            encoded = await self._agent.call("screenshot", tab=self._tab)
            if encoded:
                file = folder / f"firefox-{time.time_ns()}.png"
                await asyncio.to_thread(file.write_bytes, base64.b64decode(encoded))
                return file
        return None


def _page_load(empty: PageLoad, answer: Json) -> PageLoad:
    """Judge the agent's answer."""
    rows, account = answer["network"], read_account(answer["account"])
    status = document_status(rows)
    failure, detail = _failure(answer, account, status, empty.limit_ms)
    if failure is PageFailure.PAGE_TIMEOUT and account.get("navigation"):
        account["navigation"]["loadEventStart"] = 0  # One that came after the limit does not count.
    return msgspec.structs.replace(
        empty,
        timings=page_timings(account),
        resources=resource_records(account),
        network=network_requests(rows),
        status=status,
        console_errors=account.get("consoleErrors", []),
        failure=failure,
        failure_detail=detail,
    )


def _failure(answer: Json, account: Json, status: int | None, limit_ms: float) -> tuple[PageFailure | None, str | None]:
    outcome, error = answer["outcome"], answer["error"]
    of_status = failures.classify_status(status)
    failure: tuple[PageFailure | None, str | None] = (None, None)
    if outcome == "timeout":
        failure = PageFailure.PAGE_TIMEOUT, f"no load event within {limit_ms / 1000:g} s"
    elif outcome == "crashed":
        failure = PageFailure.BROWSER_CRASH, "the page's process died"
    elif of_status is not None:
        failure = of_status, f"status {status}"
    elif outcome == "failed":
        failure = classify_error_name(error), error
    elif answer["hung"]:
        failure = PageFailure.PAGE_TIMEOUT, "the page no longer answered after its load event"
    elif not account:
        failure = PageFailure.OTHER, f"the answer is no page: {answer['account'] or 'nothing stands in its place'}"
    return failure
