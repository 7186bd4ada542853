"""What does a page say that its host has not said before?

The words and lines of the visible text are compared with those of earlier pages of the same host.
Words with digits do not count: dates, counters, session ids and tokens are new on every page of a
calendar. The words of the page's own URL do not count either: a page that says "there is no
/blue/horse" repeats what it was asked for.

A page without a new word can still be one that somebody wrote, so the answer is a grade:

    NEW       several words that the host has not used before, or several new lines
    KNOWN     less than that: one line, a word
    ODD       the same, but words stand side by side that never did before; or so many new words
              that they may be random letters, or another language
    REPEATED  nothing but known lines; or besides little news only lines that are stale
    STALE     nothing but known lines, and earlier pages that repeated others had them all, but one
    UNKNOWN   too little is known of the host, or the page has hardly any words

Long texts are compared by two pieces of them, which start and end at a line: the whole text would
cost three times as much. Some pages are read *briefly*, by a few words, at a fifth of the cost:

- A leaf, a page that names no URL that is new. It leads nowhere, so nothing depends on its grade.
- Three of four pages of a *plain* host, whose last pages were all NEW, if they have a new word,
  too. Of four leaves of such a host three are not read at all, and their grade is UNKNOWN.

Each of them leaves a number of its pieces, by which copies of it are found.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import filterfalse, pairwise
from typing import Final

from gossamer.policies.traps.grades import News
from gossamer.policies.traps.shared_text import numbers_of

_PIECE: Final = 1_500  # characters
_WHOLE: Final = 3_300  # a text up to this length is read as a whole
_PART: Final = 150  # bytes at the start and in the middle of the pieces, where it is read briefly
_WHOLE_EVERY: Final = 4  # pages of a host whose last pages were all NEW
_PLAIN_AFTER: Final = 16  # pages that are no leaves
_DOUBT: Final = 4  # NEW pages of a host that make good one with another grade
_MOST_DOUBT: Final = 32
_MAX_FACTS: Final = 600_000  # words, lines and pairs of all hosts, 60 bytes each, and as many of
# the time before
_FIRST_PAGES: Final = 3  # of a host, which only teach
_FEW_WORDS: Final = 8  # a page with fewer says nothing about itself
_SOME_WORDS: Final = 40  # among which there are mostly more
_ODD_SHARE: Final = 0.4  # of the words of ASCII letters, that are new
_ODD_WORDS: Final = 20
_MANY_WORDS: Final = 1_500  # of a host, before a text can be odd by its words
# Of real sites 98 % of the pages share 8 to 15 % of their pairs of words, or more, with earlier
# pages, once those had 4,000; text of random words shares 1 to 3 %.
_PAIRS: Final = 80  # of a page
_FEW_PAIRS: Final = 30
# The least share of known pairs of a text that is not odd, by the number that the host has shown.
_LEAST_SHARED: Final = ((4_000, 0.04), (2_000, 0.025), (1_000, 0.015))
_ODD_LEARNED: Final = 4  # of so many odd pages one teaches its pairs: a language is learned by that
_SOME_NEWS: Final = 4  # new words, which make a page NEW
_SOME_LINES: Final = 2
_FEW_NEW_LINES: Final = 8  # of a page with new words: of more the URL explains some at most
_STALE_AFTER: Final = 2  # pages that repeated the same lines
_FEW_LINES: Final = 3  # a page with fewer is not called stale


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
    """What one host has said: words, and hashes of texts, lines and pairs of words."""

    __slots__ = ("doubt", "inner", "leaves", "lines", "odd", "pairs", "repeats", "texts", "words")

    def __init__(self) -> None:
        self.words: set[bytes] = set()
        self.lines: set[int] = set()
        self.pairs: set[int] = set()
        self.texts: set[int] = set()  # that were read briefly: their lines are not in `lines`
        self.repeats: Counter[int] = Counter()  # lines of pages that repeated others
        self.inner = 0  # pages that are no leaves
        self.leaves = 0
        self.odd = 0  # pages
        self.doubt = 0  # NEW pages that are needed before it is plain

    @property
    def pages(self) -> int:
        return self.inner + self.leaves

    @property
    def size(self) -> int:
        numbers = len(self.lines) + len(self.pairs) + len(self.texts) + len(self.repeats)
        return len(self.words) + numbers

    @property
    def is_plain(self) -> bool:
        """Whether its last pages were all NEW, or nearly."""
        return not self.doubt and self.inner > _PLAIN_AFTER

    def note_grade(self, news: News) -> None:
        """A page that is no leaf was read as a whole."""
        if news is News.NEW:
            self.doubt = max(0, self.doubt - 1)
        elif news is not News.KNOWN:
            self.doubt = min(_MOST_DOUBT, self.doubt + _DOUBT)

    def learn_words(self, words: list[bytes]) -> set[bytes]:
        """The words that are new."""
        unknown = set(filterfalse(self.words.__contains__, words))
        new = set(_WORD.findall(b" ".join(unknown))) if unknown else unknown
        self.words |= new
        return new

    def learn_lines(self, masked: bytes, bare: bytes) -> list[bytes]:
        """The lines that are new, whatever numbers they have."""
        lines = dict(zip(map(hash, bare.split(b"\n")), masked.split(b"\n"), strict=True))
        new = lines.keys() - self.lines
        self.lines |= new
        return [line for number, line in lines.items() if number in new]

    def learn_pairs(self, lines: list[bytes]) -> bool:
        """Whether the words of new lines stand side by side that never did before."""
        pairs = set(map(hash, pairwise(b" ".join(lines).split(None, _PAIRS)[:_PAIRS])))
        count = len(self.pairs)
        least = next((share for pairs_from, share in _LEAST_SHARED if count >= pairs_from), 0.0)
        if least and len(pairs) >= _FEW_PAIRS and len(pairs & self.pairs) <= least * len(pairs):
            self.odd += 1
            if self.odd % _ODD_LEARNED == 0:
                self.pairs |= pairs
            return True
        self.pairs |= pairs
        return False

    def learn_repeated(self, lines: set[int]) -> News:
        """The grade of a page that has nothing but known lines."""
        is_stale = self.are_stale(lines, but=1)
        self.repeats.update(lines)
        return News.STALE if is_stale else News.REPEATED

    def are_stale(self, lines: set[int], but: int = 0) -> bool:
        """Whether earlier pages that repeated others had these lines, too, `but` a few of them."""
        fresh = sum(count < _STALE_AFTER for count in map(self.repeats.__getitem__, lines))
        return len(lines) >= _FEW_LINES and fresh <= but


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

    def judge(
        self, host: str, url: str, text: str, *, is_leaf: bool = False, run: int = 0
    ) -> News:  # fmt: skip
        """What a page brings. Its text is known from now on. `is_leaf`: it names no URL that is
        new. `run`: of the pages up to it, which brought nothing new."""
        known = self._host(host)
        size = known.size
        page = _PageText(url, pieces_of(text))
        if is_leaf:
            known.leaves += 1
            is_read = run > 0 or not known.is_plain or known.leaves % _WHOLE_EVERY == 0
            news = _judge_leaf(known, page, is_read=is_read)
        else:
            known.inner += 1
            is_brief = known.is_plain and known.inner % _WHOLE_EVERY != 0
            news = (_judge_brief(known, page) if is_brief else None) or _judge(known, page)
        if self._is_shared:
            self.numbers = numbers_of(page.bare, page.new)
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


class _PageText:
    """The pieces of a page's text, and what is made of them when it is needed."""

    __slots__ = ("_bare", "_masked", "_pieces", "new", "number", "url")

    def __init__(self, url: str, pieces: str) -> None:
        self.url = url
        self.number = hash(pieces)
        self.new: set[bytes] = set()  # words
        self._pieces = pieces
        self._masked: bytes | None = None
        self._bare: bytes | None = None

    @property
    def masked(self) -> bytes:
        if self._masked is None:
            self._masked = self._pieces.encode(errors="replace").translate(_TABLE)
        return self._masked

    @property
    def bare(self) -> bytes:
        """The masked text without digits."""
        if self._bare is None:
            self._bare = self.masked.translate(None, _DIGITS)
        return self._bare


