"""A number that pages made from one template share: host, pattern of the path, outline of tags.

Pure. The number need not be exact. Pages of two templates with one number cost nothing, because
their spots differ; one template with two numbers learns its noise twice.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from gossamer.compare.text import hash_of

_OUTLINE: Final = re.compile(
    rb"<(header|nav|main|article|aside|footer|form|table|frameset|dl|pre|video|audio)[\s>/]",
    re.IGNORECASE,
)
_OUTLINE_BYTES: Final = 200_000
_NUMBERS: Final = re.compile(r"\d+")


def template_of(url: str, body: bytes) -> int:
    """The number of the template of a page; never 0."""
    parts = urlsplit(url)
    names = sorted({pair.partition("=")[0] for pair in parts.query.split("&") if pair})
    tags = sorted({tag.lower().decode() for tag in _OUTLINE.findall(body, 0, _OUTLINE_BYTES)})
    return hash_of(parts.netloc, path_pattern(parts.path), "&".join(names), *tags) or 1


def path_pattern(path: str) -> str:
    """A path without what differs from page to page: its last name, and numbers.

    "/news/2026/11/a-title.html" is "/news/#/#/*.html"; a folder "/news/a-title/" is "/news/*/".
    """
    folder, _, name = path.rstrip("/").rpartition("/")
    end = "/" if path.endswith("/") else ""
    suffix = name[name.rindex(".") :] if "." in name[1:] else ""
    last = f"*{suffix}" if name else ""
    return f"{_NUMBERS.sub('#', folder)}/{last}{end if name else ''}"
