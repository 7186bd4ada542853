"""Parse a query.

`parse` turns the words of a person into a tree (tree.py):

    query   = part*
    part    = ["-"] one ("OR" ["-"] one)*       OR joins its two neighbours: a b OR c is a (b OR c)
    one     = [field ":"] (word | word "*" | '"' words '"' ["~" number] | "(" query ")")
    field   = title anchor url site type lang since changed

No query is an error. Misplaced syntax is read as words: a colon after another word, a dash, a
bracket within a word like `print()`, a bracket or quotation mark without a partner, `title:`
without a value, `OR` without neighbours. If that may surprise, a reason is recorded (hints.py).
Every query is read in one pass, and its length, depth and number of words are bounded; everything
beyond a bound is dropped, which is recorded, too.

plan.py decides what a word is to the index, and whether any is left.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from gossamer.search.brackets import balanced, end_of_word
from gossamer.search.hints import Reasons, shortened
from gossamer.search.properties import NotAValue, property_of
from gossamer.search.tree import All, Any, Field, Not, Phrase, Property, QueryNode, Word, WordPrefix

MAX_CHARS: Final = 10_000
MAX_DEPTH: Final = 20
MAX_PARTS: Final = 2_000  # a page of prose has 500 words
MAX_SLOP: Final = 100
# Each of these costs as much as hundreds of words: a prefix expands to them, a loose phrase checks
# pages.
MAX_PREFIXES: Final = 20
MAX_LOOSE: Final = 20

_FIELDS: Final = {field.value: field for field in Field if field}
_PROPERTIES: Final = {one.value: one for one in Property}
_FIELD: Final = re.compile(rf"({'|'.join([*_FIELDS, *_PROPERTIES])}):", re.IGNORECASE)
_SLOP: Final = re.compile(r"~(\d*)")
_QUOTES: Final = str.maketrans("“”„‟", '""""')
_LONGEST_SHOWN: Final = 30

