"""browsertime's command line, and a run of browsertime in a path's client host.

For: an invocation with some iterations, the usual way of using browsertime. Not for: the times of running (`measure`),
or reading its result (`browsertime_result`).

browsertime runs stock, with few exceptions. The lab needs some: the sandbox off, as in resolab; only the lab's names
resolvable; HTTP/3 off. Others only save time here: no HAR, and no waiting once the page is complete (its default is 8
s). The browser is resolab's own, with Debian's driver, and trusts the lab by the same certificate database.
Certificates are checked, as in resolab's loads; browsertime's default is no check.
"""

import asyncio
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.common.servers import ROOT
from benches.peers.browsertime_result import PeerLoad, parse
from resolab.basics.errors import MachineError
from resolab.browser import BrowserSettings
from resolab.browser.chromium.profile import ChromiumHome
from resolab.browser.find import chromium_version, find_chromium
from resolab.browser.process import NOT_PASSED_ON, tie
from resolab.lab import engine, layout
from resolab.lab.engine.programs import LOGGING_VARIABLES
from resolab.lab.scratch import scratch_folder
from resolab.trials.page_load.browser_setup import NAMES_OF_THE_LAB

FOLDER = ROOT / ".setup/browsertime/node_modules/browsertime"
SCRIPT = Path(__file__).with_name("load.js")
LOAD_TIMEOUT_S = 90.0
"""The time limit of an iteration: several of browsertime's own tries."""
LINES_SHOWN_COUNT = 5
CHROMIUM_ARGUMENTS = (
    "no-sandbox",
    "disable-quic",
    "host-resolver-rules=MAP * ~NOTFOUND , " + " , ".join(f"EXCLUDE {name}" for name in NAMES_OF_THE_LAB),
)
SHORT_WAITS = ("--pageCompleteCheckStartWait", "1000", "--pageCompleteCheckPollTimeout", "100")
"""Instead of browsertime's defaults: 5 s before the first check of the page's completeness, then every 1.5 s."""


@dataclass(frozen=True)
class Peer:
    """browsertime on this machine, with its path."""

    node: str
    chromedriver: str
    path_pid: int
    home: ChromiumHome
    short_waits: bool

    async def loads(self, site: layout.PageSite, count: int) -> tuple[list[PeerLoad], float]:
        """Load a page `count` times in one invocation; return the loads and the total time in s."""
        with tempfile.TemporaryDirectory(dir=self.home.folder) as folder:
            began_s = time.monotonic()
            said = await self._run([*self._prefix(), *self.command(site.url, count, Path(folder))], count)
            seconds = time.monotonic() - began_s
            try:
                result = (Path(folder) / "browsertime.json").read_text("utf-8")
            except FileNotFoundError:
                raise MachineError(f"could not run browsertime: it left no result and said: {said}") from None
            return parse(result, count, site.request_count), seconds

    def command(self, url: str, count: int, folder: Path) -> list[str]:
        """Build the command line of browsertime."""
        chromium = [f"--chrome.args={argument}" for argument in CHROMIUM_ARGUMENTS]
        return [
            *[self.node, str(FOLDER / "bin/browsertime.js"), "--browser", "chrome", "--headless"],
            *["--chrome.binaryPath", str(find_chromium()), "--chrome.chromedriverPath", self.chromedriver],
            *[*chromium, "--chrome.ignoreCertificateErrors=false"],
            *["--iterations", str(count), "--skipHar", *waits(short=self.short_waits), "--script", str(SCRIPT)],
            *["--resultDir", str(folder), "--output", "browsertime", url],
        ]

    def _prefix(self) -> list[str]:
        prefix = engine.enter_prefix(self.path_pid, "client", nameserver=layout.RESOLVER_ADDRESS)
        return [*tie(), *prefix]

    def _environment(self) -> dict[str, str]:
        left_out = (*NOT_PASSED_ON, *LOGGING_VARIABLES)
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return kept | {"HOME": str(self.home.folder), "TMPDIR": str(self.home.temporary_folder)}

    async def _run(self, command: Sequence[str], count: int) -> str:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self._environment(),
            cwd=self.home.folder,
        )
        try:
            said, _ = await asyncio.wait_for(process.communicate(), count * LOAD_TIMEOUT_S)
        except TimeoutError:
            raise MachineError(f"browsertime did not end within {count * LOAD_TIMEOUT_S:g} s") from None
        finally:
            # All it started is in the client host's process namespace, and ends with this.
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        return " / ".join(said.decode(errors="replace").strip().splitlines()[-LINES_SHOWN_COUNT:])


@contextlib.contextmanager
def prepare_browsertime(path_pid: int, ca_file: Path, *, short_waits: bool) -> Iterator[Peer]:
    """Make browsertime ready for a path and its edge's authority; remove its remains at the end."""
    node, chromedriver = programs()
    with scratch_folder() as folder:
        home = ChromiumHome(BrowserSettings(resolvable_names=NAMES_OF_THE_LAB, ca_file=ca_file, scratch_folder=folder))
        try:
            yield Peer(node, chromedriver, path_pid, home, short_waits)
        finally:
            home.remove()


def waits(*, short: bool) -> list[str]:
    """Return the arguments about waiting."""
    return ["--pageCompleteWaitTime", "0", *(SHORT_WAITS if short else ())]


def programs() -> tuple[str, str]:
    """Find node and the driver, and check for an installed browsertime."""
    node, chromedriver = shutil.which("node"), shutil.which("chromedriver")
    if node is None or chromedriver is None or not (FOLDER / "package.json").is_file():
        raise MachineError("node, chromedriver or browsertime is not on this machine: run scripts/setup --peers")
    return node, chromedriver


def versions() -> str:
    """Return the names and versions of the programs."""
    node, chromedriver = programs()
    version = json.loads((FOLDER / "package.json").read_text("utf-8"))["version"]
    said = [
        subprocess.run([one, "--version"], capture_output=True, text=True, check=False) for one in (node, chromedriver)
    ]
    driver = " ".join(said[1].stdout.split()[:2])
    return f"browsertime {version}, node {said[0].stdout.strip()}, {driver}, {chromium_version()}"
