"""The report in both browsers at three widths: nothing is cut off, no page scrolls sideways, folded it is short.

Each browser opens a page that holds the report in frames of these widths, measures them, and says what it found.
"""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, Queue
from typing import Any

import pytest
from synthetic_dataset import make_dataset

from resolab.browser.find import find_chromium, find_firefox
from resolab.report import build_report

pytestmark = [pytest.mark.paired, pytest.mark.browser, pytest.mark.slow]
WIDTHS = (360, 768, 1200)
HEIGHT = 900
SCREENS = 6
"""At most, at the widest, with everything folded."""
WAIT_S = 180
MEASURE = """<!doctype html><meta charset="utf-8"><body><script>
const widths = %s;
function cutOff(page, width) {
  // What lies beyond the right edge, and in nothing that scrolls by itself or is folded.
  return [...page.body.querySelectorAll("*")].filter((one) => {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || box.right <= width + 1) return false;
    for (let above = one.parentElement; above; above = above.parentElement) {
      if (page.defaultView.getComputedStyle(above).overflowX !== "visible" && above !== page.body
          && above !== page.documentElement) return false;
      if (above.tagName.toLowerCase() === "svg") return false;
    }
    return true;
  }).slice(0, 5).map((one) => `${one.tagName.toLowerCase()} ${one.className} ${one.textContent.slice(0, 40)}`);
}
async function measured(width) {
  const frame = document.createElement("iframe");
  frame.width = width; frame.height = %d; frame.style.border = "0";
  const loaded = new Promise((done) => { frame.onload = done; });
  frame.src = "index.html"; document.body.append(frame); await loaded;
  const page = frame.contentDocument, root = page.documentElement;
  const look = () => ({ scroll_width: root.scrollWidth, width: root.clientWidth, height: root.scrollHeight, cut_off: cutOff(page, width) });
  const folded = look();
  page.querySelectorAll("details").forEach((one) => { one.open = true; });
  const open = look();
  frame.remove();
  return { folded, open };
}
(async () => {
  const found = {};
  for (const width of widths) found[width] = await measured(width);
  await fetch("/found", { method: "POST", body: JSON.stringify(found) });
})().catch((error) => fetch("/found", { method: "POST", body: JSON.stringify({ error: String(error) }) }));
</script>"""


class Site(SimpleHTTPRequestHandler):
    """The report's folder, and a place for what was found."""

    found: "Queue[dict[str, Any]]" = Queue()

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        Site.found.put(json.loads(self.rfile.read(length)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("report")
    report = build_report(make_dataset(folder / "dataset")).parent
    (report / "measure.html").write_text(MEASURE % (json.dumps(WIDTHS), HEIGHT))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Site, directory=str(report)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/measure.html"
    server.shutdown()
    server.server_close()


def _told(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Have a browser measure the page, and end it."""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as browser:
        try:
            return Site.found.get(timeout=WAIT_S)
        except Empty:
            pytest.fail(f"{command[0]} said nothing in {WAIT_S} s")
        finally:
            os.killpg(browser.pid, signal.SIGKILL)


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def found(request: pytest.FixtureRequest, address: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    profile = tmp_path_factory.mktemp("profile")
    if request.param == "chromium":
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
        command = [str(find_chromium()), *quiet, f"--user-data-dir={profile}", "--remote-debugging-port=0", address]
    else:
        command = [str(find_firefox()), "--headless", "--no-remote", "--profile", str(profile), address]
    # What a killed browser leaves behind goes with its folder; a short name, for the socket in it.
    with tempfile.TemporaryDirectory(prefix="t-", dir="/tmp", ignore_cleanup_errors=True) as temporary:
        told = _told(command, os.environ | {"HOME": str(profile), "TMPDIR": temporary})
    shutil.rmtree(profile, ignore_errors=True)
    assert "error" not in told, told
    return told


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("state", ["folded", "open"])
def test_nothing_is_cut_off_and_the_page_never_scrolls_sideways(found: dict[str, Any], width: int, state: str) -> None:
    seen = found[str(width)][state]
    assert seen["scroll_width"] <= seen["width"], seen
    assert seen["cut_off"] == []


def test_folded_it_is_a_few_screens(found: dict[str, Any]) -> None:
    widest = found[str(WIDTHS[-1])]
    assert widest["folded"]["height"] <= SCREENS * HEIGHT
    assert widest["open"]["height"] > 2 * widest["folded"]["height"]  # else nothing was folded
