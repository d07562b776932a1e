"""A page of one's own from nothing to a dataset: `page new`, then a plan that names its folder."""

import json

import pytest
from lab import resolab

pytestmark = [pytest.mark.browser, pytest.mark.privileged, pytest.mark.slow]

DOCUMENT = """<!doctype html><title>shop</title>
<img src=/logo.png><script src=https://img.shop.resolab.test/a.js></script><img src=/gone.png><img src=https://cdn.shop.resolab.test/b.png>
<img src=https://www.example.com/c.png>
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory, privileged):
    folder = tmp_path_factory.mktemp("home") / "shop"
    for name, content in {"site/index.html": DOCUMENT, "site/logo.png": "x", "hosts/img/a.js": "1"}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder, resolab("page", "new", folder)


def test_a_first_load_counts_requests_and_names_what_is_missing(shop):
    folder, ended = shop
    assert ended.returncode == 0, ended.stderr
    assert "2 host names, 3 requests" in ended.stdout
    assert "not there: https://shop.resolab.test/gone.png (404)" in ended.stderr
    for name in ("cdn.shop.resolab.test", "www.example.com"):
        assert f"not there: https://{name} (no host of the page has that name)" in ended.stderr
    assert "request_count = 3" in (folder / "page.toml").read_text()


def test_a_plan_beside_it_loads_it(shop, tmp_path):
    folder, _ = shop
    plan = folder.parent / "plan.toml"
    plan.write_text(
        'name = "own"\nquestion = "q?"\nseed = 1\nblocks = 1\n[factors]\npage = ["./shop"]\nprofile = ["ideal"]\n'
        'dns_transport = ["doudp"]\nhttp_version = ["h2"]\nrequested_handshake_mode = ["full"]\n'
        '[resolver_path]\ndoudp = "native"\n[baseline]\ndns_transport = "doudp"\n'
    )
    ended = resolab("run", plan, "--out", tmp_path / "out")
    assert ended.returncode == 0, ended.stderr
    (trial,) = (tmp_path / "out" / "trials").iterdir()
    records = [json.loads(line) for line in trial.read_text().splitlines()]
    (load,) = [one for one in records if one["record"] == "page_load" and one["measured"]]
    assert load.get("failure") is None
    assert records[0]["page"] == "shop"
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["plan_folder"] == str(folder.parent)
