"""The elements that parsing needs, listed once in document order.

Everything else works on this list by index, because a second walk over the tree costs as much as
the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from turbohtml import Document, Element


class Listing(NamedTuple):
    """The elements with a tag in `wanted`; `anchors` and `others` are indices."""

    wanted: Sequence[str]
    elements: Sequence[Element]
    tags: Sequence[str]
    anchors: Sequence[int]  # of the `a` elements
    others: Sequence[int]  # of all but the `a` elements


def listing_of(document: Document, wanted: Sequence[str], most: int) -> Listing:
    """The first `most` elements of a page that have a tag in `wanted`."""
    elements = list(islice(document.iter_elements(wanted), most))
    tags = [element.tag for element in elements]
    return Listing(
        wanted,
        elements,
        tags,
        [i for i, tag in enumerate(tags) if tag == "a"],
        [i for i, tag in enumerate(tags) if tag != "a"],
    )