def _judge_leaf(known: _HostText, page: _PageText, *, is_read: bool) -> News:
    known.texts.add(page.number)
    if not is_read:
        return News.UNKNOWN
    page.new = known.learn_words(_some_of(page.masked).split())
    if known.pages <= _FIRST_PAGES:
        return News.UNKNOWN
    return News.NEW if page.new else News.KNOWN


def _judge_brief(known: _HostText, page: _PageText) -> News | None:
    """NEW, by a few words; None if the whole is to be read."""
    if page.number in known.texts:
        return None
    page.new = known.learn_words(_some_of(page.masked).split())
    if page.new <= _words_of(page.url) or len(page.new) > _ODD_WORDS:
        return None
    known.texts.add(page.number)
    return News.NEW


def _judge(known: _HostText, page: _PageText) -> News:
    words = page.masked.split()
    page.new |= known.learn_words(words)
    new_lines = known.learn_lines(page.masked, page.bare)
    has_odd_pairs = known.learn_pairs(new_lines)
    if known.pages <= _FIRST_PAGES:
        return News.UNKNOWN
    if len(set(words[:_SOME_WORDS])) < _FEW_WORDS and len(set(words)) < _FEW_WORDS:
        return News.UNKNOWN if new_lines else News.KNOWN
    news = _grade(known, page, words, new_lines, has_odd_pairs=has_odd_pairs)
    known.note_grade(news)
    return news


