"""A small server of test pages on loopback; it remembers what was asked."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PIXEL = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><rect width='9' height='9'/></svg>"
HEAD = b"<!doctype html><title>t</title><link rel='icon' href='data:,'>"
PAGES: dict[str, tuple[int, str, bytes]] = {
    "/": (200, "text/html", HEAD + b"<h1>Words</h1><img src='/pixel.svg'>"),
    "/pixel.svg": (200, "image/svg+xml", PIXEL),
    "/blank": (200, "text/html", HEAD),
    "/loop": (200, "text/html", HEAD + b"<h1>Words</h1><script>for (;;) {}</script>"),
    "/never": (200, "text/html", HEAD + b"<h1>Words</h1><img src='/silence'>"),
    "/gone": (404, "text/html", HEAD + b"<h1>Not here</h1>"),
    "/empty": (503, "text/html", b""),
    "/file": (200, "application/zip", b"PK"),
    "/meddler": (200, "text/html", HEAD + b"<h1>W</h1><script>performance.getEntriesByType = () => []</script>"),
}


class PageServer:
    """Serves until closed."""

    def __init__(self) -> None:
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
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/silence":
            self._stop.wait(60)
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
        handler.end_headers()
        handler.wfile.write(body)
