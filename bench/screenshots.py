"""Pictures of every page of `gossamer serve`, for docs/: light and dark, desktop and phone.

    python -m bench.screenshots [FOLDER [NAME...]]

Serves and crawls the demo web, visits it again for some seconds after a change, crawls it for a
topic, serves the collections and starts a crawl from the form as a person would. With names only
these pictures are taken. Needs Playwright and the system's
Chromium; with Pillow the pictures get a palette and are a third as large. Ends with 1 when a page
is wider than its window, or when a picture is larger than 150 kB.
"""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from bench.served import served

from gossamer.demo.server import serve as serve_demo
from gossamer.demo.web import answer, build_web

TOPIC: Final = "garden roses beans"
TOKEN: Final = "a-token-for-pictures-only"
MOST_BYTES: Final = 150_000
PORT: Final = 8080  # of the demo web, so that pictures differ only where pages do
_COLOURS: Final = 224
SIZES: Final = {"desktop": (1280, 800), "phone": (390, 844)}
SCHEMES: Final = ("light", "dark")
_LIVE_MS: Final = 9_000  # for curves that are worth looking at
_VISITS_S: Final = 45  # so that some pages are visited several times


@dataclass(frozen=True, slots=True)
class Shot:
    """One page: where it is, and what is to be seen on it."""

    name: str
    path: str
    says: str
    scroll_to: str = ""  # a selector that is brought to the top
    is_for_strangers: bool = False


def shots(root: str) -> tuple[Shot, ...]:
    """Every page; `root` is that of the garden in the demo web."""
    library = root.replace("garden", "library")
    page = f"/page?url={root}/&view="
    return (
        Shot("start", "/", "Start page"),
        Shot("results", "/?q=river+garden", "Search results with snippets"),
        Shot("why", "/?q=river+garden&explain=1", "How scores are computed"),
        Shot("nothing", "/?q=gardne", "No results, with a suggestion"),
        Shot("query", "/?q=%28river+garden", "A query with a syntax error"),
        Shot("copy", f"{page}copy", "Stored copy of a page"),
        Shot("about", f"{page}about", "Metadata of a page"),
        Shot("links", f"{page}in", "Links to a page with their anchor texts"),
        Shot("changes", f"{page}diff", "Changes between two versions"),
        Shot("versions", f"{page}versions", "Visits of a page on a time axis"),
        Shot("seen", "/changes", "What later visits found, by kind, site and query"),
        Shot("freshness", "/freshness", "Freshness and age of the copies"),
        Shot("story", f"{page}story", "History of a URL"),
        Shot("top", "/top", "Top pages"),
        Shot("hosts", "/hosts", "Hosts"),
        Shot("graph", f"/graph?of={library}/", "Link graph of a page"),
        Shot("exports", "/exports", "Exports"),
        Shot("crawls", "/crawls", "All crawls, and the form for a new one"),
        Shot("live", "/crawls/live", "A running crawl"),
        Shot("curves", "/crawls/valley", "Charts of a finished crawl", scroll_to="#curves"),
        Shot("files", "/files?c=topic", "Files that a crawl has found"),
        Shot("marks", f"/page?url={root}/&c=topic&view=about", "A page with marks for a topic"),
        Shot("harvest", "/crawls/topic", "A focused crawl with its harvest rate"),
        Shot("bans", "/crawls/live", "Bans and hosts of a crawl", scroll_to="#bans"),
        Shot("login", "/login", "Log in", is_for_strangers=True),
    )


