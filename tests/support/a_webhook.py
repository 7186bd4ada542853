"""A webhook on this machine: it keeps what it gets, and answers with a status."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class Webhook:
    """A running server. `statuses` are those of its next answers, then `status`."""

    def __init__(self) -> None:
        self.status = 204
        self.statuses: list[int] = []
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), body))
                statuses = outer.statuses
                self.send_response(statuses.pop(0) if statuses else outer.status)
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, format: str, *words: object) -> None:
                """Keep the output of the tests clean."""

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?key=1"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def changes(self) -> list[dict[str, Any]]:
        """The changes of all requests, in order."""
        bodies = (json.loads(body) for _, _, body in self.requests)
        return [change for body in bodies for change in body["changes"]]


@contextmanager
def a_webhook() -> Iterator[Webhook]:
    """A webhook on a free port."""
    one = Webhook()
    try:
        yield one
    finally:
        one.close()
