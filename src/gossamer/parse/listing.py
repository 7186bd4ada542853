"""The elements of a page that parsing looks at, listed once in the order of the page.

All else works on this list by index, because to walk a tree again costs as much as the first time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from turbohtml import Document, Element


class Listing(NamedTuple):
    """The elements with a tag in `wanted`, from the first; `anchors` and `others` are indices."""

    wanted: Sequence[str]
    elements: Sequence[Element]
    tags: Sequence[str]
    anchors: Sequence[int]  # of the `a`
    others: Sequence[int]  # of all but the `a`


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
