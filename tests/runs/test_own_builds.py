"""A plan with the stock Chromium under a second name: loads, records and report, as of a build of one's own."""

import json

import pytest
from lab import finished, resolab

from resolab.basics.records import BrowserKind, PageLoadRecord
from resolab.browser import find_chromium
from resolab.store import read_trial

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]
PLAN = """
name = "own-build"
question = "Does a build at a path load pages?"
seed = 1
blocks = 1
[browser.mine]
kind = "chromium"
path = "{path}"
[factors]
page = ["example"]
profile = ["fiber"]
dns_transport = ["doudp"]
http_version = ["h3"]
requested_handshake_mode = ["full"]
browser = ["mine", "chromium"]
[resolver_path]
doudp = "native"
[baseline]
browser = "chromium"
"""


def test_a_build_at_a_path_loads_pages_beside_the_stock_browser(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.format(path=find_chromium()))
    folder = tmp_path / "dataset"
    assert resolab("run", tmp_path / "plan.toml", "--out", folder).returncode == 0
    trials = [list(read_trial(file)) for file in finished(folder)]
    kinds = {trial[0].browser: trial[0].browser_kind for trial in trials}
    assert kinds == {"mine": BrowserKind.CHROMIUM, "chromium": None}
    loads = [one for trial in trials for one in trial if isinstance(one, PageLoadRecord) and one.measured]
    assert [one.failure for one in loads] == [None, None]
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    digests = {one["sha256"] for one in manifest["browser_programs"].values()}
    assert len(digests) == 1
    # The report knows the build from the dataset alone.
    (tmp_path / "plan.toml").unlink()
    assert resolab("report", folder).returncode == 0
    assert "browser mine" in (folder / "report" / "index.html").read_text("utf-8")
