"""A small server of test pages on loopback; it remembers what was asked."""

import socket
import ssl
import struct
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

POLL_S = 0.02
"""How long closing it takes; the standard library's 0.5 s would be waited for after every test."""
PIXEL = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
HEAD = b"<!doctype html><title>t</title><link rel='icon' href='data:,'>"
PAGES: dict[str, tuple[int, str, bytes]] = {
    "/": (200, "text/html", HEAD + b"<h1>Words</h1><img src='/pixel.svg'>"),
    "/pixel.svg": (200, "image/svg+xml", PIXEL),
    "/blank": (200, "text/html", HEAD),
    "/loop": (200, "text/html", HEAD + b"<h1>Words</h1><script>for (;;) {}</script>"),
    "/later-loop": (200, "text/html", HEAD + b"<script>onload = () => setTimeout(() => { for (;;) {} })</script>"),
    "/noisy": (
        200,
        "text/html",
        HEAD + b"<h1>W</h1><script>console.error('said', 1); console.log('no')</script><img src='/gone'>"
        b"<script>throw new Error('thrown')</script>",
    ),
    "/never": (200, "text/html", HEAD + b"<h1>Words</h1><img src='/silence'>"),
    "/gone": (404, "text/html", HEAD + b"<h1>Not here</h1>"),
    "/empty": (503, "text/html", b""),
    "/file": (200, "application/zip", b"PK"),
    "/meddler": (200, "text/html", HEAD + b"<h1>W</h1><script>performance.getEntriesByType = () => []</script>"),
}


def _hang_up(handler: BaseHTTPRequestHandler, _stop: threading.Event) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def _reset(handler: BaseHTTPRequestHandler, _stop: threading.Event) -> None:
    # Without waiting for what was sent: close answers with RST.
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.rfile.close()
    handler.wfile.close()
    handler.connection.close()
    handler.connection.detach()


def _torn(handler: BaseHTTPRequestHandler, _stop: threading.Event) -> None:
    _begin(handler, "Content-Length", "100000")
    _hang_up(handler, _stop)


def _torn_chunk(handler: BaseHTTPRequestHandler, _stop: threading.Event) -> None:
    _begin(handler, "Transfer-Encoding", "chunked")
    handler.wfile.write(b"5\r\nwords\r\n")
    _hang_up(handler, _stop)


def _trickle(handler: BaseHTTPRequestHandler, stop: threading.Event) -> None:
    _begin(handler, "Content-Length", "100000")
    with suppress(OSError):
        while not stop.wait(0.05):
            handler.wfile.write(b"words ")


def _begin(handler: BaseHTTPRequestHandler, name: str, value: str) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/html")
    handler.send_header(name, value)
    handler.end_headers()
    if name == "Content-Length":
        handler.wfile.write(HEAD)


BROKEN = {"/hang-up": _hang_up, "/reset": _reset, "/torn": _torn, "/torn-chunk": _torn_chunk, "/trickle": _trickle}


class PageServer:
    """Serves until closed."""

    def __init__(self, certificate: Path | None = None) -> None:
        self.asked: list[str] = []
        self.cookies: list[str] = []
        self._stop = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.cookies.append(self.headers.get("Cookie", ""))
                outer._answer(self)

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # The handshake is for the connection's own thread: one that is broken off must not end the others.
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        threading.Thread(target=self._server.serve_forever, args=(POLL_S,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/silence":
            self._stop.wait(60)
            return
        if handler.path in BROKEN:
            BROKEN[handler.path](handler, self._stop)
            handler.close_connection = True
            return
        if handler.path == "/moved":
            handler.send_response(302)
            handler.send_header("Location", "/")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        status, kind, body = PAGES.get(handler.path, PAGES["/gone"])
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Cache-Control", "max-age=3600")
        handler.send_header("Set-Cookie", "seen=1")
        if status == 503:
            handler.send_header("Retry-After", "120")
        handler.end_headers()
        handler.wfile.write(body)