def main() -> int:
    """Make all pictures; 1 when one of them is wrong."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/screenshots")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="gossamer-pictures-") as folder:
        home = Path(folder) / "valley"
        _crawl_demo(home)
        faults = _take_all(home, out)
    total = sum(path.stat().st_size for path in out.glob("*.png"))
    print(f"{len(list(out.glob('*.png')))} pictures, {total / 1e6:.1f} MB, in {out}")
    (out / "README.md").write_text(_listed(), encoding="utf-8")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


# -- what is shown


def _crawl_demo(home: Path) -> None:
    """The demo web, visited again after a change."""
    with serve_demo(PORT) as web:
        _gossamer(
            "crawl", "-c", home, "--delay", 0, "--set", "frontier.pages_per_host=150", *web.seeds
        )
    with _changed_garden():
        _gossamer(
            "crawl", "-c", home, "--forever", "--max-time", _VISITS_S,
            "--set", "refresh.min_interval_s=6",
        )  # fmt: skip
    with serve_demo(PORT) as web:
        _gossamer(
            "crawl", "-c", _crawls_beside(home) / "topic", "--delay", 0, "--max-pages", 200,
            "--type", "html,pdf,image,audio", "--order", "focus", "--query", TOPIC,
            "--set", "frontier.pages_per_host=150", *web.seeds,
        )  # fmt: skip


def _crawls_beside(home: Path) -> Path:
    """Where the server keeps the crawls that it starts."""
    return home.with_name(f"{home.name}-crawls")


def _gossamer(*words: object) -> None:
    command = [sys.executable, "-m", "gossamer", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextmanager
def _changed_garden() -> Iterator[str]:
    """The demo web on the same port, its garden some days later."""
    web = build_web(PORT)

    class Garden(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = (self.headers.get("host") or "").partition(":")[0]
            said = answer(web, host, self.path)
            body = said.body.replace(b"Forty days", b"Forty-one days")
            body = body.replace(b"Waiting for medlars", b"The medlars are ripe", 1)
            self.send_response(said.status)
            for name, value in said.headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_words: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", PORT), Garden)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://garden.localhost:{PORT}"
    finally:
        server.shutdown()
        server.server_close()


# -- the pictures


def _take_all(home: Path, out: Path) -> list[str]:
    playwright: Any = importlib.import_module("playwright.sync_api")
    token = home.with_name("token")
    token.write_text(TOKEN)
    token.chmod(0o600)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    faults: list[str] = []
    with (
        serve_demo(PORT),
        served(home, "--token-file", str(token), "--allow-private", "127.0.0.0/8") as port,
        playwright.sync_playwright() as driver,
    ):
        origin = f"http://127.0.0.1:{port}"
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            _start_crawl(browser, origin)
            for size in SIZES:
                for scheme in SCHEMES:
                    faults += _take_some(browser, origin, out, size, scheme)
        finally:
            _gossamer("stop", "-c", _crawls_beside(home) / "live")
            browser.close()
    return faults


def _logged_in(browser: Any, origin: str, **how: Any) -> Any:
    page = browser.new_context(**how).new_page()
    page.goto(f"{origin}/login")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    return page


def _start_crawl(browser: Any, origin: str) -> None:
    """From the form, slowly, so that it still goes on when the last picture is taken."""
    page = _logged_in(browser, origin)
    page.goto(f"{origin}/crawls")
    hosts = ("news", "museum", "library", "stadt", "trap")
    page.get_by_label("Start URLs").fill("\n".join(f"http://{h}.localhost:{PORT}/" for h in hosts))
    page.get_by_text("Patterns and name").click()
    page.get_by_label("Name", exact=True).fill("live")
    page.get_by_text("More limits, politeness and network").click()
    page.get_by_label("Delay per host, seconds").fill("0.9")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/crawls/live")
    page.get_by_label("Add bans, one per line").wait_for()
    page.locator("#state", has_text="running").wait_for()
    page.get_by_label("Add bans, one per line").fill("*/calendar/*\nads.example.org")
    page.get_by_role("button", name="Ban", exact=True).click()
    page.wait_for_timeout(_LIVE_MS)
    page.context.close()


def _take_some(browser: Any, origin: str, out: Path, size: str, scheme: str) -> Iterator[str]:
    names = sys.argv[2:]
    width, height = SIZES[size]
    how: dict[str, Any] = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    if size == "phone":
        how["has_touch"] = how["is_mobile"] = True
    owner = _logged_in(browser, origin, **how)
    stranger = browser.new_context(**how).new_page()
    for shot in shots(f"http://garden.localhost:{PORT}"):
        if names and shot.name not in names:
            continue
        page = stranger if shot.is_for_strangers else owner
        page.goto(origin + shot.path)
        page.wait_for_timeout(_LIVE_MS if shot.name == "live" else 300)
        if shot.scroll_to:
            page.locator(shot.scroll_to).evaluate("one => one.scrollIntoView()")
        path = out / f"{shot.name}-{size}-{scheme}.png"
        page.screenshot(path=path)
        _shrink(path)
        wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wider > 0:
            yield f"{path.name}: {wider} pixels wider than its window"
        if path.stat().st_size > MOST_BYTES:
            yield f"{path.name}: {path.stat().st_size:,} bytes"
    owner.context.close()
    stranger.context.close()


def _shrink(path: Path) -> None:
    """A palette instead of sixteen million colours, where Pillow is there."""
    try:
        image: Any = importlib.import_module("PIL.Image")
    except ImportError:
        return
    with image.open(path) as picture:
        few = picture.convert("RGB").quantize(_COLOURS, dither=image.Dither.NONE)
    few.save(path, optimize=True)


def _listed() -> str:
    """The page that shows them all."""
    lines = ["# Screenshots of every page", "", "Made by `python -m bench.screenshots`.", ""]
    for shot in shots(""):
        lines += [f"## {shot.says}", ""]
        for size in SIZES:
            names = [f"{shot.name}-{size}-{scheme}.png" for scheme in SCHEMES]
            shown = [
                f"![{shot.says}, {size}, {s}]({n})" for s, n in zip(SCHEMES, names, strict=True)
            ]
            lines += [" ".join(shown), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
