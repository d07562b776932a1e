"""The form of each request of a generated page: method, status, script mode, priority, CORS.

Priorities are Chromium's initial values for the request's trigger (resource fetch priorities), as in recordings.
Not for: sizes of answers, or times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from resolab.pages.generated import published
from resolab.pages.generated.chance import UniformStream
from resolab.pages.generated.tree import Node
from resolab.pages.model import Cors, Discovery, Kind, ScriptMode

_PRIORITIES: Mapping[Kind, str] = {
    Kind.DOCUMENT: "VeryHigh",
    Kind.STYLESHEET: "VeryHigh",
    Kind.FONT: "VeryHigh",
    Kind.XHR: "High",
    Kind.FETCH: "High",
    Kind.OTHER: "High",
    Kind.SCRIPT: "Low",
    Kind.IMAGE: "Low",
    Kind.MEDIA: "Low",
    Kind.BEACON: "VeryLow",
}
_NO_CONTENT = 204


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestForm:
    """The form of one request and its answer."""

    method: str = "GET"
    status: int = 200
    request_bytes: int = 0
    script_mode: ScriptMode | None = None
    """The mode of a script in markup, and of the redirects before the script."""
    priority: str
    cors: Cors = Cors.NO
    preflight: bool = False

    @property
    def has_content(self) -> bool:
        """Return True when the answer has a body."""
        return self.status != _NO_CONTENT


def draw_manners(chance: UniformStream, nodes: Sequence[Node]) -> list[RequestForm]:
    """Draw the manner of every request; a redirect has its target's."""
    leads_to = {node.parent: place for place, node in enumerate(nodes) if node.discovery is Discovery.REDIRECT}
    made: dict[int, RequestForm] = {}
    for place in range(len(nodes) - 1, -1, -1):
        node = nodes[place]
        made[place] = _redirect(chance, node, made[leads_to[place]]) if node.is_redirect else _own(chance, node, nodes)
    return [made[place] for place in range(len(nodes))]


def _redirect(chance: UniformStream, node: Node, target: RequestForm) -> RequestForm:
    statuses = list(published.REDIRECT_STATUSES)
    status = statuses[chance.pick(list(published.REDIRECT_STATUSES.values()))]
    # An address typed by a person has moved for good.
    is_typed = node.kind is Kind.DOCUMENT and node.frame == 0 and node.discovery is Discovery.NAVIGATION
    return RequestForm(
        status=301 if is_typed else status,
        priority=target.priority,
        cors=target.cors,
        script_mode=target.script_mode,
    )


def _own(chance: UniformStream, node: Node, nodes: Sequence[Node]) -> RequestForm:
    kind = node.kind
    posts = chance.happens(published.POST_RATIO.get(kind, 0.0)) and not node.ends_chain
    is_empty = chance.happens(published.NO_CONTENT_RATIO.get(kind, 0.0)) and not node.ends_chain
    median = published.BEACON_POST_MEDIAN_BYTES if kind is Kind.BEACON else published.POST_MEDIAN_BYTES
    sent = round(chance.log_normal(median, published.POST_LOG_SD))
    mode = _script_mode(chance, node, nodes)
    is_foreign = node.host != nodes[node.frame].host
    cors = _cors(chance, node, is_foreign=is_foreign)
    asks_first = chance.happens(published.PREFLIGHT_RATIO) and kind in {Kind.XHR, Kind.FETCH}
    return RequestForm(
        method="POST" if posts else "GET",
        status=_NO_CONTENT if is_empty else 200,
        request_bytes=sent if posts else 0,
        script_mode=mode,
        priority=_priority(chance, node, mode),
        cors=cors,
        preflight=asks_first and is_foreign and cors is not Cors.NO and not node.ends_chain,
    )


def _script_mode(chance: UniformStream, node: Node, nodes: Sequence[Node]) -> ScriptMode | None:
    """Draw the script mode in the markup, for the first request of a redirect chain."""
    modes = list(published.SCRIPT_MODES)
    mode = modes[chance.pick(list(published.SCRIPT_MODES.values()))]
    head = node
    while head.discovery is Discovery.REDIRECT and head.parent is not None:
        head = nodes[head.parent]
    return mode if node.kind is Kind.SCRIPT and head.discovery is Discovery.DOCUMENT else None


def _priority(chance: UniformStream, node: Node, mode: ScriptMode | None) -> str:
    is_late = chance.happens(published.LATE_SCRIPT_RATIO)
    if mode is ScriptMode.SYNC:
        return "Medium" if is_late else "High"
    if node.is_preload and node.kind is Kind.FONT:
        return "High"
    return _PRIORITIES[node.kind]


def _cors(chance: UniformStream, node: Node, *, is_foreign: bool) -> Cors:
    kind = node.kind
    has_credentials, has_none, is_anonymous = (
        chance.happens(published.FOREIGN_CREDENTIALS_RATIO),
        chance.happens(published.FETCH_NO_CORS_RATIO),
        chance.happens(published.ANONYMOUS_RATIO.get(kind, 0.0)),
    )
    if kind is Kind.FONT:
        return Cors.ANONYMOUS  # CSS Fonts 4, section 4.8.2
    if kind in {Kind.XHR, Kind.FETCH}:
        if not is_foreign or has_credentials:
            return Cors.CREDENTIALS
        return Cors.NO if kind is Kind.FETCH and has_none else Cors.ANONYMOUS
    return Cors.ANONYMOUS if is_anonymous and is_foreign else Cors.NO
