"""Parse lists in XML (sitemaps, RSS, Atom): a root, fields about the whole, and entries with
fields.

    <urlset> <url> <loc>...</loc> <lastmod>...</lastmod> </url> ... </urlset>

expat is used and not turbohtml's `parse_xml`, for three reasons. A truncated or invalid list still
gives everything before the error, which a parser that raises cannot. A list of 50 MB makes no tree.
And a list with a doctype can be read. The dangerous features of expat are off. No handler for
external entities exists, so none is read. A doctype that builds entities from entities ends the
reading before they expand. Declarations of any other doctype are dropped: parsing restarts after
it, because entities would be expanded in attributes, and 40 KB on the wire became 2 GB. Time and
memory are linear in the number of characters, and the number of elements is bounded.

Names are without prefix and in lower case: prefixes are often not declared, and some files have
`<URL>`. `sitemap.py` and `feed.py` interpret the fields.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from functools import cache
from typing import Final, NamedTuple
from xml.parsers import expat  # nothing external is read: see above

ENTRIES: Final = frozenset({"url", "sitemap", "item", "entry"})
# 50,000 URLs with twenty fields and images each; at most 2 s of parsing.
MAX_ELEMENTS: Final = 1_000_000
_MAX_FIELDS: Final = 5_000  # of an entry: the image extension of sitemaps.org allows 1,000 per page
_MAX_LEVEL: Final = 3  # deeper elements are text of the field around them

# Queries in URLs are often written with bare ampersands; in CDATA they are valid.
_BARE_AMPERSAND: Final = re.compile(r"(<!\[CDATA\[.*?(?:\]\]>|\Z))|&(?!#?\w+;)", re.DOTALL)


class XmlField(NamedTuple):
    """A named part of an entry. `text` includes that of inner elements, stripped."""

    name: str
    prefix: str
    text: str
    attributes: dict[str, str]
    level: int  # 1 is a child of the entry


@dataclass(slots=True)
class XmlEntry:
    """One `url`, `sitemap`, `item` or `entry`. `text` is its text outside of fields."""

    name: str
    fields: list[XmlField] = field(default_factory=list)
    text: str = ""

    def first(self, *names: str) -> str:
        """The first text under one of these names, in the order of the names; or an empty
        string.
        """
        texts = (f.text for name in names for f in self.fields if f.name == name and f.text)
        return next(texts, "")


@dataclass(slots=True)
class XmlList:
    """The result. `fault` says why reading ended early; without a root it is not XML."""

    root: str = ""
    prefix: str = ""
    namespace: str = ""
    head: XmlEntry = field(default_factory=lambda: XmlEntry("head"))
    entries: list[XmlEntry] = field(default_factory=list)
    fault: str = ""
    has_doctype: bool = False


@cache
def _not_xml() -> re.Pattern[str]:
    """Characters that XML forbids. Compiling takes 6 ms, and most crawls need it never."""
    return re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_list(source: str, max_entries: int) -> XmlList:
    """Read any text as far as possible. Entries beyond `max_entries` are dropped."""
    source = _not_xml().sub("", source.lstrip("\ufeff\t\n\r "))
    if 0 < source.count("&") <= MAX_ELEMENTS:
        source = _BARE_AMPERSAND.sub(lambda found: found[1] or "&amp;", source)
    try:
        reading = _read(source, _Reading(max_entries))
    except _Declared as declared:
        before, source = _split(source, declared.end_byte)
        reading = _read(source, _Reading(max_entries), lines_before=before.count("\n"))
        reading.found.has_doctype = True
    # If the text is cut inside a tag, the text before it is whole; else it may be half a URL.
    reading.close(is_text_whole=source.rfind("<") > source.rfind(">"))
    return reading.found


def _read(source: str, reading: _Reading, lines_before: int = 0) -> _Reading:
    try:
        reading.parser.Parse(source, True)
    except expat.ExpatError as error:
        line = lines_before + error.lineno
        reading.found.fault = f"line {line}: {expat.ErrorString(error.code)}"
    except _Enough as enough:
        reading.found.fault = str(enough)
    return reading


def _split(source: str, at_byte: int) -> tuple[str, str]:
    """A text before and after a position that expat gives as a byte offset in UTF-8."""
    encoded = source.encode()
    return encoded[:at_byte].decode(), encoded[at_byte:].decode()


class _Enough(Exception):
    """Ends the reading. The message says why."""


class _Declared(Exception):
    """A doctype with declarations ended at `end_byte`. None of them may take effect."""

    def __init__(self, end_byte: int) -> None:
        super().__init__(end_byte)
        self.end_byte = end_byte


@dataclass(slots=True)
class _Open:
    """A field whose end tag has not come."""

    name: str
    prefix: str
    attributes: dict[str, str]
    pieces: list[str] = field(default_factory=list)


class _Reading:
    """The state of the parser."""

    def __init__(self, max_entries: int) -> None:
        self.found = XmlList()
        self._max_entries = max_entries
        self._elements = 0
        self._depth = 0
        self._entry: XmlEntry | None = None
        self._entry_depth = 0
        self._inside = 1  # depth of the element that holds entries and head fields: root or channel
        self._open: list[_Open] = []
        self._loose: list[str] = []
        self._has_declarations = False
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        # Undeclared entities (&nbsp;) are passed on, where expat would stop.
        self.parser.UseForeignDTD(True)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        # Undeclared entities arrive here, too.
        self.parser.DefaultHandler = self._other
        self.parser.SkippedEntityHandler = self._skipped
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EndDoctypeDeclHandler = self._doctype_end
        self.parser.EntityDeclHandler = self._entity

    def close(self, *, is_text_whole: bool) -> None:
        """End of input: close the open elements, or drop them if they may be incomplete."""
        self.parser.buffer_text = False  # flushes its buffer
        while self._open:
            if is_text_whole:
                self._end_field()
            else:
                self._open.pop()
            is_text_whole = True
        self._end_entry()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise _Enough(f"it has more than {MAX_ELEMENTS} elements")
        self._depth += 1
        prefix, _, local = name.rpartition(":")
        local = local.lower()
        if self._depth == 1:
            self._take_root(prefix, local, attributes)
        elif local == "channel" and self._depth == 2:
            self._inside = 2
        elif local in ENTRIES and not self._open and (self._entry or self._is_inside()):
            self._end_entry()  # the entry before may have no end tag
            if len(self.found.entries) >= self._max_entries:
                raise _Enough(f"it has more than {self._max_entries} entries")
            self._entry, self._entry_depth = XmlEntry(local), self._depth
        elif len(self._open) < _MAX_LEVEL:
            self._open.append(_Open(local, prefix, attributes))

    def _end(self, _name: str) -> None:
        level = self._depth - (self._entry_depth if self._entry else self._inside)
        if self._open and level <= len(self._open):
            self._end_field()
        elif self._entry and self._depth == self._entry_depth:
            self._end_entry()
        if self._depth == 2 and self._inside == 2:
            self._inside = 1
        self._depth -= 1

    def _is_inside(self) -> bool:
        return self._depth == self._inside + 1

    def _take_root(self, prefix: str, local: str, attributes: dict[str, str]) -> None:
        self.found.root, self.found.prefix = local, prefix
        self.found.namespace = attributes.get(f"xmlns:{prefix}" if prefix else "xmlns", "")

    def _end_field(self) -> None:
        ended = self._open.pop()
        text = "".join(ended.pieces)
        level = len(self._open) + 1
        if self._open:
            self._open[-1].pieces.append(text)
        entry = self._entry or self.found.head
        made = XmlField(ended.name, ended.prefix, text.strip(), ended.attributes, level)
        if len(entry.fields) < _MAX_FIELDS:
            entry.fields.append(made)

    def _end_entry(self) -> None:
        if self._entry is not None:
            self._entry.text = "".join(self._loose).strip()
            self.found.entries.append(self._entry)
        self._entry, self._loose = None, []

    def _text(self, text: str) -> None:
        if self._open:
            self._open[-1].pieces.append(text)
        elif self._entry is not None:
            self._loose.append(text)

    def _other(self, text: str) -> None:
        """Comments, declarations and entity references: of these, HTML entities are known."""
        if text.startswith("&") and text.endswith(";"):
            meant = html.unescape(text)
            if meant != text:
                self._text(meant)

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            self._other(f"&{name};")

    def _doctype(
        self, _root: str, _system: str | None, _public: str | None, has_declarations: int
    ) -> None:
        self.found.has_doctype = True
        self._has_declarations = bool(has_declarations)

    def _doctype_end(self) -> None:
        if self._has_declarations:
            raise _Declared(self.parser.CurrentByteIndex + 1)  # the byte of its `>`

    def _entity(self, name: str, is_parameter: bool, value: str | None, *_external: object) -> None:
        if value is not None and (is_parameter or "&" in value or "%" in value):
            raise _Enough(f"its doctype defines the entity {name!r} by other entities")
