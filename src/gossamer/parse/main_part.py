"""Find the main part of a page: the article without menus, banners and comments.

Text that is not a link has weight (`blocks.py`). From the body down, as long as one child holds
four fifths of the weight, the main part is in that child; less is enough for a child that is named
as the content or has the title of the page. In the main part, what is named as something else
(`block_names.py`) and what is mostly links is removed.

A page with any text has a main part with text: where the rules leave too little, fewer of them
apply. The figures for precision, recall and speed are in `docs/extraction.md`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from turbohtml import Document, Element

from gossamer.parse.block_names import Role
from gossamer.parse.blocks import FEWEST_CHARS, HEADINGS, Block, blocks_of, weigh

_SHARE: Final = 0.8  # share of the weight: a child with this much contains the main part
_BODY_SHARE: Final = 0.4  # for a child that is named as the content
_TITLED_SHARE: Final = 0.25  # for a child that has the title of the page
_LEAST_TEXT: Final = 0.3  # share of the unlinked text: tables have text without prose
_HEAVY: Final = 0.5  # share of the page: such a block is content, whatever its name
_TITLED: Final = 0.1  # the same for a block with the title of the page
_ENOUGH: Final = 140  # characters of prose; less may be a notice
_MOST_PRUNED: Final = 0.3  # share of the main part: a larger list of links is content
_MOSTLY_LINKS: Final = 0.6
_MOST_LISTS: Final = 0.6  # share of the main part: above it the page is an index
_MOST_LABELS: Final = 0.1  # share of the main part: dates, credits and buttons within lines
_TITLE_CHARS: Final = 10
_MANUAL_SECTIONS: Final = 3  # sections with an id made of their heading
_MOST_WRAPPED: Final = 5  # elements around a heading
_TITLES: Final = ("h1", "h2", "h3")
_WHOLE: Final = HEADINGS | {"blockquote", "dd", "dl", "dt", "figure", "li", "ol", "p", "pre", "ul"}
_ROWS: Final = frozenset({"table", "tbody", "tr"})
_LINK_LISTS: Final = frozenset({"div", "dl", "ol", "p", "section", "table", "ul"})
_NOT_A_WORD: Final = re.compile(r"[\W_]+")
_DROPS: Final = (
    frozenset({Role.SECONDARY, Role.BOILERPLATE, Role.COMMENTS}),
    frozenset({Role.BOILERPLATE, Role.COMMENTS}),
    frozenset({Role.SECONDARY, Role.BOILERPLATE}),
)
_NOTHING: Final[frozenset[Role]] = frozenset()


def main_part(document: Document) -> Element | None:
    """The main part of a page; None for one without a body. Removes elements from the tree."""
    body = document.find("body")
    if not isinstance(body, Element):
        return None
    blocks = blocks_of(body)
    _find_title(document, blocks)
    weigh(blocks, _NOTHING)
    _protect(blocks)
    _trust_headings(blocks)
    part, dropped = _best(blocks)
    for element in list(_pruned(part, dropped)):
        element.decompose()
    return part.element


def _best(blocks: Sequence[Block]) -> tuple[Block, frozenset[Role]]:
    """The main part, and the roles that are removed.

    On a page of comments there is little else, and names may mislead. So a result with hardly any
    prose is compared with those of fewer rules, unless it is named as the content.
    """
    best = blocks[0]
    kept: frozenset[Role] = _NOTHING
    most = 0
    for dropped in _DROPS:
        weigh(blocks, dropped)
        part = _part_of(blocks[0], dropped)
        is_named = part.role is Role.BODY and part.weight and not most
        if is_named or part.weight >= max(_ENOUGH, 4 * most):
            return part, dropped
        if not kept and part.chars:
            best, kept = part, dropped
        most = max(most, part.weight)
    weigh(blocks, kept)
    return best, kept


def _find_title(document: Document, blocks: Sequence[Block]) -> None:
    """Mark the heading that equals the title of the document, and its ancestor blocks."""
    title = document.find("title")
    said = _folded(title.text) if isinstance(title, Element) else ""
    if len(said) < _TITLE_CHARS:
        return
    longest, heading = 0, None
    for block in blocks:
        if block.tag in _TITLES and not block.children and block.own <= 3 * len(said):
            words = _folded(block.element.text)
            if len(words) >= max(_TITLE_CHARS, longest + 1) and words in said:
                longest, heading = len(words), block
    for block in heading.up() if heading else ():
        block.has_title = True


def _folded(text: str) -> str:
    return _NOT_A_WORD.sub(" ", text).strip().lower()


def _protect(blocks: Sequence[Block]) -> None:
    """Remove the role from blocks that are too large for it, or that contain the title."""
    total = blocks[0].weight
    headed: set[Block] = set()
    for block in reversed(blocks):
        has_h1 = block in headed or (block.tag == "h1" and block.own >= _TITLE_CHARS)
        if has_h1 and block.parent is not None:
            headed.add(block.parent)
        is_doubtful = block.role is Role.SECONDARY or (block.role is Role.BOILERPLATE and has_h1)
        least = _HEAVY if is_doubtful else 1.0
        if block.has_title:
            least = _TITLED
        if block.role is not Role.BODY and block.weight > least * total:
            block.role = Role.PLAIN


def _trust_headings(blocks: Sequence[Block]) -> None:
    """Ignore ids in manuals that make them from headings: `#more-on-lists`, `#date-type`. On such a
    page an id gives no role.
    """
    named = [one for one in blocks if one.tag in HEADINGS and _is_anchor(one)]
    if len(named) < _MANUAL_SECTIONS:
        return
    for heading in named:
        for block in (heading, heading.parent):
            if block is not None and block.role is not Role.BODY:
                block.role = Role.PLAIN


def _is_anchor(heading: Block) -> bool:
    own = heading.element.attr("id")
    above = heading.parent.element.attr("id") if heading.parent else None
    if heading.children or not (own or above):
        return False
    words = _letters(heading.element.text)
    return bool(words) and words in (_letters(own or ""), _letters(above or ""))


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).lower()


def _part_of(root: Block, dropped: frozenset[Role]) -> Block:
    part = root
    while True:
        child = _content_among(part, dropped)
        if child is not None and child.tag == "table":
            child = _layout_cell(child, dropped)
        if child is None or child.tag in _WHOLE or _is_section(child, dropped, part):
            return part
        part = child


def _layout_cell(table: Block, dropped: frozenset[Role]) -> Block | None:
    """The cell of a layout table that contains the content in blocks, as on old pages."""
    block: Block | None = table
    while block is not None and block.tag in _ROWS:
        block = _content_among(block, dropped)
    prose = [one for one in block.children if one.weight] if block is not None else []
    return block if len(prose) > 1 else None


def _content_among(part: Block, dropped: frozenset[Role]) -> Block | None:
    """The child that contains the main part, if there is one."""
    children = [one for one in part.children if one.weight and one.role not in dropped]
    if not children:
        return None
    child = max(children, key=lambda one: one.weight)
    if child.chars - child.linked < _LEAST_TEXT * (part.chars - part.linked):
        return None
    bodies = sum(one.role is Role.BODY for one in children)
    is_only_body = child.role is Role.BODY and bodies == 1
    if child.weight >= (_BODY_SHARE if is_only_body else _SHARE) * part.weight:
        return child
    titled = next((one for one in children if one.has_title), None)
    if titled is not None and titled.weight >= _TITLED_SHARE * part.weight:
        return titled
    return None


def _is_section(child: Block, dropped: frozenset[Role], part: Block) -> bool:
    """Whether a child is one section of several: a long section of a manual is not the manual.

    The other sections have a heading of the same or a higher rank, or are named as sections. The
    text below the heading of a section, and a single paragraph below any heading, is not the whole.
    """
    if child.role is Role.BODY:
        return False
    if part.is_section and _heading_of(part) is not None:
        return True
    heading = _heading_of(child)
    if heading is None and 2 * child.own < child.chars:
        return False
    lowest = "h6" if heading is None else heading.tag
    return any(
        one is not child
        and one.chars
        and one.role not in dropped
        and (other := _heading_of(one)) is not None
        and (other.tag <= lowest or one.is_section)
        for one in part.children
    )


def _heading_of(block: Block) -> Block | None:
    """The heading that a block is or begins with."""
    for _ in range(_MOST_WRAPPED):
        if block.tag in HEADINGS:
            return block
        first = block.children[0] if block.children else None
        if first is None or (block.own and first.tag not in HEADINGS):
            return None
        block = first
    return None


def _pruned(part: Block, dropped: frozenset[Role]) -> Iterator[Element]:
    """The elements in the main part that are removed.

    A list of links is a menu, unless the page consists of such lists.
    """
    lists: list[Block] = []
    most_labels = _MOST_LABELS * part.weight
    stack = [part]
    while stack:
        block = stack.pop()
        for label, size in block.labels if dropped else ():
            most_labels -= size
            if most_labels > 0 and (size < 3 or block.tag not in HEADINGS):
                yield label
        for child in block.children:
            if child.role in dropped:
                yield child.element
            elif child.weight < _MOST_PRUNED * part.weight and _is_links(child):
                lists.append(child)
            else:
                stack.append(child)
    if sum(one.chars for one in lists) < _MOST_LISTS * part.chars:
        yield from (one.element for one in lists)


def _is_links(block: Block) -> bool:
    if block.tag not in _LINK_LISTS or block.linked <= _MOSTLY_LINKS * block.chars:
        return False
    if block.tag == "p":
        return block.chars > FEWEST_CHARS // 2
    return not (block.is_section and _heading_of(block))
