"""The names of a clone's hosts and requests: fictional names, one URL a request.

For: turning positions in a model into names and back. Not for: files (`folder`), or addresses, given by the testbed.

Every name lies below `.test` (RFC 6761). Hosts of one registrable domain stay below one name, hosts of others below
others. `.test` is absent from the list of public suffixes, so a browser takes the label before `.test` for the domain.
The label contains the page's name, so two pages of a plan share no name.
"""

import re

from resolab.basics.urls import split_url
from resolab.pages.model import Kind, PageModel, Resource

_LABEL_MAX_CHARACTERS = 40
_ENDINGS = {
    Kind.DOCUMENT: "html",
    Kind.STYLESHEET: "css",
    Kind.SCRIPT: "js",
    Kind.IMAGE: "gif",
    Kind.FONT: "woff2",
    Kind.MEDIA: "mp4",
    Kind.FETCH: "json",
    Kind.XHR: "json",
    Kind.BEACON: "txt",
    Kind.OTHER: "bin",
}
_PATH = re.compile(r"/([0-9]{1,9})\.[a-z0-9]+")
"""At most nine digits: a page may request any path, and Python converts no number of thousands of digits."""


def host_name(model: PageModel, host: int) -> str:
    """Name of a host of the model."""
    return f"h{host}.s{model.hosts[host].site}-{_label(model.name)}.test"


def make_path(model: PageModel, place: int) -> str:
    """Path of the request at a place of the model; the page's own, too."""
    return f"/{place}.{_ENDINGS[model.resources[place].kind]}"


def make_url(model: PageModel, place: int) -> str:
    """URL of the request at a place of the model."""
    return f"https://{host_name(model, model.resources[place].host)}{make_path(model, place)}"


def parse_request_index(url: str) -> int | None:
    """Return the position of the request behind a clone's URL; `None` for another URL."""
    found = _PATH.fullmatch(split_url(url).path)
    return int(found[1]) if found else None


def find_resource(model: PageModel, url: str) -> Resource | None:
    """Return the model's request behind a URL; `None` for a URL outside this clone."""
    place = parse_request_index(url)
    bare = url.partition("#")[0].partition("?")[0]
    if place is None or place >= len(model.resources) or make_url(model, place) != bare:
        return None
    return model.resources[place]


def _label(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower())[:_LABEL_MAX_CHARACTERS].strip("-") or "page"
