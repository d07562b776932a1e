"""Fetching the opt-out list over https: checked certificates, no way back to http, nothing in a list's place."""

import contextlib
import functools
import http.server
import ssl
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError, MachineError
from resolab.plan.manners import fetch_opt_out, opt_out_fetch

sys.path.append(str(Path(__file__).parents[1] / "browser"))
from authority import Authority


@dataclass
class Lists:
    """A server of lists on loopback."""

    authority: Authority
    url: str = ""
    user_agents: list[str | None] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)


class Handler(http.server.BaseHTTPRequestHandler):
    def __init__(self, lists: Lists, *arguments: object) -> None:
        self._lists = lists
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        self._lists.user_agents.append(self.headers["User-Agent"])
        if self.path == "/away":
            self.send_response(302)
            self.send_header("Location", "http://127.0.0.1:1/list")
            self.end_headers()
            return
        if self.path == "/slow":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while not self._lists.is_over.wait(0.05):
                    self.wfile.write(b"#")
            return
        if self.path == "/rude":
            self.send_response(404, "\x1b]0;owned\x07" + "x" * 5_000)
            self.end_headers()
            return
        status = 200 if self.path == "/list" else 404
        body = b"shop.test\n"
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lists]:
    found = Lists(Authority(tmp_path_factory.mktemp("lists") / "authority"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, found))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(found.authority.certificate("127.0.0.1"))
    server.socket = context.wrap_socket(server.socket, server_side=True)
    found.url = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield found
    found.is_over.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_list_is_fetched_under_the_operators_name(lists: Lists) -> None:
    found = fetch_opt_out(f"{lists.url}/list", user_agent="resolab/0 (+https://x.test)", authority=lists.authority.file)
    assert found.covers("www.shop.test")
    assert lists.user_agents[-1] == "resolab/0 (+https://x.test)"


def test_a_server_that_never_ends_its_list_stops_the_batch(lists: Lists, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opt_out_fetch, "FETCH_WITHIN_S", 1.0)
    with pytest.raises(MachineError, match="it did not come within 1 s; nothing is contacted without it"):
        fetch_opt_out(f"{lists.url}/slow", user_agent="x", authority=lists.authority.file)


def test_what_its_server_says_is_shown_clean_and_short(lists: Lists) -> None:
    with pytest.raises(MachineError, match="HTTP Error 404") as stopped:
        fetch_opt_out(f"{lists.url}/rude", user_agent="x", authority=lists.authority.file)
    assert str(stopped.value).isprintable()
    assert len(str(stopped.value)) < 500


def test_certificates_are_checked(lists: Lists) -> None:
    with pytest.raises(MachineError, match="nothing is contacted without it"):
        fetch_opt_out(f"{lists.url}/list", user_agent="x")


@pytest.mark.parametrize("path", ["gone", "away"])
def test_what_is_not_there_or_leads_away_from_https_stops_the_batch(lists: Lists, path: str) -> None:
    with pytest.raises(MachineError, match="could not fetch the opt-out list") as stopped:
        fetch_opt_out(f"{lists.url}/{path}", user_agent="x", authority=lists.authority.file)
    assert "\n" not in str(stopped.value)


def test_an_authority_that_is_none_is_told(lists: Lists, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("nothing")
    with pytest.raises(ConfigurationError, match="PEM"):
        fetch_opt_out(f"{lists.url}/list", user_agent="x", authority=tmp_path / "ca.pem")
