"""A real site with traps: some of its pages link to parts that are generated without end.

    site = TrapSite(root, "index.html", kinds=KINDS, is_hidden=True)
    with served(site) as url:
        ...
    site.asked   the paths in the order of the requests

Kinds: a calendar, session ids, permutations of parameters, soft 404s, random words, endless depth
and mirrored paths. Each has URLs of a pattern of its own, or is hidden: its URLs lie in the folders
of real pages, under names that are put together from those of real pages. With `is_deep` each page
keeps the links to at most three others, so that the site is a deep tree of the same pages.
"""

from __future__ import annotations

import asyncio
import random
import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit
from zlib import crc32

KINDS: Final = ("calendar", "session", "parameters", "soft404", "words")
MORE_KINDS: Final = ("depth", "mirror")
_HREF: Final = re.compile(rb'(<a\b[^>]*?\bhref=)(["\'])([^"\'<>]*)\2', re.IGNORECASE)
_TEXT: Final = re.compile(r"[A-Za-z]{3,12}")
_TAGS: Final = re.compile(r"<script.*?</script>|<style.*?</style>|<[^>]*>", re.DOTALL)
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_NAMES: Final = ("sort", "order", "view", "colour", "size", "brand", "price", "page")
_ITEMS: Final = tuple(
    f"{adjective} {noun} made of {material}"
    for adjective, noun, material in zip(
        ["large", "small", "round", "plain", "heavy", "light", "narrow", "wide"],
        ["table", "chair", "lamp", "shelf", "desk", "bench", "stool", "mirror"],
        ["oak", "glass", "steel", "stone", "pine", "brass", "copper", "paper"],
        strict=True,
    )
)
_WORDS: Final = 120  # of a page of random words
_COPIED_LINKS: Final = 40  # of a copied page; an index has thousands
_KEPT_LINKS: Final = 3  # of a page of the deep tree


class TrapPage(NamedTuple):
    """A generated page: its kind and what it depends on."""

    kind: str
    state: str


