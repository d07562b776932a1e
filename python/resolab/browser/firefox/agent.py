"""The driver's side of `agent.js`: one method for each function.

For: handing the agent over and calling the agent, every call with a deadline. Not for: the order of calls
(`page_load`).
"""

from importlib.resources import files
from typing import Any

from resolab.basics.records import HttpVersion
from resolab.browser.firefox.marionette import MarionetteConnection
from resolab.browser.remote import ALIVE_TIMEOUT_S, Json
from resolab.browser.result import ClearedState
from resolab.browser.settings import BrowserSettings, H3Discovery
from resolab.browser.timings import BUFFER_SCRIPT

SANDBOX = "resolab"
LONGEST_SCRIPT_MS = 2**31 - 1
"""The longest script limit, in ms: without a limit Marionette does not wait for a script's promise. The driver sets the
deadlines."""
BEGIN_TIMEOUT_S = 60.0
"""The session begins when the browser's own start-up is over."""
CALL_TIMEOUT_S = 10.0


class Agent:
    """The driver's handle of the agent inside one browser."""

    def __init__(self, connection: MarionetteConnection) -> None:
        self._connection = connection

    @classmethod
    async def begin(cls, connection: MarionetteConnection, settings: BrowserSettings) -> tuple["Agent", str]:
        """Open the session and hand the agent over; return the agent and the browser's version."""
        await connection.call("WebDriver:NewSession", {}, timeout_s=BEGIN_TIMEOUT_S)
        await connection.call("WebDriver:SetTimeouts", {"script": LONGEST_SCRIPT_MS})
        await connection.call("Marionette:SetContext", {"value": "chrome"})
        parameters = {
            "names": [*settings.resolvable_names, *([settings.doh.host] if settings.doh else [])],
            "heedAltSvc": settings.h3_discovery is H3Discovery.ALT_SVC and settings.http_version is HttpVersion.H3,
            "pageScript": BUFFER_SCRIPT,
            "width": settings.window_width_px,
            "height": settings.window_height_px,
        }
        agent = cls(connection)
        source = files("resolab.browser.firefox").joinpath("agent.js").read_text("utf-8")
        version = await agent._run(source, parameters, BEGIN_TIMEOUT_S)
        return agent, str(version)

    async def check_alive(self) -> None:
        """Ask for nothing; raises when there is no answer."""
        await self._run("return null", {}, ALIVE_TIMEOUT_S)

    async def call(self, name: str, timeout_s: float = CALL_TIMEOUT_S, **parameters: Any) -> Any:
        """Call one function of the agent."""
        return await self._run(f"return resolab.{name}(arguments[0])", parameters, timeout_s)

    async def run(self, script: str, **parameters: Any) -> Any:
        """Run a further script beside the agent, with access to the agent's functions."""
        return await self._run(script, parameters, CALL_TIMEOUT_S)

    async def clear(self, cleared: ClearedState, *, doh_warmed_by: str | None = None) -> None:
        """Clear exactly the named state, then look a name up to warm the connection to the DoH server again."""
        await self.call(
            "clear",
            dnsCache=cleared.dns_cache,
            httpCache=cleared.http_cache,
            sockets=cleared.sockets,
            tickets=cleared.tickets,
            dohWarmedBy=doh_warmed_by,
        )

    async def _run(self, script: str, parameters: Json, timeout_s: float) -> Any:
        call = {"script": script, "args": [parameters], "sandbox": SANDBOX, "newSandbox": False}
        return await self._connection.call("WebDriver:ExecuteScript", call, timeout_s=timeout_s)
