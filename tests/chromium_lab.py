"""An edge behind a path with a site for each way HTTP/3 is found, and loads of it with what the edge recorded of them."""

import asyncio
import contextlib
import statistics
from dataclasses import dataclass
from pathlib import Path

from edge_under_test import Edge, connection_of
from lab import ROOT
from real_servers import core_program

from resolab.browser import BrowserSettings, ClearedState, LoadRequest, LoadResult
from resolab.lab.engine import enter_prefix, find_core

RESOLVER, ADDRESS, NETWORK = "dns.resolab.test", "10.77.0.1", "10.77.1."
PLAIN, ADVERTISED, ALTERNATIVE = "plain.resolab.test", "record.resolab.test", "alternative.resolab.test"
"""Hosts without any hint of HTTP/3, with an HTTPS record, with Alt-Svc."""
PAGE = (
    "<!doctype html><link rel=icon href=data:,><title>t</title><h1>Words</h1>"
    "<img src=first.svg><script src=script.js></script>"
)
PICTURE = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
CONFIGURATION = f"""
[ca]
folder = "ca"
[resolver]
name = "{RESOLVER}"
addresses = ["{ADDRESS}"]
ticket_policy = "none"
[[zone]]
name = "www.gstatic.com" # Chromium asks every DoH server for it until it gets an answer.
type = "A"
value = "10.77.1.254"
"""
SITE = """
[[site]]
host = "{host}"
address = "{address}"
folder = "site"
https_record = {https_record}
alt_svc = {alt_svc}
"""
TIMEOUT_S = 20
SETTLE_S = 0.1
"""For what was closed to arrive."""
PROBED_AFTER_S = 6.0
"""By then Chromium has probed its DoH server, which it does 5 s after its start."""


@dataclass(frozen=True)
class Load:
    """A load and the edge's records before and after the warm-up's end."""

    result: LoadResult
    before: list[dict]
    after: list[dict]

    @property
    def measured(self):
        return self.result.measured

    def document(self, *, warmup=False):
        """The document's request with its connection's record."""
        records = self.before if warmup else self.after
        (request,) = [
            one for one in records if one["record"] == "edge_request" and (one["method"], one["path"]) == ("GET", "/")
        ]
        return request, connection_of(request, self.before + self.after)

    def queries(self, *, warmup=False):
        """Look-ups of the page's name."""
        host = self.result.measured.url.split("/")[2]
        records = self.before if warmup else self.after
        return [one for one in records if one["record"] == "edge_query" and one["qname"].lower().rstrip(".") == host]


RACES_COUNT = 3
"""Loads in which HTTP/3 races TCP: a machine that stops for a moment can turn one, a wrong program turns all."""


def usual_winner(loads):
    """The first of the loads whose document came by the version that most of them came by."""
    versions = [load.document()[0]["http_version"] for load in loads]
    return loads[versions.index(statistics.mode(versions))]


@dataclass(frozen=True)
class Lab:
    """A path with the edge behind it."""

    path_pid: int
    edge: Edge
    folder: Path

    def prefix(self, *, with_hosts=False):
        """Run a program in the client's host; with DoH its server's name is not asked for over Do53."""
        hosts_file = self.folder / "hosts" if with_hosts else None
        return enter_prefix(self.path_pid, "client", nameserver=ADDRESS, hosts_file=hosts_file)

    def settings(self, **changes):
        names = {"resolvable_names": ("*.resolab.test",), "ca_file": self.edge.ca, "scratch_folder": self.folder}
        return BrowserSettings(**names | changes)

    def set_policy(self, name, policy):
        self.edge.command("set_ticket_policy", name=name, policy=policy)

    async def load(self, browser, host, *, cleared=ClearedState(), close=None, warmup=True):  # noqa: B008
        """Load the host's page; in between the edge closes connections: `"all"`, those of a name, or none."""
        before = []
        self.edge.records()

        async def between():
            if close is not None:
                before.extend(self.edge.command("close_connections", name=None if close == "all" else close))
            await asyncio.sleep(SETTLE_S)
            before.extend(self.edge.records())

        request = LoadRequest(
            url=f"https://{host}/", timeout_s=TIMEOUT_S, between=between, cleared=cleared, warmup=warmup
        )
        result = await browser.load(request)
        return Load(result, before, self.edge.records())


@contextlib.contextmanager
def browser_lab(folder, profile="fiber"):
    """Run the path and the edge."""
    site = folder / "site"
    site.mkdir()
    (site / "index.html").write_text(PAGE)
    (site / "first.svg").write_text(PICTURE)
    (site / "script.js").write_text("document.title = 'done'")
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {RESOLVER}\n")
    sites = [
        SITE.format(
            host=host, address=f"{NETWORK}{number}",
            https_record=str(host == ADVERTISED).lower(), alt_svc=str(host == ALTERNATIVE).lower(),
        )
        for number, host in enumerate((PLAIN, ADVERTISED, ALTERNATIVE), 1)
    ]  # fmt: skip
    (folder / "edge.toml").write_text("".join([CONFIGURATION, *sites]))
    with contextlib.ExitStack() as stack:
        command = (find_core(), "path", "--profile", ROOT / f"profiles/{profile}.toml")
        _, ready = stack.enter_context(core_program(*command))
        server = enter_prefix(ready["pid"], "server")
        edge, _ = stack.enter_context(core_program(*server, find_core(), "edge", "--config", folder / "edge.toml"))
        yield Lab(ready["pid"], Edge(edge, ADDRESS, folder / "ca/ca.pem"), folder)


def play(make_browser, lab, scene, **settings):
    """Run a scene with a browser of these settings."""

    async def run():
        browser = make_browser()
        try:
            async with asyncio.timeout(90):
                await browser.start(lab.prefix(with_hosts="doh" in settings), lab.settings(**settings))
                return await scene(browser)
        finally:
            await browser.close()

    return asyncio.run(run())


def play_in_turn(make_browser, lab, scene, settings_of):
    """Run a scene with a browser of each of these settings, one after the other; they have started together.

    With DoH no browser loads in its first seconds, and none may be at its probe while another one loads.
    """

    async def run():
        browsers = {case: make_browser() for case in settings_of}
        try:
            async with asyncio.timeout(150):
                starts = [
                    browsers[case].start(lab.prefix(with_hosts="doh" in settings), lab.settings(**settings))
                    for case, settings in settings_of.items()
                ]
                await asyncio.gather(*starts)
                await asyncio.sleep(PROBED_AFTER_S)
                return {case: await scene(browser) for case, browser in browsers.items()}
        finally:
            await asyncio.gather(*(browser.close() for browser in browsers.values()))

    return asyncio.run(run())
