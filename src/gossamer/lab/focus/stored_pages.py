"""The pages of a folder or of a collection, as a focused crawl would have seen them.

A page is known by its words, its links and what each link says: anchor text and URL. Links to pages
that are not stored are left out.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote, unquote, urljoin, urlsplit

import numpy as np
from numpy.typing import NDArray

from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CorruptFile, NotKnown, UsageError
from gossamer.frontier.rows import Standing
from gossamer.parse.html import Parser
from gossamer.policies.focus.words import LinkWords, WordHasher, Words, link_rows
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Link, Page
from gossamer.settings import Parse

FocusProgress = Callable[[str], None]
_ORIGIN: Final = "http://folder/"
_TYPES: Final = frozenset({"text/html", "application/xhtml+xml"})
_INDEX: Final = "index.html"
_TELL_EVERY: Final = 1_000


class _Read(NamedTuple):
    """A page before its links are resolved: targets by name."""

    name: str
    words: Words
    links: list[tuple[str, str]]  # name of the target, anchor text


@dataclass(frozen=True)
class StoredPages:
    """Pages with numbers from 0."""

    names: list[str]  # paths in the folder, or URLs
    words: list[Words]
    targets: list[NDArray[np.int32]]  # of each page; each target once, and never itself
    link_words: list[LinkWords]  # of each page: a row for each of its targets
    digest: str = ""

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def links(self) -> int:
        return sum(map(len, self.targets))


def read_pages(site: Path, notify: FocusProgress = lambda _: None) -> StoredPages:
    """The HTML pages of a folder, or the pages of a collection. Raises UsageError."""
    if CollectionPaths(site).exists:
        found = _of_collection(site)
    elif site.is_dir():
        found = _of_folder(site)
    else:
        raise UsageError(f"{site} is neither a folder of pages nor a collection")
    pages = []
    for page in found:
        pages.append(page)
        if len(pages) % _TELL_EVERY == 0:
            notify(f"{len(pages):,} pages read")
    if not pages:
        raise UsageError(f"{site} has no HTML pages")
    return _joined(pages)


def _joined(pages: list[_Read]) -> StoredPages:
    hasher = WordHasher()
    number = {page.name: at for at, page in enumerate(pages)}
    targets, rows = [], []
    digest = sha256()
    for at, page in enumerate(pages):
        links = {
            number[name]: hasher.link(anchor, name)
            for name, anchor in reversed(page.links)  # the first link to a page counts
            if name in number and number[name] != at
        }
        ends = np.array(sorted(links), np.int32)
        targets.append(ends)
        rows.append(link_rows([links[end] for end in ends.tolist()], len(ends)))
        digest.update(page.name.encode())
        digest.update(page.words.tobytes())
        digest.update(ends.tobytes())
    names, words = [page.name for page in pages], [page.words for page in pages]
    return StoredPages(names, words, targets, rows, f"sha256:{digest.hexdigest()}")


def _of_folder(folder: Path) -> Iterator[_Read]:
    hasher, parser = WordHasher(), Parser(Parse())
    for path in sorted(folder.rglob("*")):
        kind = mimetypes.guess_type(path.name)[0]
        if kind not in _TYPES or not path.is_file():
            continue
        name = path.relative_to(folder).as_posix()
        page = parser.parse(_ORIGIN + quote(name), kind, path.read_bytes())
        links = [(_path_of(page.base, link), link.text) for link in page.links]
        yield _Read(name, hasher.page(page.title, page.text), links)


def _path_of(base: str, link: Link) -> str:
    """The path in the folder that a link leads to; empty where it leads out of it."""
    try:
        whole = urlsplit(urljoin(base, link.href))
    except ValueError:
        return ""
    if f"{whole.scheme}://{whole.netloc}/" != _ORIGIN:
        return ""
    path = unquote(whole.path).removeprefix("/")
    return path + _INDEX if not path or path.endswith("/") else path


def _of_collection(folder: Path) -> Iterator[_Read]:
    hasher = WordHasher()
    with CollectionReader.open(folder) as reader:
        for row in reader.url_rows():
            if row.standing != Standing.FETCHED or row.status != 200 or not row.size_bytes:
                continue
            try:
                stored = reader.page(row.url)
                page = stored.page
            except (CorruptFile, NotKnown):
                continue
            yield _of_stored(hasher, row.url, page, [(one.url, one.text) for one in stored.links])


def _of_stored(hasher: WordHasher, url: str, page: Page, links: list[tuple[str, str]]) -> _Read:
    return _Read(url, hasher.page(page.title, page.text), links)
