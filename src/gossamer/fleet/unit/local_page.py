"""The page of a unit on its own machine: what it does now, and three buttons.

It listens on loopback only. Other sites that the owner visits cannot use it: a request needs the
token of the URL, the right Host header, and buttons send it in the body. The token changes with
each start; `gossamer unit status` shows the URL.
"""

from __future__ import annotations

import hmac
import html
import secrets
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, cast
from urllib.parse import parse_qs, urlsplit

from gossamer.base.clock import iso_of
from gossamer.base.sizes import size_text
from gossamer.fleet.unit.orders import LocalCommand
from gossamer.fleet.unit.status import JobStatus, UnitStatus

_MOST_BYTES: Final = 4_096  # of a request's body
_WAIT_S: Final = 10.0
_LOOK_S: Final = 0.1  # whether the page is to be closed
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"
_COMMANDS: Final[dict[str, LocalCommand]] = {
    "stop": "stop",
    "stop-after": "stop-after",
    "delete": "delete",
}
_STYLE: Final = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse}th{text-align:left;padding-right:1.5rem;font-weight:600}"
    "button{font:inherit;padding:.4rem 1rem;margin:0 .6rem .6rem 0}code{overflow-wrap:anywhere}"
    ".danger{color:#a00}"
)


class LocalPage:
    """The page, while it is open. Its requests are answered in threads of their own."""

    def __init__(
        self,
        port: int,
        status: Callable[[], UnitStatus],
        command: Callable[[LocalCommand], None],
    ) -> None:
        """Raises OSError if the port is in use."""
        self.token = secrets.token_urlsafe(24)
        self._server = _PageServer(port, self.token, status, command)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_LOOK_S,), daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/?token={self.token}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _PageServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self,
        port: int,
        token: str,
        status: Callable[[], UnitStatus],
        command: Callable[[LocalCommand], None],
    ) -> None:
        super().__init__(("127.0.0.1", port), _PageHandler)
        self.token = token
        self.status = status
        self.command = command

    def handle_error(self, request: object, client_address: object) -> None:
        """A visitor that goes away is not an error of the unit."""


class _PageHandler(BaseHTTPRequestHandler):
    timeout = _WAIT_S
    server_version = "gossamer-unit"
    sys_version = ""

    @property
    def _page(self) -> _PageServer:
        return cast("_PageServer", self.server)

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        given = parse_qs(parts.query).get("token", [""])[0]
        if parts.path != "/" or not self._is_allowed(given):
            self._answer(403, "<p>Open the page with the URL that `gossamer unit status` shows.")
            return
        self._answer(200, page_of(self._page.status(), self._page.token))

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isdecimal() else _MOST_BYTES + 1
        if size > _MOST_BYTES:
            self._answer(413, "<p>Too large.")
            return
        fields = parse_qs(self.rfile.read(size).decode("utf-8", "replace"))
        command = _COMMANDS.get(fields.get("command", [""])[0])
        is_sure = command != "delete" or fields.get("sure") == ["yes"]
        if not self._is_allowed(fields.get("token", [""])[0]) or not self._is_own_origin():
            self._answer(403, "<p>Not allowed.")
        elif command is None or not is_sure:
            self._answer(400, "<p>Tick the box to delete everything.")
        else:
            self._page.command(command)
            self._answer(200, f"<p>The unit was told: {html.escape(command)}.")

    def _is_allowed(self, token: str) -> bool:
        """Whether the request names this host, not one that leads here, and has the token."""
        hosts = (f"127.0.0.1:{self._page.server_port}", f"localhost:{self._page.server_port}")
        is_right = hmac.compare_digest(token.encode(), self._page.token.encode())
        return self.headers.get("Host", "") in hosts and is_right

    def _is_own_origin(self) -> bool:
        origin = self.headers.get("Origin")
        return origin in (None, "null") or urlsplit(origin).netloc == self.headers.get("Host")

    def _answer(self, status: int, content: str) -> None:
        body = (
            "<!doctype html><html lang=en><meta charset=utf-8><title>Gossamer unit</title>"
            f"<meta name=viewport content='width=device-width'><style>{_STYLE}</style>"
            f"<main>{content}</main>"
        ).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cache-Control", "no-store")
        if status == 200 and self.command == "GET":
            self.send_header("Refresh", "5")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the URL has the token."""


def page_of(status: UnitStatus, token: str) -> str:
    """The content of the page."""
    rows = [
        ("State", status.state + (f": {status.why}" if status.why else "")),
        ("Hub", status.hub),
        ("Last answer", iso_of(status.answered_us) if status.answered_us else "none yet"),
        ("Jobs done", f"{status.jobs_done} since the start"),
        ("Traffic this month", size_text(status.month_bytes)),
        ("Disk space", size_text(status.disk_bytes)),
        ("Version", status.version),
    ]
    if status.trouble:
        rows.insert(1, ("Trouble", status.trouble))
    table = "".join(f"<tr><th>{html.escape(n)}<td>{html.escape(v)}" for n, v in rows)
    jobs = "".join(map(_job_of, status.jobs)) or "<p>No job at the moment."
    hidden = f"<input type=hidden name=token value='{html.escape(token)}'>"
    return (
        f"<h1>Gossamer unit {html.escape(status.name)}</h1><table>{table}</table>"
        f"<h2>Jobs</h2>{jobs}<h2>Orders</h2><form method=post action='/'>{hidden}"
        "<button name=command value=stop>Stop now</button>"
        "<button name=command value=stop-after>Stop after this job</button></form>"
        f"<form method=post action='/'>{hidden}<p><label><input type=checkbox name=sure value=yes> "
        "Delete the unit, its pages and its settings from this machine</label><br>"
        "<button class=danger name=command value=delete>Delete all</button></form>"
    )


def _job_of(job: JobStatus) -> str:
    state = "suspended" if job.is_suspended else job.phase
    recent = "".join(f"<li><code>{html.escape(url)}</code>" for url in reversed(job.recent))
    return (
        f"<h3>{html.escape(job.name)}</h3><p>{html.escape(state)}: {job.fetched} pages fetched, "
        f"{job.queued} queued, {job.failed} failed, {job.refused} refused, "
        f"{html.escape(size_text(job.bytes))}, {job.pages_per_s:.1f} pages per second.</p>"
        f"<ul>{recent}</ul>"
    )
