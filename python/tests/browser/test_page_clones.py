"""The page clones as both browsers paint them: what scripts put in is seen in pixels, not only found in the document."""

import asyncio
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from resolab.basics.errors import MachineError
from resolab.browser import BrowserSettings, Chromium, LoadRequest, PageLoad, find_chromium

sys.path.insert(0, str(Path(__file__).parent))
from site_server import SiteServer

pytestmark = pytest.mark.browser
PAGES = Path(__file__).parents[3] / "pages"
WIDTH, HEIGHT = 1280, 720
FIREFOX_PREFERENCES = """
user_pref("network.proxy.type", 1);
user_pref("network.proxy.http", "127.0.0.1");
user_pref("network.proxy.http_port", 9);
user_pref("network.proxy.ssl", "127.0.0.1");
user_pref("network.proxy.ssl_port", 9);
user_pref("network.proxy.no_proxies_on", "127.0.0.1");
"""
Region = tuple[int, int, int, int]
"""Left, top, width, height in px, some px inside what is expected there."""
FORM: Region = (705, 65, 330, 20)
BUTTON: Region = (725, 285, 290, 50)
BANNER: Region = (5, 565, 1000, 110)


def work_colour() -> str:
    spec = importlib.util.spec_from_file_location("make_clones", PAGES / "make_clones.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.work_colour(module.WORK_ROUNDS)


EXPECTED: Mapping[str, Mapping[Region, str]] = {
    "example": {(5, 5, 300, 700): "#f0f0f2"},
    "wikipedia": {
        (225, 77, 185, 170): "#999999",  # logo.png
        (425, 212, 38, 38): "#888888",  # sprite.svg, by the style
        (5, 5, 200, 700): "#ffffff",
    },
    "instagram": {
        (105, 65, 190, 50): "#222222",  # logo.png
        (705, 445, 150, 38): "#555555",  # store-1.png
        (885, 445, 150, 38): "#888888",  # store-2.png
        FORM: "#d0e8d0",
        (730, 95, 280, 30): "#ffffff",  # its first field
        BUTTON: work_colour(),  # the last round's result: the scripts have computed all of it
        BANNER: "#402060",
        (5, 685, 1270, 30): "#fafafa",
    },
}


def _chromium() -> Path:
    try:
        return find_chromium()
    except MachineError as error:
        pytest.skip(f"REAL BROWSER NOT TESTED: {error}")


def chromium_command(url: str, picture: Path, folder: Path) -> list[str]:
    return [
        str(_chromium()), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", f"--user-data-dir={folder}",
        f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}", url,
    ]  # fmt: skip


def firefox_command(url: str, picture: Path, folder: Path) -> list[str]:
    binary = shutil.which("firefox-esr")
    if binary is None:
        pytest.skip("REAL BROWSER NOT TESTED: there is no firefox-esr")
    (folder / "user.js").write_text(FIREFOX_PREFERENCES)
    window = f"--window-size={WIDTH},{HEIGHT}"
    return [binary, "--headless", "--no-remote", "--profile", str(folder), window, "--screenshot", str(picture), url]


COMMANDS = {"chromium": chromium_command, "firefox": firefox_command}


def painted(browser: str, url: str, folder: Path) -> np.ndarray:
    """What the browser shows of a page, as colours of 0 to 255."""
    picture, profile = folder / "picture.png", folder / "profile"
    profile.mkdir()
    command = COMMANDS[browser](url, picture, profile)
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    subprocess.run(command, capture_output=True, timeout=90, check=True, env=environment)
    colours = np.rint(matplotlib.image.imread(picture)[:, :, :3] * 255)
    assert colours.shape == (HEIGHT, WIDTH, 3)
    return colours


def wrong(colours: np.ndarray, expected: Mapping[Region, str]) -> dict[Region, str]:
    """Regions that are not throughout of the colour they must be, with what one of their points shows."""
    found = {}
    for (left, top, width, height), colour in expected.items():
        region = colours[top : top + height, left : left + width]
        asked = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        if np.abs(region - asked).max() > 2:
            found[left, top, width, height] = "#{:02x}{:02x}{:02x}".format(*region[0, 0].astype(int))
    return found


@pytest.mark.parametrize("page", EXPECTED)
@pytest.mark.parametrize("browser", COMMANDS)
def test_the_page_is_painted_as_it_is_meant(browser: str, page: str, tmp_path: Path) -> None:
    server = SiteServer(PAGES / page / "site")
    try:
        assert wrong(painted(browser, server.url, tmp_path), EXPECTED[page]) == {}
    finally:
        server.close()


def test_what_a_script_puts_in_is_not_there_without_it(tmp_path: Path) -> None:
    without = frozenset({"/consent.js", "/login.js", "/store-1.png"})
    server = SiteServer(PAGES / "instagram" / "site", without)
    try:
        colours = painted("chromium", server.url, tmp_path)
    finally:
        server.close()
    assert set(wrong(colours, EXPECTED["instagram"])) >= {FORM, BUTTON, BANNER, (705, 445, 150, 38)}
    assert (105, 65, 190, 50) not in wrong(colours, EXPECTED["instagram"])


def test_a_measured_load_waits_for_what_the_scripts_compute_and_ask_for() -> None:
    _chromium()
    server = SiteServer(PAGES / "instagram" / "site")
    try:
        load = asyncio.run(_load(server.url))
    finally:
        server.close()
    assert load.failure is None, load.failure_detail
    assert load.timings is not None
    assert load.timings.plt_ms is not None
    assert load.timings.request_count == 13
    ends = {item.url.rpartition("/")[2]: item.response_end_ms for item in load.resources}
    assert {"logo.png", "store-1.png", "store-2.png"} <= set(ends)
    assert all(end is not None and end <= load.timings.plt_ms for end in ends.values())
    # 210 million multiplications, each waiting for the one before, take 0.15 s of the best processor there is.
    assert load.timings.dom_content_loaded_ms is not None
    assert load.timings.dom_content_loaded_ms > 100


async def _load(url: str) -> PageLoad:
    chromium = Chromium()
    try:
        async with asyncio.timeout(60):
            await chromium.start([], BrowserSettings(resolvable_names=("127.0.0.1",)))
            return (await chromium.load(LoadRequest(url=url, timeout_s=30, warmup=False))).measured
    finally:
        await chromium.close()
