"""The blocks of a page with the size of their text: one walk over the tree.

A block is an element that is not inline. The text of inline elements belongs to the block around
them. A block with a sentence that is not mostly links is prose and has weight; the weight of a
block is that of all the prose inside it. Every step here costs time in proportion to the page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final, TypeAlias

from turbohtml import CData, Element, Node, Text

from gossamer.parse.block_names import Role, is_section, role_of

FEWEST_CHARS: Final = 40  # shorter text is a label, not prose
_LINKED: Final = 0.4  # share of linked text in a block: more is a list of links, not prose
_SILENT: Final = frozenset({
    "audio", "button", "canvas", "iframe", "map", "math", "noembed", "noframes", "noscript",
    "object", "script", "select", "style", "svg", "template", "textarea", "title", "video",
})  # fmt: skip
_INLINE: Final = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "br", "cite", "code", "data", "del", "dfn",
    "em", "font", "i", "img", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small",
    "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_ROLES_OF_TAGS: Final = {
    "article": Role.BODY,
    "aside": Role.BOILERPLATE,
    "body": Role.PLAIN,
    "dialog": Role.BOILERPLATE,
    "figcaption": Role.SECONDARY,
    "footer": Role.BOILERPLATE,
    "form": Role.SECONDARY,
    "main": Role.BODY,
    "menu": Role.SECONDARY,
    "nav": Role.BOILERPLATE,
}
_WITHIN: Final = HEADINGS | {"blockquote", "dd", "dt", "li", "p", "pre", "tbody", "td", "th", "tr"}
_BOILERPLATE_ROLES: Final = frozenset({
    "alert", "alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar",
    "navigation", "search", "toolbar", "tooltip",
})  # fmt: skip
_TEXTS: Final = (Text, CData)
_UNREAD: Final = frozenset({"aside", "dialog", "footer", "nav"})
_LABELS: Final = (Role.SECONDARY, Role.BOILERPLATE)
_HIDDEN: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


class Block:
    """An element with the size of its text in characters: `own` outside of inner blocks, `chars`
    with those; `linked` of them are in links. `labels` are inline elements with a name that content
    does not have, such as a date, and the size of their text.
    """

    __slots__ = (
        "chars", "children", "element", "has_title", "labels", "linked", "own", "own_linked",
        "parent", "role", "tag", "weight",
    )  # fmt: skip

    def __init__(self, element: Element, tag: str, parent: Block | None) -> None:
        self.element = element
        self.tag = tag
        self.parent = parent
        self.children: list[Block] = []
        self.role = _role_of(element, tag)
        self.own = self.own_linked = self.chars = self.linked = self.weight = 0
        self.has_title = False
        self.labels: list[tuple[Element, int]] = []

    @property
    def is_section(self) -> bool:
        return is_section(self.tag, self.element.attr("class") or "")

    def up(self) -> Iterator[Block]:
        """This block and its ancestors, from the inside out."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.parent


# An element whose children are being read: the children, its block, whether it is in a link, and
# for a label the element, the size of the block before it and the number of blocks before it.
_Label: TypeAlias = tuple[Element, int, int]
_Open: TypeAlias = tuple[Iterator[Node], Block, bool, _Label | None]


def blocks_of(body: Element) -> list[Block]:
    """The blocks of a page in document order; the first is the body.

    Navigation, footers and the like, two fifths of an ordinary page, are skipped if the rest has a
    third of their text or more.
    """
    blocks = _blocks_of(body, _UNREAD)
    unread = sum(_size(one.element.text) for one in blocks if one.tag in _UNREAD)
    read = sum(block.own - block.own_linked for block in blocks)
    return blocks if 3 * read > unread else _blocks_of(body, ())


def _blocks_of(body: Element, unread: Collection[str]) -> list[Block]:
    blocks = [Block(body, "body", None)]
    stack: list[_Open] = [(iter(body.children), blocks[0], False, None)]
    while stack:
        children, block, is_linked, label = stack[-1]
        for node in children:
            if isinstance(node, Element):
                tag = node.tag
                if tag in _INLINE:
                    stack.append(_inline(node, tag, block, is_linked, len(blocks)))
                    break
                if tag not in _SILENT:
                    inner = Block(node, tag, block)
                    block.children.append(inner)
                    blocks.append(inner)
                    if tag not in unread:
                        stack.append((iter(node.children), inner, is_linked, None))
                        break
            elif isinstance(node, _TEXTS) and (size := _size(node.text)):
                block.own += size
                block.own_linked += size * is_linked
        else:
            stack.pop()
            if label is not None and label[2] == len(blocks):  # a label contains no block
                block.labels.append((label[0], block.own - label[1]))
    return blocks


def _inline(element: Element, tag: str, block: Block, is_linked: bool, before: int) -> _Open:
    label = None
    if (name := element.attr("class")) and role_of(name) in _LABELS:
        label = element, block.own, before
    if tag == "a" and not is_linked:
        is_linked = element.attr("href") is not None
    return iter(element.children), block, is_linked, label


def _size(text: str) -> int:
    """The length of a text without white space at the ends and between lines.

    Other text than ASCII counts by two thirds of its bytes, because such letters carry more: a
    Chinese word has two characters.
    """
    folded = " ".join(text.split())
    return len(folded) if folded.isascii() else len(folded.encode(errors="replace")) * 2 // 3


def _role_of(element: Element, tag: str) -> Role:
    if (known := _ROLES_OF_TAGS.get(tag)) is not None and known is not Role.BODY:
        return known
    attr = element.attr
    name, own_id = attr("class") or "", attr("id") or ""
    named = role_of(name, "" if tag in HEADINGS else own_id) if name or own_id else Role.PLAIN
    if tag in _WITHIN:
        return named
    role = attr("role")
    if role and role.lower() in _BOILERPLATE_ROLES:
        return Role.BOILERPLATE
    if attr("hidden") is not None or attr("aria-hidden") == "true":
        return Role.SECONDARY
    style = attr("style")
    if style and _HIDDEN.search(style):
        return Role.SECONDARY
    if named is not Role.COMMENTS and (known or attr("itemprop") == "articleBody"):
        return Role.BODY
    return named


def weigh(blocks: Sequence[Block], without: Collection[Role]) -> None:
    """Sum the text of all blocks, without that of blocks with certain roles."""
    for block in blocks:
        own, linked = block.own, block.own_linked
        block.chars, block.linked = own, linked
        is_prose = own >= FEWEST_CHARS and linked <= _LINKED * own and block.tag not in HEADINGS
        block.weight = own - linked if is_prose else 0
    for block in reversed(blocks):
        parent = block.parent
        if parent is not None and block.role not in without:
            parent.chars += block.chars
            parent.linked += block.linked
            parent.weight += block.weight
