"""A page on two sites (two addresses of loopback) that asks in every way a page can; each word in it could give it away."""

import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from authority import Authority

POLL_S = 0.02
SECRET = "pomegranate"
"""Stands in every name, query, body and cookie of the page."""
PIXEL = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
OWN, FOREIGN = "127.0.0.1", "127.0.0.2"
TIMER_MS = 1200
"""After the load event, and well within the time a page may be quiet."""
DOCUMENT = """<!doctype html><title>pomegranate</title><link rel=icon href=data:,>
<link rel=stylesheet href=/pomegranate.css>
<script async src=/pomegranate-async.js?q=pomegranate></script>
<h1 class=b>pomegranate</h1>
<img src=/pomegranate-1.svg><img src=/pomegranate-2.svg>
<img src=/pomegranate-moved>
<iframe src="{foreign}/pomegranate-frame"></iframe>
<script>
addEventListener("load", () => setTimeout(() => { new Image().src = "/pomegranate-timer.svg" }, TIMER_MS))
</script>
<p>pomegranate
""".replace("TIMER_MS", str(TIMER_MS))
SHEET = """@font-face { font-family: P; src: url(/pomegranate.woff2) }
body { font-family: P, serif; background: url(/pomegranate-background.svg) }
"""
ASYNC = """fetch("/pomegranate-data.json?q=pomegranate").then(answer => answer.json()).then(() => {
  const worker = new Worker("/pomegranate-worker.js");
});
"""
WORKER = "fetch('/pomegranate-of-worker.json').then(answer => answer.text());"
ELSEWHERE = "<!doctype html><title>e</title><script>alert('pomegranate'); location.replace('/')</script>"
"""A document that goes elsewhere before its load event, with a dialog before that."""
WORKERS = """<!doctype html><title>w</title><link rel=icon href=data:,><script>
navigator.serviceWorker.register("/pomegranate-service.js");
new SharedWorker("/pomegranate-shared.js");
new WebSocket(`wss://${location.host}/pomegranate-socket`);
new EventSource("/pomegranate-events");
</script>"""
SERVICE = """addEventListener("install", event => {
  event.waitUntil(fetch("/pomegranate-of-service.json").then(answer => answer.text()));
});
"""
SHARED = "fetch('/pomegranate-of-shared.json').then(answer => answer.text());"
FRAME = "<!doctype html><title>f</title><script src=/pomegranate-frame.js></script><p>pomegranate"
FRAME_SCRIPT = "setTimeout(() => { const one = new Image(); one.src = '/pomegranate-by-frame.svg' }, 30);"


class HeardSite:
    """Serves until closed; remembers what was asked."""

    def __init__(self, authority: Authority | None = None, *, silent: frozenset[str] = frozenset()) -> None:
        self.asked: list[str] = []
        self._silent = silent
        self._stop = threading.Event()
        self._scheme = "https" if authority else "http"
        self._servers = [self._serve(address, authority) for address in (OWN, FOREIGN)]

    def url(self, place: int = 0) -> str:
        host, port = self._servers[place].server_address[:2]
        return f"{self._scheme}://{host}:{port}"

    def close(self) -> None:
        self._stop.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _serve(self, address: str, authority: Authority | None) -> ThreadingHTTPServer:
        outer = self

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_refused_handshake: object) -> None:
                pass

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, *_arguments: object) -> None:
                pass

        server = Server((address, 0), Handler)
        if authority is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(authority.certificate(address))
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, args=(POLL_S,), daemon=True).start()
        return server

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        path = handler.path.partition("?")[0]
        self.asked.append(path)
        if path in self._silent:
            self._stop.wait(60)
            return
        status, kind, body = self._content(path)
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        handler.send_header("Cache-Control", "max-age=3600")
        handler.send_header("Set-Cookie", "pomegranate=pomegranate")
        if status == 302:
            handler.send_header("Location", f"/{SECRET}-target.svg")
        handler.end_headers()
        handler.wfile.write(body)

    def _content(self, path: str) -> tuple[int, str, bytes]:
        texts = {
            "/": ("text/html", DOCUMENT.replace("{foreign}", self.url(1))),
            f"/{SECRET}-elsewhere": ("text/html", ELSEWHERE),
            f"/{SECRET}-workers": ("text/html", WORKERS),
            f"/{SECRET}-service.js": ("text/javascript", SERVICE),
            f"/{SECRET}-shared.js": ("text/javascript", SHARED),
            f"/{SECRET}-of-service.json": ("application/json", "{}"),
            f"/{SECRET}-of-shared.json": ("application/json", "{}"),
            f"/{SECRET}.css": ("text/css", SHEET),
            f"/{SECRET}-async.js": ("text/javascript", ASYNC),
            f"/{SECRET}-worker.js": ("text/javascript", WORKER),
            f"/{SECRET}-frame": ("text/html", FRAME),
            f"/{SECRET}-frame.js": ("text/javascript", FRAME_SCRIPT),
            f"/{SECRET}.woff2": ("font/woff2", "no font"),
            f"/{SECRET}-data.json": ("application/json", '{"a": 1}'),
            f"/{SECRET}-of-worker.json": ("application/json", "{}"),
        }
        if path == f"/{SECRET}-moved":
            return 302, "text/plain", b""
        if path.endswith(".svg"):
            time.sleep(0.02)
            return 200, "image/svg+xml", PIXEL
        kind, text = texts.get(path, ("text/plain", ""))
        return (200, kind, text.encode()) if text else (404, kind, b"")
