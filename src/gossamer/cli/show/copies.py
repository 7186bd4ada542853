"""The output of `gossamer copies`: pages and passages for people and for programs.

A passage that is the same in both is shown once. Otherwise both are shown, with the words that only
one of them has marked as by `diff`: `[-in the text-]`, `{+on the page+}`, in colours on a terminal.
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Final

from gossamer.base.plurals import counted
from gossamer.cli.show.colours import has_colours
from gossamer.cli.show.hits import panics_unheard, visible
from gossamer.errors import NotKnown, UsageError
from gossamer.parse.documents.file_text import text_of_file
from gossamer.reader.collection_reader import CollectionReader
from gossamer.search.copies.results import (
    CopiedPassage,
    Copies,
    CopiesRequest,
    Copy,
    PassageSide,
    copies_object,
)
from gossamer.search.engine import Engine

_INDENT: Final = "   "
_WIDTH: Final = 96
_MARKS: Final = (("[-", "-]"), ("{+", "+}"))
_COLOURS: Final = (("\x1b[31m", "\x1b[0m"), ("\x1b[32m", "\x1b[0m"))
_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_MOST_BYTES: Final = 100 * 2**20


def run_copies(path: Path, given: str, *, min_words: int, limit: int, as_json: bool) -> int:
    """Find and print. Raises UsageError, NotKnown, NoCollection, StoreError or CorruptFile."""
    CopiesRequest(text="", min_words=min_words, limit=limit)  # wrong numbers are told first
    text, but = _text_of(path, given)
    request = CopiesRequest(text=text, but=but, min_words=min_words, limit=limit)
    with panics_unheard():
        found = Engine(path).copies(request)
    if as_json:
        print(json.dumps(copies_object(found), ensure_ascii=False))
        return 0
    _print(found)
    return 0


def _text_of(path: Path, given: str) -> tuple[str, bytes]:
    """The text that is meant, and the key of its page if it has one."""
    if given == "-":
        return text_of_file("stdin", _limited(sys.stdin.buffer.read(_MOST_BYTES + 1), "stdin")), b""
    if not _URL.match(given) and Path(given).is_file():
        with Path(given).open("rb") as file:
            return text_of_file(given, _limited(file.read(_MOST_BYTES + 1), given)), b""
    if not _URL.match(given) and Path(given).is_dir():
        raise UsageError(f"{given} is a directory; name a file or a URL")
    with CollectionReader.open(path) as reader:
        try:
            page = reader.page(given)
        except (NotKnown, UsageError) as fault:
            if _URL.match(given):
                raise
            raise type(fault)(f"there is no file {given[:200]!r}, and {fault}") from None
        return page.page.text, reader.keys.of(page.url)


def _limited(body: bytes, name: str) -> bytes:
    if len(body) > _MOST_BYTES:
        raise UsageError(f"{name} is larger than {_MOST_BYTES // 2**20} MiB; split it")
    return body


def _print(found: Copies) -> None:
    for number, copy in enumerate(found, 1):
        _print_copy(number, copy, is_coloured=has_colours(sys.stdout))
    print(f"{found.sentence}.", file=sys.stderr)
    if found.hint:
        print(f"Hint: {found.hint}.", file=sys.stderr)


def _print_copy(number: int, copy: Copy, *, is_coloured: bool) -> None:
    print(f"{number}. {visible(copy.title) or '(no title)'}")
    print(f"{_INDENT}{visible(copy.url)}")
    share = "less than 1 %" if copy.share < 0.01 else f"{copy.share:.0%}"
    print(f"{_INDENT}{share} of the text, {counted(copy.words, 'word')}")
    for passage in copy.passages:
        for line in _passage_lines(passage, is_coloured=is_coloured):
            print(line)
    left = copy.passages_total - len(copy.passages)
    if left:
        print(f"{_INDENT}... and {counted(left, 'shorter passage')}; --json shows positions")
    print()


def _passage_lines(passage: CopiedPassage, *, is_coloured: bool) -> list[str]:
    where = f"{counted(passage.words, 'word')} from word {passage.first_word:,}:"
    if not passage.in_page.passage.text:
        return [f"{_INDENT}{where} the page asks not to show its text (nosnippet)"]
    marks = _COLOURS if is_coloured else _MARKS
    if passage.is_exact:
        return [f"{_INDENT}{where}", *_wrapped("", _shown(passage.in_page, ("", "")))]
    return [
        f"{_INDENT}{where}",
        *_wrapped("text: ", _shown(passage.in_text, marks[0])),
        *_wrapped("page: ", _shown(passage.in_page, marks[1])),
    ]


def _shown(side: PassageSide, marks: tuple[str, str]) -> str:
    """The passage on one line, with marks around the words that the other side does not have."""
    text = side.differences.marked(*marks, visible)
    return " ".join(text.split()) + (" ..." if side.is_cut else "")


def _wrapped(label: str, text: str) -> list[str]:
    indent = _INDENT * 2
    return textwrap.wrap(
        f"{label}{text}",
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + " " * len(label),
        break_on_hyphens=False,
    )
