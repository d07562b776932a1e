"""The life of a browser that any driver has: what a start that fails leaves, when a browser counts as broken, its end.

The browser here is a shell behind a pipe and a driver that writes down what it is asked; no real one is needed.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from resolab.basics.errors import MachineError, ResolabError
from resolab.basics.records import PageFailure
from resolab.browser.home import BrowserHome
from resolab.browser.load_events import ListeningRequest, LoadEvents
from resolab.browser.process import BrowserProcess, build_piped_command
from resolab.browser.remote import BrowserGoneError, CallTimeoutError, RemoteConnection
from resolab.browser.result import LoadRequest, LoadResult, Overhead, PageLoad
from resolab.browser.settings import BrowserSettings
from resolab.browser.stock import StockBrowser

REQUEST = LoadRequest(url="https://a.test/", timeout_s=3)


class Lines:
    def feed(self, chunk: bytes) -> list[bytes]:
        return chunk.splitlines()


class Pipe(RemoteConnection):
    async def call(self, name: str, timeout_s: float) -> Any:
        return await self._ask(name, lambda number: b"%d\n" % number, timeout_s)

    def _dispatch(self, message: Any) -> None:
        self._deliver_answer(message, None, "answer")


class Home(BrowserHome):
    PREFIX = "resolab-test-"

    def _write(self, settings: BrowserSettings) -> None:
        if settings.extra_flags:
            raise MachineError("the home cannot be filled")


class Shell(StockBrowser[Pipe]):
    """Starts `script` as its browser."""

    NAME = "shell"

    def __init__(self, script: str = "exec cat <&3 >&4") -> None:
        super().__init__()
        self.script = script
        self.failure: PageFailure | None = None
        self.alive: Exception | None = None
        self.steps: list[str] = []

    def _find(self) -> Path:
        return Path("/bin/sh")

    async def _begin(self, binary: Path, command_prefix: Sequence[str], settings: BrowserSettings) -> str:
        self._home = Home(settings)
        command = build_piped_command(command_prefix, [str(binary), "-c", self.script])
        self._process = await BrowserProcess.start(command, self._home.folder)
        self._connection = Pipe(*self._process.streams, Lines())
        assert await self._connection.call("version", timeout_s=10) == "answer"
        return "1.2"

    async def _carry_out(self, request: LoadRequest) -> LoadResult:
        measured = PageLoad(url=request.url, measured=True, limit_ms=3000, failure=self.failure)
        return LoadResult(warmup=None, measured=measured, overhead=Overhead())

    async def _listen(self, asked: ListeningRequest) -> LoadEvents:
        return LoadEvents(url=asked.url, browser="shell", version="1.2", failure=self.failure)

    async def _check_alive(self) -> None:
        self.steps.append("asked whether it is alive")
        if self.alive is not None:
            raise self.alive

    async def _ask_to_end(self, connection: Pipe) -> bool:
        self.steps.append("asked to end" if not connection.closed.is_set() else "already closed")
        return False

    def _finish_after_end(self) -> None:
        assert self._process is not None
        assert self._home is not None
        left = "home is left" if self._home.folder.exists() else "home is gone"
        self.steps.append(f"ended, {left}" if not self._process.running else "runs")


def settings_in(folder: Path, **changes: Any) -> BrowserSettings:
    return BrowserSettings(resolvable_names=(), scratch_folder=folder, **changes)


def test_a_life_from_start_to_end_leaves_nothing(tmp_path: Path) -> None:
    async def play() -> None:
        browser = Shell()
        with pytest.raises(ResolabError, match="start it first"):
            await browser.load(REQUEST)
        await browser.start([], settings_in(tmp_path))
        assert (browser.name, browser.version, browser.usable) == ("shell", "1.2", True)
        assert browser.pid is not None
        assert (await browser.load(REQUEST)).failure is None
        assert (await browser.listen(ListeningRequest(url=REQUEST.url, timeout_s=3))).failure is None
        assert browser.steps == []
        await browser.close()
        assert browser.steps == ["asked to end", "ended, home is left"]
        assert (browser.usable, browser.pid) == (False, None)
        await browser.close()
        assert len(browser.steps) == 2

    asyncio.run(play())
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_dies_at_its_start_says_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(
        MachineError, match=r"could not start the browser /bin/sh: version: .*its last words: no screen"
    ):
        asyncio.run(Shell("echo no screen; sleep 0.3; exec 4>&-; sleep 0.2").start([], settings_in(tmp_path)))
    assert list(tmp_path.iterdir()) == []


def test_an_error_that_is_not_the_browsers_is_passed_on_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"^the home cannot be filled$"):
        asyncio.run(Shell().start([], settings_in(tmp_path, extra_flags=("--x",))))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("failure", "alive", "asked", "usable"),
    [
        (PageFailure.DNS, None, True, True),
        (PageFailure.DNS, CallTimeoutError("A", 3), True, False),
        (PageFailure.BROWSER_CRASH, BrowserGoneError("A"), True, False),
        (PageFailure.BROWSER_HANG, None, False, False),
    ],
)
@pytest.mark.parametrize("listening", [False, True], ids=["load", "hear"])
def test_after_a_failed_load_a_browser_is_used_on_only_when_it_answers(
    tmp_path: Path, failure: PageFailure, alive: Exception | None, asked: bool, usable: bool, listening: bool
) -> None:
    async def play() -> None:
        browser = Shell()
        await browser.start([], settings_in(tmp_path))
        browser.failure, browser.alive = failure, alive
        await (browser.listen(ListeningRequest(url=REQUEST.url, timeout_s=3)) if listening else browser.load(REQUEST))
        assert (browser.steps, browser.usable) == (["asked whether it is alive"] * asked, usable)
        await browser.start([], settings_in(tmp_path))
        assert browser.usable
        await browser.close()

    asyncio.run(play())
    assert list(tmp_path.iterdir()) == []
