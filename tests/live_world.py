"""A world of two namespaces that live mode cannot tell from the internet: a lab's path, with an edge behind it.

For: running `resolab` inside the path's client host, where all sites and resolvers are the edge's. Not for: recursion and
many resolvers; those are the internet in a box.
"""

import contextlib
import os
from pathlib import Path

from lab import resolab

from resolab.lab import engine, layout
from resolab.lab.engine import enter_prefix

SITES = {"news.resolab.test": "10.77.1.1", "shop.resolab.test": "10.77.1.2"}
CDN = {"cdn.resolab.test": "10.77.1.3"}
OPERATOR = "https://study.resolab.test/"
DEAD = "https://dead.resolab.test/"
PLAN = """
name = "live"
question = "Does live mode work?"
seed = 3
[network]
kind = "live"
vantage_point = "two-namespaces"
operator_url = "{operator}"
{network}
[sites]
urls = {urls}
[resolvers.local]
doudp = "system"
[resolvers.edge]
doudp = "10.77.0.1"
dot = "tls://dns.resolab.test"
doh = "https://dns.resolab.test/dns-query"
doq = "quic://10.77.0.1"
[factors]
resolver = {resolver}
dns_transport = {dns_transport}
browser = {browser}
[baseline]
resolver = "{baseline}"
dns_transport = "doudp"
[limits]
page_timeout_s = 20
"""


def write_live_plan(folder, *, urls=None, resolver=("local", "edge"), dns_transport=("doudp", "dot", "doh"),
                    browser=("firefox",), network=""):  # fmt: skip
    file = folder / "live.toml"
    urls = [f"https://{host}/" for host in SITES] if urls is None else urls
    lists = {
        key: str(list(value))
        for key, value in locals().items()
        if key in {"urls", "resolver", "dns_transport", "browser"}
    }
    file.write_text(PLAN.format(operator=OPERATOR, network=network, baseline=resolver[0], **lists))
    return file


def _make_sites(folder):
    for host in (*SITES, *CDN):
        (folder / host).mkdir()
    for host in SITES:
        (folder / host / "index.html").write_text(
            "<!doctype html><title>t</title><p>text</p>"
            "<img src='https://cdn.resolab.test/a.svg?secret=1'><script src='s.js'></script>"
        )
        (folder / host / "s.js").write_text("document.title = 'ran'")
    for host in CDN:
        (folder / host / "a.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')


@contextlib.asynccontextmanager
async def live_world(folder: Path, profile="fiber", on_record=lambda _record: None):
    """Path and edge; yields what runs `resolab` in the client host."""
    _make_sites(folder)
    profile_file = Path(__file__).parents[1] / "profiles" / f"{profile}.toml"
    path = await engine.Path.start(profile_file, seed=1, keep_awake=False, on_record=on_record)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(path.close)
        origins = [
            layout.PageOrigin(host=host, address=address, folder=folder / host)
            for host, address in {**SITES, **CDN}.items()
        ]
        sites = [layout.PageSite(page=one.host, origins=(one,), path="/") for one in origins]
        config = folder / "edge.toml"
        config.write_text(layout.edge_configuration(folder / "ca", sites))
        edge = await engine.Edge.start(path.ready.pid, config, on_record=on_record)
        stack.push_async_callback(edge.close)
        yield World(path.ready.pid, Path(edge.ready.ca_file), folder), edge


class World:
    """The client host, as a machine on the internet."""

    def __init__(self, path_pid, ca_file, folder):
        self.prefix = enter_prefix(path_pid, "client", nameserver=layout.RESOLVER_ADDRESS)
        self.environment = {
            **os.environ, "RESOLAB_AUTHORITY": str(ca_file), "XDG_STATE_HOME": str(folder / "state"),
        }  # fmt: skip

    def resolab(self, *arguments, command, timeout_s=240):
        return resolab(*arguments, command=(*self.prefix, *command), timeout_s=timeout_s, env=self.environment)
