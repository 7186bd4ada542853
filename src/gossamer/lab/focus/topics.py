"""Which page belongs to which topic: lines `url-or-path<TAB>topic`. A page may have several.

A topic name with dots is a path from general to special: `subject.Science.Biology`. Its first
levels are the topic, two unless told otherwise, so that topics are large enough to crawl for.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from gossamer.errors import UsageError
from gossamer.lab.focus.stored_pages import StoredPages

PageTopics = dict[str, frozenset[int]]  # numbers of the pages of each topic
LEVELS: Final = 2


def read_topics(file: Path, pages: StoredPages, levels: int = LEVELS) -> PageTopics:
    """The topics of stored pages. Raises UsageError if no page of the file is stored."""
    number = _spellings(pages)
    found: dict[str, set[int]] = {}
    for line in _lines(file):
        name, tab, topic = line.rstrip("\r\n").partition("\t")
        if line.startswith("#") or not tab or not topic:
            continue
        page = number.get(name)
        if page is None:
            page = number.get(unquote(name))
        if page is not None:
            found.setdefault(".".join(topic.split(".")[:levels]), set()).add(page)
    if not found:
        raise UsageError(
            f"{file} names no stored page. Expected: lines with a URL or path, a tab and a topic."
        )
    return {topic: frozenset(found[topic]) for topic in sorted(found)}


def _lines(file: Path) -> list[str]:
    try:
        raw = file.read_bytes()
        return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode().splitlines()
    except (OSError, EOFError, UnicodeDecodeError) as fault:
        raise UsageError(f"Cannot read {file}: {fault}") from fault


def _spellings(pages: StoredPages) -> dict[str, int]:
    """Page numbers by name, also without the ending of a file, and by the path of a URL."""
    number: dict[str, int] = {}
    for at, name in enumerate(pages.names):
        path = name.partition("://")[2].partition("/")[2] if "://" in name else name
        for spelling in (path, unquote(path)):
            stem, dot, ending = spelling.rpartition(".")
            is_page = dot and ending.lower() in ("html", "htm", "xhtml")
            for short in (spelling, stem) if is_page else (spelling,):
                number.setdefault(short, at)
                number.setdefault(f"/{short}", at)
    number.update({name: at for at, name in enumerate(pages.names)})
    return number