class TrapSite:
    """Answers for each path. It notes which were requested."""

    def __init__(
        self,
        root: Path,
        start: str,
        *,
        kinds: tuple[str, ...] = (),
        is_hidden: bool = False,
        is_deep: bool = False,
        every: int = 4,
    ) -> None:
        """One in `every` pages has a link to a trap; the first page has one to each."""
        self.root, self.start = root, "/" + start
        self.kinds, self.is_hidden, self.every = kinds, is_hidden, every
        self.asked: list[str] = []
        self._traps: dict[str, TrapPage] = {}
        self._rng = random.Random(17)
        self._files = sorted(p for p in root.rglob("*.html") if p.is_file())
        self._paths = {"/" + p.relative_to(root).as_posix() for p in self._files}
        self._stems = sorted({p.stem for p in self._files})
        first = (root / start).read_text(errors="replace")
        some = first + "".join(p.read_text(errors="replace") for p in self._files[:40])
        self._words = list(dict.fromkeys(_TEXT.findall(_TAGS.sub(" ", some))))[:2000]
        self._shell = _TAGS.sub(" ", first)[:600]
        self._tree = self._deep_tree() if is_deep else None

    # -- answers

    def answer(self, target: str) -> tuple[int, bytes]:
        """The status and the body for a path with its query."""
        self.asked.append(target)
        if target in self._traps:
            return 200, self._trap_page(target, self._traps[target])
        path = unquote(urlsplit(target).path)
        file = self.root / path.lstrip("/")
        if file.is_dir():
            file /= "index.html"
        if path == "/robots.txt" or not file.is_file():
            return 404, b"<html><body>404</body></html>"
        body = file.read_bytes()
        return 200, self._with_traps(path, body) if file.suffix == ".html" else body

    def _with_traps(self, path: str, body: bytes) -> bytes:
        if self._tree is not None:
            body = self._only_tree_links(path, body)
        if not self.kinds:
            return body
        number = crc32(path.encode())
        kinds = self.kinds if path == self.start else ()
        if not kinds and number % self.every == 0:
            kinds = (self.kinds[number // self.every % len(self.kinds)],)
        links = [self._enter(kind, path) for kind in kinds]
        return body + _links(links)

    # -- traps

    def _enter(self, kind: str, path: str) -> str:
        number = crc32(path.encode())
        if kind == "calendar":
            return self._url(kind, path, str(24_000 + number % 400))
        return self._url(kind, path, path)

    def _url(self, kind: str, near: str, state: str) -> str:
        """The URL of a generated page, linked from the page at `near`."""
        if not self.is_hidden:
            url = self._own_url(kind, near, state)
        elif kind == "calendar":
            url = self._hidden_url(near, random.Random(f"{near.rpartition('/')[0]} {state}"))
        else:
            url = self._hidden_url(near, self._rng)
        self._traps.setdefault(url, TrapPage(kind, state))
        return url

    def _hidden_url(self, near: str, rng: random.Random) -> str:
        folder = near.partition("?")[0].rpartition("/")[0]
        name = "-".join(rng.choice(self._stems) for _ in range(2))
        while f"{folder}/{name}.html" in self._paths:
            name += "-" + rng.choice(self._stems)
        return f"{folder}/{name}.html"

    def _own_url(self, kind: str, near: str, state: str) -> str:
        rng = self._rng
        match kind:
            case "calendar":
                return f"/calendar/{int(state) // 12}/{int(state) % 12 + 1:02}/"
            case "session":
                return f"{state}?sid={rng.getrandbits(64):016x}"
            case "parameters":
                names = rng.sample(_NAMES, rng.randint(2, 5))
                return "/catalogue?" + "&".join(f"{name}={rng.randint(1, 9)}" for name in names)
            case "soft404":
                return f"/find/{rng.choice(self._words)}-{rng.randint(1, 99_999)}"
            case "words":
                return f"/story/{rng.choice(self._words)}/{rng.choice(self._words)}.html"
            case "depth":
                start = near if near.startswith("/maze") else "/maze"
                return f"{start}/{rng.choice(('left', 'right', 'back'))}"
            case _:
                return f"/copy{near if near.startswith('/copy') else state}"

    def _trap_page(self, target: str, trap: TrapPage) -> bytes:
        kind, state = trap
        rng = random.Random(target)
        if kind in ("session", "mirror"):
            return self._copy(target, trap)
        match kind:
            case "calendar":
                month = int(state)
                days = " ".join(map(str, range(1, 31)))
                text = f"{_MONTHS[month % 12]} {month // 12}\n{days}\nNo events this month"
                links = [self._url(kind, target, str(month + step)) for step in (1, -1, 12)]
            case "parameters":
                text = "\n".join(rng.sample(_ITEMS, 6))
                links = [self._url(kind, target, "") for _ in range(6)]
            case "soft404":
                text = f"Sorry\nThere is no page at {target}\nPerhaps one of these helps"
                links = [self._url(kind, target, "") for _ in range(4)]
            case "words":
                text = " ".join(rng.choice(self._words) for _ in range(_WORDS))
                links = [self._url(kind, target, "") for _ in range(4)]
            case _:
                text = "You stand between hedges\nThere are ways left, right and back"
                links = [self._url(kind, target, "") for _ in range(3)]
        lines = "".join(f"<p>{escape(line)}</p>" for line in text.split("\n"))
        shell = f'<div><a href="{self.start}">Start</a> {escape(self._shell)}</div>'
        return f"<html><title>{escape(self._stems[0])}</title><body>{shell}{lines}".encode() + (
            _links(links)
        )

    def _copy(self, target: str, trap: TrapPage) -> bytes:
        """A real page, whose links lead to copies of other real pages."""
        kind, state = trap
        body = (self.root / state.lstrip("/")).read_bytes()
        if self._tree is not None:
            body = self._only_tree_links(state, body)
        left = _COPIED_LINKS

        def copied(found: re.Match[bytes]) -> bytes:
            nonlocal left
            path = urlsplit(urljoin(state, found[3].decode(errors="replace"))).path
            if path not in self._paths or left <= 0:
                return found[1] + b'"#"'
            left -= 1
            near = f"/copy{path}" if kind == "mirror" and not self.is_hidden else path
            return found[1] + b'"' + self._url(kind, near, path).encode() + b'"'

        deeper = self._url(kind, target, state)
        return _HREF.sub(copied, body) + _links([deeper])

    # -- the deep tree

    def _deep_tree(self) -> dict[str, set[str]]:
        """The links that each page keeps: to three pages further down, and to the one above."""
        rng = random.Random(17)
        links = {path: self._real_links(path) for path in self._reachable()}
        kept: dict[str, set[str]] = {path: set() for path in links}
        waiting = deque([self.start])
        left = set(links) - {self.start}
        while waiting:
            path = waiting.pop() if rng.random() < 0.6 else waiting.popleft()
            below = [one for one in links[path] if one in left][:_KEPT_LINKS]
            if not (below or waiting) and left:
                below = [min(left)]
            for one in below:
                left.discard(one)
                kept[path].add(one)
                kept[one].add(path)
                waiting.append(one)
        return kept

    def _reachable(self) -> list[str]:
        known, waiting = {self.start: None}, deque([self.start])
        while waiting:
            for one in self._real_links(waiting.popleft()):
                if one not in known:
                    known[one] = None
                    waiting.append(one)
        return list(known)

    def _real_links(self, path: str) -> list[str]:
        body = (self.root / path.lstrip("/")).read_bytes()
        targets = (
            urlsplit(urljoin(path, m[3].decode(errors="replace"))) for m in _HREF.finditer(body)
        )
        paths = (unquote(one.path) for one in targets if not one.netloc)
        return list(dict.fromkeys(one for one in paths if one in self._paths))

    def _only_tree_links(self, path: str, body: bytes) -> bytes:
        assert self._tree is not None
        kept = self._tree.get(path, set())

        def checked(found: re.Match[bytes]) -> bytes:
            target = unquote(urlsplit(urljoin(path, found[3].decode(errors="replace"))).path)
            return found[0] if target in kept else found[1] + b'"#"'

        written = _HREF.sub(checked, body)
        missing = [one for one in sorted(kept) if one not in self._real_links(path)]
        return written + _links(missing) if missing else written


def _links(urls: list[str]) -> bytes:
    anchors = "".join(f'<a href="{escape(url)}">More</a> ' for url in urls)
    return f"<p>{anchors}</p>".encode()


# -- the server


@contextmanager
def served(site: TrapSite) -> Iterator[str]:
    """Serve a site from a thread of this process; its address."""
    loop = asyncio.new_event_loop()
    ready: threading.Event = threading.Event()
    port: list[int] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while line := (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]:
                target = line.split(b" ")[1].decode("ascii", "replace")
                status, body = site.answer(target)
                head = f"HTTP/1.1 {status} X\r\nContent-Type: text/html\r\n"
                writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
        writer.close()

    async def main() -> None:
        server = await asyncio.start_server(talk, "127.0.0.1", 0)
        port.append(server.sockets[0].getsockname()[1])
        ready.set()

    def run() -> None:
        loop.run_until_complete(main())
        loop.run_forever()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{port[0]}{site.start}"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
