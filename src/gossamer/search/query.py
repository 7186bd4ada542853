"""What does a query mean?

`read` turns the words of a person into a tree (tree.py), or raises QueryError, whose sentence
points at the character that cannot be read:

    query   = part*
    part    = ["-"] one ("OR" ["-"] one)*       OR joins its two neighbours: a b OR c is a (b OR c)
    one     = [field ":"] (word | word "*" | '"' words '"' ["~" number] | "(" query ")")
    field   = title anchor url site type lang since

Every query is read in one pass, and its length, depth and number of words are bounded. What
looks like syntax but has no place there (a colon after another word, a dash, a bracket within a
word like `print()`) is part of a word, and a word's punctuation is the index's affair.

Left to others: what is a word to the index, and whether any is left (plan.py).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from gossamer.errors import QueryError
from gossamer.search.properties import property_of
from gossamer.search.tree import All, Any, Field, Node, Not, Phrase, Prefix, Property, Word

MAX_CHARS: Final = 10_000
MAX_DEPTH: Final = 20
MAX_PARTS: Final = 2_000  # a page of prose has 500 words
MAX_SLOP: Final = 100
# Each of these costs as much as hundreds of words: a prefix stands for them, a loose phrase looks
# into pages.
MAX_PREFIXES: Final = 20
MAX_LOOSE: Final = 20

_FIELDS: Final = {field.value: field for field in Field if field}
_PROPERTIES: Final = {one.value: one for one in Property}
_FIELD: Final = re.compile(rf"({'|'.join([*_FIELDS, *_PROPERTIES])}):", re.IGNORECASE)
_SLOP: Final = re.compile(r"~(\d*)")
_QUOTES: Final = str.maketrans("“”„‟", '""""')

_Named = Field | Property


def read(text: str) -> Node:
    """The tree of a query; `All(())` where it has no part. Raises QueryError."""
    if len(text) > MAX_CHARS:
        raise QueryError(
            f"the query has {len(text):,} characters, and {MAX_CHARS:,} are allowed",
            text,
            MAX_CHARS,
        )
    return _Reader(text).read()


def clean(text: str) -> str:
    """The query with a space for each character that nobody can see or type, as long as before."""
    plain = text.translate(_QUOTES)
    if plain.isprintable():
        return plain
    return "".join(" " if _is_control(char) else char for char in plain)


def _is_control(char: str) -> bool:
    # Cc controls, Cs halves of a pair, Cn and Co nothing. Cf stays: it joins letters in Persian.
    return unicodedata.category(char) in {"Cc", "Cs", "Cn", "Co", "Zl", "Zp", "Zs"}


class _Reader:
    """One query, read from left to right."""

    def __init__(self, text: str) -> None:
        self._shown = text
        self._text = clean(text)
        self._at = 0
        self._parts = 0
        self._prefixes = 0
        self._loose = 0

    def read(self) -> Node:
        tree = self._all(Field.TEXT, 0)
        if self._at < len(self._text):
            raise self._fault("this bracket closes nothing")
        return tree

    # -- rules

    def _all(self, named: _Named, depth: int) -> Node:
        """Parts up to the end or a closing bracket."""
        parts: list[Node] = []
        while (char := self._next_char()) and char != ")":
            parts.append(self._part(named, depth))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def _part(self, named: _Named, depth: int) -> Node:
        """One thing, or several joined by OR."""
        if self._takes_or():
            raise self._fault("OR needs something before it", -2)
        choices = [self._signed(named, depth)]
        while self._takes_or():
            after_or = self._at
            if self._next_char() in {"", ")"} or self._takes_or():
                raise QueryError("OR needs something after it", self._shown, after_or - 2)
            choices.append(self._signed(named, depth))
        return choices[0] if len(choices) == 1 else Any(tuple(choices))

    def _signed(self, named: _Named, depth: int) -> Node:
        start = self._at
        while self._char() == "-":
            self._at += 1
        if self._at == start:
            return self._one(named, depth)
        if self._char() in {"", ")"} or self._char().isspace():
            return Word(self._text[start : self._at], at=start)  # a dash between words
        return Not(self._one(named, depth))

    def _one(self, named: _Named, depth: int) -> Node:
        self._count_part()
        start = self._at
        if found := _FIELD.match(self._text, self._at):
            name = found[1].lower()
            named = _FIELDS.get(name) or _PROPERTIES[name]
            self._at = found.end()
            if self._char() in {"", ")"} or self._char().isspace():
                raise QueryError(f"{name}: needs a value right after its colon", self._shown, start)
        if self._char() == "(":
            return self._group(named, depth + 1)
        if self._char() == '"':
            return self._phrase(named)
        return self._word(named)

    def _group(self, named: _Named, depth: int) -> Node:
        opened = self._at
        if depth > MAX_DEPTH:
            raise self._fault(f"brackets are nested more than {MAX_DEPTH} deep here")
        self._at += 1
        inside = self._all(named, depth)
        if self._char() != ")":
            raise QueryError("this bracket is never closed", self._shown, opened)
        self._at += 1
        return inside

    def _phrase(self, named: _Named) -> Node:
        opened = self._at
        closed = self._text.find('"', opened + 1)
        if closed < 0:
            raise self._fault("this quotation mark is never closed")
        words = self._text[opened + 1 : closed]
        self._at = closed + 1
        slop = self._slop()
        if isinstance(named, Property):
            return property_of(named, words, self._shown, opened)
        return Phrase(words, slop, named, opened)

    def _slop(self) -> int:
        found = _SLOP.match(self._text, self._at)
        if found is None:
            return 0
        # int() of a long row of digits takes its time; three say enough.
        if not found[1] or len(found[1]) > 3 or int(found[1]) > MAX_SLOP:
            raise self._fault(f"after ~ a whole number up to {MAX_SLOP} is needed")
        self._loose += 1
        if self._loose > MAX_LOOSE:
            raise self._fault(f"more than {MAX_LOOSE} phrases have a ~")
        self._at = found.end()
        return int(found[1])

    def _word(self, named: _Named) -> Node:
        start = self._at
        self._at = self._end_of_word(start)
        word = self._text[start : self._at]
        if isinstance(named, Property):
            return property_of(named, word, self._shown, start)
        if word.endswith("*"):
            self._prefixes += 1
            if self._prefixes > MAX_PREFIXES:
                raise QueryError(f"more than {MAX_PREFIXES} words end in *", self._shown, start)
            return Prefix(word.rstrip("*"), named, start)
        return Word(word, named, start)

    # -- characters

    def _end_of_word(self, start: int) -> int:
        """A word goes on to a space, a quotation mark, or a bracket that it did not open."""
        opened = 0
        for at in range(start, len(self._text)):
            char = self._text[at]
            if char.isspace() or char == '"' or (char == ")" and not opened):
                return at
            opened += (char == "(") - (char == ")")
        return len(self._text)

    def _char(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next_char(self) -> str:
        while self._char().isspace():
            self._at += 1
        return self._char()

    def _takes_or(self) -> bool:
        """Step over `OR`, where it stands."""
        self._next_char()
        end = self._at + 2
        if self._text[self._at : end] != "OR" or not self._is_boundary(end):
            return False
        self._at = end
        return True

    def _is_boundary(self, at: int) -> bool:
        after = self._text[at : at + 1]
        return not after or after.isspace() or after in '()"'

    def _count_part(self) -> None:
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise self._fault(f"the query has more than {MAX_PARTS:,} words up to here")

    def _fault(self, sentence: str, back: int = 0) -> QueryError:
        return QueryError(sentence, self._shown, self._at + back)
