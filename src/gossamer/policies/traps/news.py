"""What does a page say that its host has not said before?

The words and lines of the visible text are compared with those of earlier pages of the same host.
Words with digits do not count: dates, counters, session ids and tokens are new on every page of a
calendar. The words of the page's own URL do not count either: a page that says "there is no
/blue/horse" repeats what it was asked for.

A page without a new word can still be one that somebody wrote, so the answer is a grade:

    NEW       words that the host has not used before
    KNOWN     lines that the host has not shown before, made of known words
    ODD       the same, but words stand side by side that never did before; or so many new words
              that they may be random letters, or another language
    REPEATED  nothing but known lines
    UNKNOWN   too little is known of the host, or the page has hardly any words

Long texts are compared by two pieces of them, which start and end at a line: the whole text would
cost three times as much.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.shared_text import numbers_of

_PIECE: Final = 1_500  # characters
_WHOLE: Final = 3_300  # a text up to this length is read as a whole
_MAX_FACTS: Final = 600_000  # words, lines and pairs of all hosts, 60 bytes each, and as many of
# the time before
_FIRST_PAGES: Final = 3  # of a host, which only teach
_FEW_WORDS: Final = 8  # a page with fewer says nothing about itself
_ODD_SHARE: Final = 0.4  # of the words of ASCII letters, that are new
_ODD_WORDS: Final = 20
_MANY_WORDS: Final = 1_500  # of a host, before a text can be odd by its words
# Of real sites 99 % of the pages share 1 to 19 % of their pairs of words, or more, with earlier
# pages; text of random words shares 3 %.
_PAIRS: Final = 80  # of a page
_FEW_PAIRS: Final = 30
_MANY_PAIRS: Final = 3_000  # of a host, before a text can be odd by its pairs
_SHARED_PAIRS: Final = 0.08


def _masked_code(code: int) -> int:
    """Letters in lower case, digits, bytes of other alphabets and line ends stay; the rest parts
    words."""
    if code >= 128 or code == ord("\n") or chr(code).isdigit():
        return code
    return ord(chr(code).lower()) if chr(code).isalpha() else ord(" ")


_TABLE: Final = bytes(map(_masked_code, range(256)))
_WORD: Final = re.compile(rb"(?<!\S)[^\s0-9]{3,40}(?!\S)")
_TOKEN: Final = re.compile(rb"[a-z][0-9]|[0-9][a-z]")
_DIGITS: Final = b"0123456789"
_SILENT: Final = re.compile(rb"<(script|style)\b.*?</\1[^>]*>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(rb"<[^>]*>")


class _HostText:
    """What one host has said: words, and hashes of lines and of pairs of words."""

    __slots__ = ("lines", "pages", "pairs", "words")

    def __init__(self) -> None:
        self.words: set[bytes] = set()
        self.lines: set[int] = set()
        self.pairs: set[int] = set()
        self.pages = 0

    @property
    def size(self) -> int:
        return len(self.words) + len(self.lines) + len(self.pairs)

    def learn_words(self, distinct: set[bytes]) -> set[bytes]:
        """The words that are new."""
        unknown = distinct - self.words
        new = set(_WORD.findall(b" ".join(unknown))) if unknown else unknown
        self.words |= new
        return new

    def learn_lines(self, text: bytes) -> list[bytes]:
        """The lines that are new, whatever numbers they have."""
        lines = dict(
            zip(
                map(hash, text.translate(None, _DIGITS).split(b"\n")),
                text.split(b"\n"),
                strict=True,
            )
        )
        new = lines.keys() - self.lines
        self.lines |= new
        return [lines[number] for number in new]

    def learn_pairs(self, lines: list[bytes]) -> bool:
        """Whether the words of new lines stand side by side that never did before."""
        pairs = set(map(hash, pairwise(b" ".join(lines).split(None, _PAIRS)[:_PAIRS])))
        shared = len(pairs & self.pairs)
        can_tell = len(self.pairs) >= _MANY_PAIRS and len(pairs) >= _FEW_PAIRS
        self.pairs |= pairs
        return can_tell and shared < _SHARED_PAIRS * len(pairs)


class Vocabulary:
    """What the hosts have said that one worker fetches from. Bounded; what is lost is learned again
    from the next pages."""

    def __init__(self, max_facts: int = _MAX_FACTS, *, is_shared: bool = False) -> None:
        """`is_shared`: other workers fetch from the same hosts, so `numbers` are wanted."""
        self._max_facts = max_facts
        self._is_shared = is_shared
        self.numbers = b""  # of the last page: its text and its new words (`shared_text.py`)
        self._hosts: dict[str, _HostText] = {}
        self._before: dict[str, _HostText] = {}
        self._facts = 0

    def judge(self, host: str, url: str, text: str, *, is_leaf: bool = False) -> News:
        """What a page brings. Its text is known from now on. Of a leaf, which names no URL that is
        new, only the words are compared: nothing depends on its grade, and it costs a third."""
        known = self._host(host)
        size = known.size
        masked = pieces_of(text).encode(errors="replace").translate(_TABLE)
        distinct = set(masked.split())
        new = known.learn_words(distinct)
        news = _judge_leaf(known, new) if is_leaf else _judge(known, url, masked, distinct, new)
        if self._is_shared:
            self.numbers = numbers_of(masked.translate(None, _DIGITS), new)
        self._facts += known.size - size
        if self._facts > self._max_facts:
            self._forget()
        return news

    def _host(self, host: str) -> _HostText:
        known = self._hosts.get(host)
        if known is None:
            known = self._before.pop(host) if host in self._before else _HostText()
            self._hosts[host] = known
            self._facts += known.size
        return known

    def _forget(self) -> None:
        """Keep the hosts that were asked for last. A single host that fills all begins anew."""
        self._before = self._hosts if len(self._hosts) > 1 else {}
        self._hosts, self._facts = {}, 0


def _judge_leaf(known: _HostText, new_words: set[bytes]) -> News:
    known.pages += 1
    if known.pages <= _FIRST_PAGES:
        return News.UNKNOWN
    return News.NEW if new_words else News.KNOWN


def _judge(
    known: _HostText, url: str, masked: bytes, distinct: set[bytes], new_words: set[bytes]
) -> News:
    known.pages += 1
    new_lines = known.learn_lines(masked)
    has_odd_pairs = known.learn_pairs(new_lines)
    if known.pages <= _FIRST_PAGES:
        return News.UNKNOWN
    if len(distinct) < _FEW_WORDS:
        return News.UNKNOWN if new_lines else News.KNOWN
    own = set(url.encode(errors="replace").translate(_TABLE).split())
    new_words = new_words - own
    if not new_words and not any(_says_something(line, own) for line in new_lines):
        return News.REPEATED
    if has_odd_pairs or _is_odd(new_words, distinct, len(known.words)):
        return News.ODD
    return News.NEW if new_words else News.KNOWN


def _says_something(line: bytes, own: set[bytes]) -> bool:
    """Whether a new line is new by other words than tokens and those of the URL."""
    words = line.translate(None, _DIGITS).split()
    return bool(words) and _TOKEN.search(line) is None and own.isdisjoint(words)


def _is_odd(new: set[bytes], distinct: set[bytes], known_words: int) -> bool:
    if known_words < _MANY_WORDS or len(new) < _ODD_WORDS:
        return False
    plain = sum(map(bytes.isalpha, distinct))
    return sum(map(bytes.isalpha, new)) > _ODD_SHARE * plain > 0


def pieces_of(text: str) -> str:
    """A text, or two pieces of a long one. A small change elsewhere leaves the pieces the same."""
    length = len(text)
    if length <= _WHOLE:
        return text
    return _piece(text, length // 4) + "\n" + _piece(text, length * 5 // 8)


def _piece(text: str, at: int) -> str:
    """About 1,500 characters from the next start of a line on."""
    start = text.find("\n", at, at + _PIECE) + 1 or at
    end = text.find("\n", start + _PIECE * 3 // 4, start + _PIECE)
    return text[start : end if end > 0 else start + _PIECE]


def text_in(html: bytes) -> str:
    """About the visible text of an HTML page that was not parsed for its text, of its first 16
    KB."""
    return _TAG.sub(b"\n", _SILENT.sub(b"", html[:16_384])).decode(errors="replace")