_Named = Field | Property


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as it was read, and the reasons if that differs from what was typed."""

    tree: QueryNode
    reasons: tuple[str, ...] = ()
    has_wrong_day: bool = False


def parse(text: str) -> ParsedQuery:
    """Parse a query. The tree is `All(())` if it has no part. Never raises."""
    return _Reader(text).parse()


def read(text: str) -> QueryNode:
    """Only the tree."""
    return parse(text).tree


def clean(text: str) -> str:
    """The query with a space for each invisible or invalid character; the length stays."""
    plain = text.translate(_QUOTES)
    if plain.isprintable():
        return plain
    return "".join(" " if _is_control(char) else char for char in plain)


def _is_control(char: str) -> bool:
    # Cc controls, Cs surrogates, Cn and Co unassigned. Cf stays: it joins letters in Persian.
    return unicodedata.category(char) in {"Cc", "Cs", "Cn", "Co", "Zl", "Zp", "Zs"}


class _Reader:
    """One query, read from left to right."""

    def __init__(self, text: str) -> None:
        self._reasons = Reasons()
        self._text = self._balanced(clean(self._shortened(text)))
        self._at = 0
        self._parts = 0
        self._prefixes = 0
        self._loose = 0
        self._has_wrong_day = False

    def parse(self) -> ParsedQuery:
        parts: list[QueryNode] = []
        while self._at < len(self._text):
            self._step_over_brackets()
            tree = self._all(Field.TEXT, 0)
            parts += tree.parts if isinstance(tree, All) else (tree,)
        tree = parts[0] if len(parts) == 1 else All(tuple(parts))
        return ParsedQuery(tree, tuple(self._reasons), self._has_wrong_day)

    # -- preparation

    def _shortened(self, text: str) -> str:
        if len(text) > MAX_CHARS:
            self._note(f"Only the first {MAX_CHARS:,} of {len(text):,} characters are used.")
        return text[:MAX_CHARS]

    def _balanced(self, text: str) -> str:
        found = balanced(text, MAX_DEPTH, lambda at: _field_end(text, at))
        if found.has_open_quote:
            self._note('A quotation mark (") is not closed.')
        if found.has_open_bracket:
            self._note("A bracket is not closed.")
        if found.has_stray_close:
            self._note("A closing bracket has no opening bracket.")
        if found.is_too_deep:
            self._note(f"Brackets nested more than {MAX_DEPTH} deep are ignored.")
        return found.text

    # -- grammar rules

    def _all(self, named: _Named, depth: int) -> QueryNode:
        """Parts up to the end or a closing bracket."""
        parts: list[QueryNode] = []
        while (char := self._next_char()) and char != ")":
            if self._parts >= MAX_PARTS:
                self._note(f"Only the first {MAX_PARTS:,} words are used.")
                self._at = len(self._text)
                break
            parts.append(self._part(named, depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _part(self, named: _Named, depth: int) -> QueryNode:
        """One part, or several joined by OR."""
        start = self._at
        if self._takes_or():
            self._note("OR needs a word on each side.")
            return self._plain_word(named, start)
        choices = [self._signed(named, depth)]
        while self._parts < MAX_PARTS:
            before_or = self._at
            if not self._takes_or():
                break
            while self._takes_or():
                self._note("OR needs a word on each side.")
            if self._next_char() in {"", ")"}:
                self._at = before_or  # the next part reads it as a word
                break
            choices.append(self._signed(named, depth))
        return choices[0] if len(choices) == 1 else Any(tuple(choices))

    def _plain_word(self, named: _Named, start: int) -> Word:
        """The text just passed, as a word without a property."""
        self._parts += 1
        field = named if isinstance(named, Field) else Field.TEXT
        return Word(self._text[start : self._at], field, start)

    def _signed(self, named: _Named, depth: int) -> QueryNode:
        start = self._at
        while self._char() == "-":
            self._at += 1
        dashes = self._at - start
        if not dashes:
            return self._one(named, depth)
        if self._char() in {"", ")"} or self._char().isspace():
            return self._plain_word(Field.TEXT, start)  # a dash between words
        if dashes == 1:
            return Not(self._one(named, depth))
        word = self._text[start : min(end_of_word(self._text, self._at), start + _LONGEST_SHOWN)]
        self._note(f"{word} is a word here: only a single dash excludes.")
        return self._one(named, depth)

    def _one(self, named: _Named, depth: int) -> QueryNode:
        start = self._at
        if found := _FIELD.match(self._text, self._at):
            name = found[1].lower()
            self._at = found.end()
            if self._char() in {"", ")"} or self._char().isspace():
                self._note(f"{name}: needs its value right after the colon.")
                return self._plain_word(named, start)
            named = _FIELDS.get(name) or _PROPERTIES[name]
        if self._char() == "(":
            return self._group(named, depth + 1)
        self._parts += 1
        if self._char() == '"':
            return self._phrase(named)
        return self._word(named)

    def _group(self, named: _Named, depth: int) -> QueryNode:
        self._parts += 1
        self._at += 1
        inside = self._all(named, depth)
        self._at += self._char() == ")"
        return inside

    def _phrase(self, named: _Named) -> QueryNode:
        opened = self._at
        closed = self._text.find('"', opened + 1)
        if closed < 0:  # only if removing a bracket has changed the word boundaries
            self._at += 1
            return Word("", at=opened)
        words = self._text[opened + 1 : closed]
        self._at = closed + 1
        if isinstance(named, Property):
            self._slop()
            return self._property(named, words, opened)
        slop = self._slop()
        if slop is None:
            return All(tuple(Word(word, named, opened) for word in words.split()))
        return Phrase(words, slop, named, opened)

    def _slop(self) -> int | None:
        """The number after a `~`; None if the phrase is to be read as its words."""
        found = _SLOP.match(self._text, self._at)
        if found is None:
            return 0
        self._at = found.end()
        if not found[1]:
            self._note(f"~ needs a whole number up to {MAX_SLOP}.")
            return 0
        self._loose += 1
        if self._loose > MAX_LOOSE:
            self._note(f"Only the first {MAX_LOOSE} phrases with ~ are used as phrases.")
            return None
        # int() of many digits is slow; three are enough.
        if len(found[1]) > 3 or int(found[1]) > MAX_SLOP:
            self._note(f"~ is at most {MAX_SLOP}.")
            return MAX_SLOP
        return int(found[1])

    def _word(self, named: _Named) -> QueryNode:
        start = self._at
        self._at = end_of_word(self._text, start)
        word = self._text[start : self._at]
        if isinstance(named, Property):
            return self._property(named, word, start)
        if word.endswith("*"):
            self._prefixes += 1
            if self._prefixes <= MAX_PREFIXES:
                return WordPrefix(word.rstrip("*"), named, start)
            self._note(f"Only the first {MAX_PREFIXES} words with * are used as prefixes.")
        return Word(word, named, start)

    def _property(self, named: Property, value: str, start: int) -> QueryNode:
        try:
            return property_of(named, value, start)
        except NotAValue as fault:
            self._note(f"{named}:{shortened(value, _LONGEST_SHOWN)} is not a filter: {fault}.")
            is_day = named in {Property.SINCE, Property.CHANGED}
            self._has_wrong_day = self._has_wrong_day or is_day
            return Word(f"{named}:{value}", at=start)

    # -- characters

    def _char(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next_char(self) -> str:
        while self._char().isspace():
            self._at += 1
        return self._char()

    def _step_over_brackets(self) -> None:
        """Only if removing a bracket has changed the word boundaries."""
        while self._next_char() == ")":
            self._at += 1

    def _takes_or(self) -> bool:
        """Step over an `OR` at this position."""
        self._next_char()
        end = self._at + 2
        if self._text[self._at : end] != "OR" or not self._is_boundary(end):
            return False
        self._at = end
        return True

    def _is_boundary(self, at: int) -> bool:
        after = self._text[at : at + 1]
        return not after or after.isspace() or after in '()"'

    def _note(self, sentence: str) -> None:
        self._reasons.add(sentence)


def _field_end(text: str, at: int) -> int:
    found = _FIELD.match(text, at)
    return found.end() if found else at
