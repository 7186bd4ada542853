"""Examples of a focused crawl that are URLs: they are seeds, and their pages are the examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_SCHEMES: Final = ("http://", "https://")


def is_url(like: str) -> bool:
    """Whether an example is a URL, not a file."""
    return like.lower().startswith(_SCHEMES)


def urls_among(likes: Sequence[str]) -> list[str]:
    """The examples that are URLs, as they were typed."""
    return [like for like in likes if is_url(like)]
