"""What `plan check` refuses `run` refuses, with the same words; what it passes, runs.

Some 60 bad plans and pages, of every kind there is: words, numbers, types, tables, combinations, files.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from resolab import campaign
from resolab.cli.main import main

PLAN = """
name = "good"
question = "Is it refused?"
seed = 7
blocks = 6
[factors]
page = ["example", "./shop"]
profile = ["fiber", "4g"]
dns_transport = ["doudp", "doh", "doq"]
http_version = ["h2", "h3"]
requested_handshake_mode = ["full", "resumed"]
[resolver_path]
doudp = "native"
doh = "native"
doq = "stub"
[baseline]
dns_transport = "doudp"
[limits]
page_timeout_s = 20
[instrument]
netlog = false
"""
PAGE = """
host = "shop.resolab.test"
folder = "site"
path = "/"
request_count = 2
"""


class Started(SystemExit):
    """A run got as far as its testbed."""


def changed(old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        file = folder / "plan.toml"
        assert PLAN.count(old) == 1, old
        file.write_text(PLAN.replace(old, new))

    return edit


def added(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "plan.toml").write_text(PLAN + text) and None


def of_page(old: str, new: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        assert PAGE.count(old) == 1, old
        (folder / "shop" / "page.toml").write_text(PAGE.replace(old, new))

    return edit


def bytes_of(content: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / "plan.toml").write_bytes(content) and None


def without(*names: str) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        for name in names:
            target = folder / name
            shutil.rmtree(target) if target.is_dir() else target.unlink()

    return edit


BAD: dict[str, Callable[[Path], None]] = {
    "no TOML": changed('name = "good"', 'name = "good'),
    "nothing in it": bytes_of(b""),
    "not UTF-8": bytes_of(PLAN.replace("refused", "refus\u00e9").encode("latin-1")),
    "not there": without("plan.toml"),
    "no name": changed('name = "good"\n', ""),
    "no question": changed('question = "Is it refused?"\n', ""),
    "no seed": changed("seed = 7\n", ""),
    "no blocks": changed("blocks = 6\n", ""),
    "no factors": changed("[factors]\n", "[factor]\n"),
    "no baseline": changed('[baseline]\ndns_transport = "doudp"\n', ""),
    "name is a path": changed('"good"', '"../good"'),
    "name is a number": changed('"good"', "5"),
    "name is empty": changed('"good"', '""'),
    "seed below 0": changed("seed = 7", "seed = -1"),
    "seed is a text": changed("seed = 7", 'seed = "7"'),
    "seed is huge": changed("seed = 7", f"seed = {2**70}"),
    "blocks is 0": changed("blocks = 6", "blocks = 0"),
    "blocks is huge": changed("blocks = 6", "blocks = 1000000"),
    "blocks is 1.5": changed("blocks = 6", "blocks = 1.5"),
    "blocks is true": changed("blocks = 6", "blocks = true"),
    "unknown key": changed("seed = 7", "seed = 7\nsead = 8"),
    "unknown table": added("[instruments]\n"),
    "unknown factor": changed("http_version =", "http ="),
    "unknown page": changed('"example", ', '"exampel", '),
    "unknown profile": changed('"4g"', '"6g"'),
    "unknown transport": changed('"doh", "doq"', '"dox", "doq"'),
    "unknown version": changed('"h2", "h3"', '"h2", "h4"'),
    "unknown handshake": changed('"resumed"', '"resume"'),
    "unknown browser": changed('http_version = ["h2"', 'browser = ["safari"]\nhttp_version = ["h2"'),
    "levels are no list": changed('["fiber", "4g"]', '"4g"'),
    "no level": changed('["fiber", "4g"]', "[]"),
    "a level twice": changed('["fiber", "4g"]', '["4g", "4g"]'),
    "a level is a number": changed('["fiber", "4g"]', '["fiber", 4]'),
    "no page": changed('page = ["example", "./shop"]\n', ""),
    "resumed over UDP": changed(
        'requested_handshake_mode = ["full"',
        'requested_dns_handshake_mode = ["resumed"]\nrequested_handshake_mode = ["full"',
    ),
    "zero_rtt over TCP": changed('"full", "resumed"', '"full", "zero_rtt"'),
    "DoQ by the browser": changed('doq = "stub"', 'doq = "native"'),
    "a transport without a way": changed('doq = "stub"\n', ""),
    "unknown way": changed('doq = "stub"', 'doq = "tunnel"'),
    "HTTP/1.1 beside DoH": changed('"h2", "h3"', '"h1", "h3"'),
    "discovery over h2": changed('http_version = ["h2"', 'h3_discovery = ["alt_svc"]\nhttp_version = ["h2"'),
    "baseline of no level": changed('[baseline]\ndns_transport = "doudp"', '[baseline]\ndns_transport = "dot"'),
    "baseline of no factor": changed("[baseline]\ndns_transport", "[baseline]\ntransport"),
    "baseline is nothing": changed('[baseline]\ndns_transport = "doudp"', "[baseline]"),
    "excluded baseline": added('[[exclude]]\ndns_transport = ["doudp"]\nhttp_version = ["h2"]\n'),
    "everything excluded": added('[[exclude]]\nprofile = ["fiber", "4g"]\n'),
    "exclude of no factor": added('[[exclude]]\ntransport = ["doh"]\n'),
    "exclude of no word": added('[[exclude]]\ndns_transport = ["dox"]\n'),
    "empty exclude": added("[[exclude]]\n"),
    "timeout of 0": changed("page_timeout_s = 20", "page_timeout_s = 0"),
    "timeout too long": changed("page_timeout_s = 20", "page_timeout_s = 601"),
    "timeout is a text": changed("page_timeout_s = 20", 'page_timeout_s = "20 s"'),
    "17 paths": changed("netlog = false", "paths = 17"),
    "unknown back end": changed("netlog = false", 'backend = "netem"'),
    "pcap is a text": changed("netlog = false", 'pcap = "yes"'),
    "stop without a width": added("[stop]\nmin_blocks = 4\n"),
    "stop with both widths": added("[stop]\nci_width_ms = 5\nci_width_ratio = 0.1\n"),
    "stop below two blocks": added("[stop]\nci_width_ms = 5\nmin_blocks = 1\n"),
    "unknown outcome": added('[analysis]\nprimary_outcome = "speed"\n'),
    "pattern of nothing": changed('"./shop"', '"./shops/*"'),
    "no pages to draw": added("[pages.generated]\ncount = 0\n"),
    "unknown unit": added('[design]\nunit = "site"\n'),
    "page chosen where pages are sampled": added('[[exclude]]\npage = ["shop"]\n[design]\nunit = "page"\n'),
    "more blocks than pages to stop by": added('[stop]\nci_width_ms = 5\n[design]\nunit = "page"\n'),
    "margin below 0": added("[analysis]\nequivalence_margin_ms = -1\n"),
    "too many further names": added("[queries]\nwarm_count = 101\n"),
    "unknown group": added('[key_exchange]\nclient = ["x448"]\n'),
    "page without page.toml": without("shop/page.toml"),
    "page without its site": without("shop/site"),
    "page that is not there": without("shop"),
    "page without host": of_page('host = "shop.resolab.test"\n', ""),
    "page outside the lab": of_page("shop.resolab.test", "shop.example.org"),
    "page with a foreign key": of_page("request_count = 2", "request_count = 2\nrequests = 2"),
    "page without requests": of_page("request_count = 2", "request_count = 0"),
    "page's path without a file": of_page('path = "/"', 'path = "/nowhere.html"'),
    "page's folder above it": of_page('"site"', '"../.."'),
}
GOOD: dict[str, Callable[[Path], None]] = {
    "as it is": lambda folder: None,
    "one block": changed("blocks = 6", "blocks = 1"),
    "evidence": changed("netlog = false", "netlog = true\npcap = true\nkey_log = true"),
    "a stopping rule": added("[stop]\nci_width_ms = 5\n"),
    "something excluded": added('[[exclude]]\ndns_transport = ["doq"]\nhttp_version = ["h2"]\n'),
    "a way of a transport that is not in it": changed('doq = "stub"', 'doq = "stub"\ndot = "stub"'),
    "two paths": changed("netlog = false", "paths = 2"),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "shop" / "site").mkdir(parents=True)
    (tmp_path / "shop" / "page.toml").write_text(PAGE)
    for name in ("index.html", "style.css"):
        (tmp_path / "shop" / "site" / name).write_text("<p>shop")
    (tmp_path / "plan.toml").write_text(PLAN)
    real = campaign.run_campaign

    def started(*_: Any) -> NoReturn:
        raise Started(0)

    monkeypatch.setattr(campaign, "run_campaign", lambda *arguments: real(*arguments, started))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def verdict(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    try:
        code = main(arguments)
    except Started:
        code = 0
    said = capsys.readouterr().err
    return ("passes", "") if code == 0 else (f"refused with {code}", said)


def test_there_are_sixty_of_them() -> None:
    assert len(BAD) >= 60


@pytest.mark.parametrize("name", BAD)
def test_what_check_refuses_run_refuses_with_the_same_words(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BAD[name](folder)
    checked = verdict(["plan", "check", "plan.toml"], capsys)
    ran = verdict(["run", "plan.toml", "--out", "out"], capsys)
    assert checked == ran
    assert checked[0] == "refused with 3", checked
    assert not (folder / "out").exists()


@pytest.mark.parametrize("name", GOOD)
def test_what_check_passes_runs(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    GOOD[name](folder)
    assert verdict(["plan", "check", "plan.toml"], capsys)[0] == "passes"
    assert verdict(["run", "plan.toml", "--out", "out"], capsys)[0] == "passes"
