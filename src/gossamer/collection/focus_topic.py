"""The topic of a focused crawl, from what its operator gives: files, folders, a query, a model.

A URL is not read here: it is a seed of the crawl, and its page becomes an example when it comes.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gossamer.collection.example_urls import is_url, urls_among
from gossamer.errors import UsageError
from gossamer.parse.html import Parser
from gossamer.policies.focus.focused_order import FocusedOrder
from gossamer.policies.focus.saving import load_model
from gossamer.policies.focus.topic import Topic
from gossamer.policies.focus.words import WordHasher, Words
from gossamer.settings import Parse, Settings

MAX_FILES: Final = 1_000  # of a folder
_MAX_BYTES: Final = 64 * 2**20  # of a file; a model with a full sample has about 5 MB
_TEXT: Final = "text/plain"


def focus_of(settings: Settings, stored: bytes | None = None) -> FocusedOrder | None:
    """The order for the topic of the settings; None where there is no topic. `stored` is the model
    of the crawl that is resumed. Examples that it does not know are added.

    Raises UsageError for an example or a model that cannot be read.
    """
    focus, query = settings.focus, settings.frontier.query
    hasher = WordHasher()
    examples = [words for like in focus.like if not is_url(like) for words in _read(like, hasher)]
    order: FocusedOrder | None = None
    if stored:
        order = load_model(stored, "The stored model of this collection")
    elif focus.model:
        order = load_model(_bytes_of(Path(focus.model)), focus.model)
    if order is None:
        topic = Topic(examples, query=hasher.page("", query))
        if topic.is_empty and not urls_among(focus.like):
            return None
        return FocusedOrder(topic)
    known = {words.tobytes() for words in order.judge.topic.wanted}
    for words in examples:
        if words.tobytes() not in known:
            order.mark(words, is_wanted=True)
    if query:
        order.judge.topic.query = hasher.page("", query)
    return order


def _read(like: str, hasher: WordHasher) -> Iterator[Words]:
    """The words of a file, or of all files of a folder that can be read."""
    path, found = Path(like).expanduser(), 0
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file())
        if len(files) > MAX_FILES:
            raise UsageError(
                f"--like {like}: the folder has {len(files):,} files; {MAX_FILES} at most"
            )
    else:
        files = [path]
    parser = Parser(Parse())
    for file in files:
        words = _words_of(file, parser, hasher)
        if len(words):
            found += 1
            yield words
    if not found:
        raise UsageError(f"--like {like}: no words to learn a topic from")


def _words_of(file: Path, parser: Parser, hasher: WordHasher) -> Words:
    kind = mimetypes.guess_type(file.name)[0] or _TEXT
    page = parser.parse(file.absolute().as_uri(), kind, _bytes_of(file))
    return hasher.page(page.title, page.text)


def _bytes_of(file: Path) -> bytes:
    try:
        with file.open("rb") as opened:
            return opened.read(_MAX_BYTES)
    except OSError as fault:
        raise UsageError(f"Cannot read {file}: {fault.strerror or fault}") from fault
