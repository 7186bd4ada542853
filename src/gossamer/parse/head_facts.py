"""What a report asks of a page's source, and a crawl does not keep: description, insecure files.

A description is looked for in the head alone, which is a tenth of a page to parse. `insecure_files`
parses all of it, and is only asked of pages that came by https.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import turbohtml
from turbohtml import Document

from gossamer.parse.anchors import AROUND, fold

_HEAD_BYTES: Final = 2**18  # no head of a page is longer; a description after it is not one
_HEAD_END: Final = re.compile(rb"</head\b|<body\b", re.IGNORECASE)
# What a browser loads into a page without being asked, and where its address stands.
_LOADED: Final = {
    "audio": "src", "embed": "src", "frame": "src", "iframe": "src", "img": "src",
    "object": "data", "script": "src", "source": "src", "track": "src", "video": "src",
}  # fmt: skip


def description_of(body: bytes, charset: str) -> str:
    """What the page says of itself in `<meta name=description>`; empty where it says nothing."""
    end = _HEAD_END.search(body, 0, _HEAD_BYTES)
    head = body[: end.start() if end else _HEAD_BYTES]
    for element in turbohtml.parse(head, encoding=charset or "utf-8").select("meta[name]"):
        is_description = (element.attr("name") or "").strip().lower() == "description"
        if is_description and (description := fold(element.attr("content") or "")):
            return description
    return ""


def insecure_files(document: Document) -> Iterator[str]:
    """The http addresses of what a page loads: on a page of https browsers refuse them, or warn."""
    for tag, name in _LOADED.items():
        for element in document.select(f"{tag}[{name}]"):
            address = (element.attr(name) or "").strip(AROUND)
            if address.lower().startswith("http://"):
                yield address
    for element in document.select("link[href][rel]"):
        address = (element.attr("href") or "").strip(AROUND)
        is_style = "stylesheet" in (element.attr("rel") or "").lower().split()
        if is_style and address.lower().startswith("http://"):
            yield address
