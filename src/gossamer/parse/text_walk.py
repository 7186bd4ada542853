"""Extract the text of a tree, and the texts of its links and headings, in one walk.

One line per block, a tab between the cells of a table, white space folded to one space except in
`pre`. Scripts, styles and everything that browsers do not show are left out. The text of an element
includes the alt of its images, folded to one line.

`scan_tree.h` does the same in C for nearly all pages; both must give the same text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from turbohtml import CData, Element, Namespace, Node, Text

_LINE: Final = frozenset({
    "address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "details",
    "dialog", "dir", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form",
    "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "legend", "li", "listing",
    "main", "menu", "nav", "ol", "optgroup", "option", "p", "plaintext", "pre", "search",
    "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "xmp",
})  # fmt: skip
_CELLS: Final = frozenset({"td", "th"})
_SPACED: Final = frozenset({"button", "input", "keygen", "select", "textarea"})
# elements that keep their white space
_WRITTEN: Final = frozenset({"listing", "plaintext", "pre", "xmp"})
_SILENT: Final = frozenset({
    "iframe", "noembed", "noframes", "script", "style", "template",
})  # fmt: skip
# elements whose text is returned separately
_TEXT_WANTED: Final = frozenset({"a", "h1", "h2", "h3", "h4", "h5", "h6"})

_NOTHING: Final = 0
_SPACE: Final = 1
_TAB: Final = 2
_NEW_LINE: Final = 3
_SEPARATORS: Final = ("", " ", "\t", "\n")
_OWED_BY: Final = (
    dict.fromkeys(_LINE, _NEW_LINE) | dict.fromkeys(_CELLS, _TAB) | dict.fromkeys(_SPACED, _SPACE)
)

_WHITE: Final = " \t\n\f\r"
_RUN: Final = re.compile(f"[{_WHITE}]+")


class PageText(NamedTuple):
    """The text of a page, and the texts of its `a` and headings, folded but not cut.

    An anchor around others, which only a table in a link makes, has no text of its own: 100 anchors
    around one long text would cost 100 times that text.
    """

    text: str
    words: dict[Element, str]


def page_text_of(root: Node) -> PageText:
    """Walk a tree, or a part of it."""
    walk = _Walk()
    walk.through(root)
    return PageText("".join(walk.text).rstrip(_WHITE), walk.words)


def text_of(root: Node) -> str:
    """The text of a tree, or of a part of it."""
    return page_text_of(root).text


class _Walk:
    """The text so far, and the white space due before the next character."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.words: dict[Element, str] = {}
        self._spoken_text: list[str] = []  # the text including the alt of images
        self._owed = _NOTHING
        self._last = ""  # character
        self._written = 0  # number of open elements that keep their white space
        self._anchors: list[Element] = []  # open anchors
        self._around: set[Element] = set()  # anchors that contain others

    def through(self, root: Node) -> None:
        """Depth first, without recursion: pages may nest to any depth."""
        stack: list[tuple[Iterator[Node], Element | None, int]] = [(iter(root.children), None, 0)]
        while stack:
            children, element, start = stack[-1]
            node = next(children, None)
            if node is None:
                stack.pop()
                if element is not None:
                    self._end(element, start)
            elif isinstance(node, Text | CData):
                self._add(node.text)
            elif isinstance(node, Element) and not _is_silent(node):
                self._start(node)
                stack.append((iter(node.children), node, len(self._spoken_text)))

    def _start(self, element: Element) -> None:
        tag = element.tag
        is_html = element.namespace is Namespace.HTML
        if is_html and tag in _OWED_BY:
            self._owed = max(self._owed, _OWED_BY[tag])
        if tag == "img" and (alt := element.attr("alt")):
            self._spoken_text.append(f" {alt} ")
        if tag == "a":
            self._around.update(self._anchors[-1:])
            self._anchors.append(element)
        if is_html and tag in _WRITTEN:
            self._written += 1

    def _end(self, element: Element, start: int) -> None:
        tag = element.tag
        if tag == "a":
            self._anchors.pop()
        if tag in _TEXT_WANTED and element not in self._around:
            self.words[element] = " ".join("".join(self._spoken_text[start:]).split())
        if element.namespace is Namespace.HTML:
            if tag in _WRITTEN:
                self._written -= 1
            self._owed = max(self._owed, _OWED_BY.get(tag, _NOTHING))

    def _add(self, data: str) -> None:
        if self._written:
            if data:
                self._pay()
                self._put(data)
            return
        folded = _RUN.sub(" ", data)
        core = folded.strip(" ")
        if not core:
            self._owed = max(self._owed, _SPACE if folded else _NOTHING)
            return
        if folded[0] == " ":
            self._owed = max(self._owed, _SPACE)
        self._pay()
        self._put(core)
        if folded[-1] == " ":
            self._owed = _SPACE

    def _pay(self) -> None:
        owed, self._owed = self._owed, _NOTHING
        if not owed or not self._last or self._last == "\n":
            return
        if (self._last == "\t" and owed < _NEW_LINE) or (self._last == " " and owed == _SPACE):
            return
        self._put(_SEPARATORS[owed])

    def _put(self, data: str) -> None:
        self.text.append(data)
        self._spoken_text.append(data)
        self._last = data[-1]


def _is_silent(element: Element) -> bool:
    tag = element.tag
    return tag in _SILENT or (tag == "title" and element.namespace is Namespace.HTML)
