"""A folder as a web server on loopback; some files can be left out."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

POLL_S = 0.02
"""How long closing it takes; the standard library's 0.5 s would be waited for after every test."""


class SiteServer:
    """Serves until closed; remembers what was asked."""

    def __init__(self, folder: Path, missing: frozenset[str] = frozenset()) -> None:
        self.asked: list[str] = []
        outer = self

        class Handler(SimpleHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(self.path)
                if self.path in missing:
                    self.send_error(404)
                else:
                    super().do_GET()

            def log_message(self, *_arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(POLL_S,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
