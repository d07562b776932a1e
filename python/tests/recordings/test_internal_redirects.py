"""Redirects that no server answered: what they lead to stands where they stood."""

import json
from typing import Any

import pytest
from made_har import SITE, document, entry, har

from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.inference.redirects import NOT_JOINED
from resolab.extras.recordings.model_builder import build
from resolab.pages.model import Discovery, Evidence, PageModel

ROOT = f"{SITE}/"
LOSS = "redirects the browser made itself (HSTS)"


def model(*entries: dict[str, Any], **log: Any) -> PageModel:
    return build(read_har(json.dumps(har(*entries, **log)).encode(), "made"), "made")


def losses(made: PageModel) -> dict[str, int]:
    return {loss.what: loss.count for loss in made.losses}


def upgrade(url: str, start: float, kind: str = "image", *, to: str | None = None, **more: Any) -> dict[str, Any]:
    """Make Chromium's own redirect to https, as chrome-har writes it."""
    to = to or url.replace("http:", "https:")
    made = {
        "answered": {"Location": to, "Non-Authoritative-Reason": "HSTS"},
        "statusText": "Internal Redirect",
        "connection": "0",
        "version": "http/1.1",
    }
    return entry(url, start, kind, wait=0, receive=0, status=307, size=0, to=to, **made | more)


@pytest.mark.parametrize("answered", [{"Non-Authoritative-Reason": "HSTS"}, {}], ids=["head", "heads scrubbed"])
def test_what_it_leads_to_has_its_discoverer_and_its_place(answered: dict[str, str]) -> None:
    asked = upgrade("http://ads.example/a.js", 90, "script", script=[ROOT], answered=answered)
    between = entry("/b.png", 100, parser=ROOT, line=3)
    # Chromium may name another initiator behind the redirect.
    target = entry("https://ads.example/a.js", 145, "script", parser=ROOT, line=0, connection="7")
    child = entry("https://ads.example/p.gif", 400, script=["https://ads.example/a.js"])
    made = model(document(), asked, between, target, child)
    script = made.resources[1]
    assert (script.status, script.parent, script.discovery) == (200, 0, Discovery.INLINE_SCRIPT)
    assert (script.start_ms, script.due_ms, script.first_byte_ms) == (90, 70, 165), "its answer comes when it came"
    assert made.resources[3].parent == 1
    assert len(made.resources) == 4
    assert losses(made)[LOSS] == 1
    assert "requests over http, served over https" not in losses(made)
    assert (made.hosts[1].protocols, made.hosts[1].connection_count) == (("h2",), 1)


def test_a_chain_goes_on_past_it() -> None:
    first = entry("/go", 30, status=302, to="http://ads.example/x", parser=ROOT)
    again = upgrade("http://ads.example/x", 61, to="http://ads.example/y")
    target = entry("https://ads.example/y", 62, status=302, to="https://cdn.example/z")
    made = model(
        document(), first, again, upgrade("http://ads.example/y", 62), target, entry("https://cdn.example/z", 95)
    )
    assert [(one.parent, one.status) for one in made.resources[1:]] == [(0, 302), (1, 302), (2, 200)]
    assert {one.evidence for one in made.resources[2:]} == {Evidence.REDIRECT}
    assert losses(made)[LOSS] == 2
    assert NOT_JOINED not in losses(made)


def test_the_page_s_own_is_the_page_it_leads_to() -> None:
    before, asked = (
        entry("https://before.example/", -50, "document"),
        upgrade("http://www.shop.example/", 0, "document"),
    )
    archive = har(before, asked, entry("/a.css", 2, "stylesheet"), document(4))
    archive["log"]["pages"][0]["title"] = "http://www.shop.example/"
    made = build(read_har(json.dumps(archive).encode(), "made"), "made")
    assert [one.wire_bytes for one in made.resources] == [20_000, 1_000]
    assert (made.resources[0].first_byte_ms, made.load_ms) == (24, 900), "counted from the wish"


def test_one_that_led_to_nothing_recorded_is_left_out_as_well() -> None:
    again = entry("https://ads.example/a", 60, fromDiskCache=True)
    made = model(document(), entry("https://ads.example/a", 30), upgrade("http://ads.example/a", 59), again)
    assert len(made.resources) == 2, "the second was answered by what the first had fetched"
    assert losses(made)[LOSS] == 1


@pytest.mark.parametrize(
    ("address", "blocked", "left_out"), [("192.0.2.1", 0, True), ("192.0.2.1", 9, False), (None, 0, False)]
)
def test_an_upgrade_whose_heads_are_scrubbed_is_known_by_what_it_lacks(
    address: str | None, blocked: int, *, left_out: bool
) -> None:
    """Chromium calls those of its navigations "Temporary Redirect"; where no address is told, none says nothing."""
    asked = upgrade("http://www.shop.example/", 0, "document", answered={}, statusText="Temporary Redirect")
    asked["timings"]["blocked"] = blocked
    made = model(asked, document(9, serverIPAddress=address), pages=[])
    assert len(made.resources) == (1 if left_out else 2)


def test_what_a_server_answered_is_a_redirect_whatever_it_calls_itself() -> None:
    asked = upgrade("http://ads.example/a", 30, serverIPAddress="192.0.2.1")
    made = model(document(), asked, entry("https://ads.example/a", 60))
    assert [one.discovery for one in made.resources[1:]] == [Discovery.DOCUMENT, Discovery.REDIRECT]
    assert LOSS not in losses(made)
