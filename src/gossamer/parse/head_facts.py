"""Facts of a page's source that a report needs and a crawl does not store: description, insecure
files.

A description is searched in the head only, which is a tenth of a page to parse. `insecure_files`
parses the whole page, and is called only for pages fetched by https.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import turbohtml
from turbohtml import Document

from gossamer.parse.anchors import AROUND, fold

_HEAD_BYTES: Final = 2**18  # no head is longer; a description after it does not count
_HEAD_END: Final = re.compile(rb"</head\b|<body\b", re.IGNORECASE)
# Elements that a browser loads automatically, and the attribute with the address.
_LOADED: Final = {
    "audio": "src", "embed": "src", "frame": "src", "iframe": "src", "img": "src",
    "object": "data", "script": "src", "source": "src", "track": "src", "video": "src",
}  # fmt: skip


def description_of(body: bytes, charset: str) -> str:
    """The content of `<meta name=description>`; empty if there is none."""
    end = _HEAD_END.search(body, 0, _HEAD_BYTES)
    head = body[: end.start() if end else _HEAD_BYTES]
    for element in turbohtml.parse(head, encoding=charset or "utf-8").select("meta[name]"):
        is_description = (element.attr("name") or "").strip().lower() == "description"
        if is_description and (description := fold(element.attr("content") or "")):
            return description
    return ""


def insecure_files(document: Document) -> Iterator[str]:
    """The http addresses that a page loads: on an https page browsers refuse them, or warn."""
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