def _grade(
    known: _HostText,
    page: _PageText,
    words: list[bytes],
    new_lines: list[bytes],
    *,
    has_odd_pairs: bool,
) -> News:
    own = _words_of(page.url)
    new_words = page.new - own
    is_copy = page.number in known.texts
    has_many = len(new_words) >= _SOME_NEWS and len(new_lines) > _FEW_NEW_LINES
    explained = {} if is_copy or has_many else _explained(known, new_lines, own)
    says = 0 if is_copy else len(new_lines) - len(explained)
    if is_copy or not (new_words or says):
        lines = set(map(hash, page.bare.split(b"\n"))) - explained.keys()
        return known.learn_repeated(lines | set(explained.values()))
    if has_odd_pairs or _is_odd(new_words, words, len(known.words)):
        return News.ODD
    if len(new_words) >= _SOME_NEWS or says >= _SOME_LINES:
        return News.NEW
    return _grade_little(known, page, new_lines)


def _grade_little(known: _HostText, page: _PageText, new_lines: list[bytes]) -> News:
    """The grade of a page with one new line: a trap may have put it between its own."""
    if not known.repeats:
        return News.KNOWN
    lines = set(map(hash, page.bare.split(b"\n")))
    lines.difference_update(hash(line.translate(None, _DIGITS)) for line in new_lines)
    if not known.are_stale(lines):
        return News.KNOWN
    known.repeats.update(lines)
    return News.REPEATED


def _words_of(url: str) -> set[bytes]:
    return set(url.encode(errors="replace").translate(_TABLE).split())


def _explained(known: _HostText, new_lines: list[bytes], own: set[bytes]) -> dict[int, int]:
    """The new lines that are new by numbers, tokens and words of the page's URL alone: what is left
    without those was shown before. Hashes of such lines, and of what is left of them."""
    explained: dict[int, int] = {}
    left: set[int] = set()
    for line in new_lines:
        words = line.split()
        bare = line.translate(None, _DIGITS)
        kept = [word for word in words if word not in own and _TOKEN.search(word) is None]
        rest = b" ".join(b" ".join(kept).translate(None, _DIGITS).split())
        number = hash(rest)
        if not rest or (len(kept) < len(words) and number in known.lines):
            explained[hash(bare)] = number
        elif len(kept) < len(words):
            left.add(number)
    known.lines |= left
    return explained


def _is_odd(new: set[bytes], words: list[bytes], known_words: int) -> bool:
    if known_words < _MANY_WORDS or len(new) < _ODD_WORDS:
        return False
    plain = sum(map(bytes.isalpha, set(words)))
    return sum(map(bytes.isalpha, new)) > _ODD_SHARE * plain > 0


def _some_of(masked: bytes) -> bytes:
    """Whole words from the start of a masked text and from its middle."""
    if len(masked) <= 3 * _PART:
        return masked
    middle = masked.find(b" ", len(masked) // 2) + 1
    first = masked[: max(0, masked.rfind(b" ", 0, _PART))]
    return first + masked[middle - 1 : max(0, masked.rfind(b" ", middle, middle + _PART))]


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
