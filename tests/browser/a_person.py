"""Somebody at a real browser: Chromium, driven through Playwright.

    with a_chromium() as chromium, a_person(chromium, server.root) as person:
        person.open("/")
        person.page.get_by_role("searchbox").fill("garden")
    assert person.strange == []

A person notes whatever should never happen on a page of ours: a dialog, an error of a script, a
rule of the page's own policy that was broken, a request to anybody but the server.

The browser is the system's; none is ever downloaded. While it is open this thread has a running
loop (Playwright's), so nothing beside it may call `asyncio.run`: crawls are programs here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.sync_api import (
    Browser,
    ConsoleMessage,
    Dialog,
    Page,
    Request,
    expect,
    sync_playwright,
)

from support.need import need_program

WAIT_MS: Final = 60_000  # far beyond what any of it takes; then the test has failed
# Everything but loopback has no address, so a request that we did not see would fail, too. A
# browser that is root has no sandbox of its own.
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost",
)


@contextmanager
def a_chromium() -> Iterator[Browser]:
    """The system's Chromium; without it the test skips, or fails when `CI` is `true`."""
    program = need_program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=[*_FLAGS])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class Person:
    """One browser window, and what was seen in it that should not be."""

    page: Page
    root: str
    requests: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        self.page.goto(self.root + path)

    def log_in(self, token: str) -> None:
        """Type the token into the form."""
        self.open("/login")
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_role("button", name="Log in").click()
        self.page.get_by_role("button", name="Log out").wait_for()

    def _note_request(self, request: Request) -> None:
        self.requests.append(request.url)
        inner = (f"{self.root}/", "data:", "blob:", "about:")
        if not request.url.startswith(inner):
            self.strange.append(f"asked {request.url} on {self.page.url}")

    def _note_dialog(self, dialog: Dialog) -> None:
        self.strange.append(f"dialog {dialog.message!r} on {self.page.url}")
        dialog.dismiss()

    def _note_error(self, error: Any) -> None:
        self.strange.append(f"error {error} on {self.page.url}")

    def _note_line(self, line: ConsoleMessage) -> None:
        # Chromium calls it an error, too, when a page is a 404 or when a sandbox did its work.
        if line.type == "error" and "Failed to load resource" not in line.text:
            self.strange.append(f"console {line.text!r} on {self.page.url}")

    def watch(self) -> None:
        """Note what happens from now on."""
        context = self.page.context
        context.on("request", self._note_request)
        context.on("dialog", self._note_dialog)
        context.on("weberror", lambda error: self._note_error(error.error))
        context.on("console", self._note_line)


@contextmanager
def a_person(browser: Browser, root: str, **options: Any) -> Iterator[Person]:
    """Somebody with a window, cookies and a history of their own."""
    context = browser.new_context(locale="en-GB", **options)
    context.set_default_timeout(WAIT_MS)
    expect.set_options(timeout=WAIT_MS)  # by itself it waits for five seconds, whatever is set
    person = Person(context.new_page(), root)
    person.watch()
    try:
        yield person
    finally:
        context.close()
