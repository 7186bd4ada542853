"""The directories above a URL: for https://a.example/b/c/d.html?x /b/c/, /b/ and /."""

from __future__ import annotations

from collections.abc import Iterator


def above(url: str) -> Iterator[str]:
    """The directories above a canonical URL, the nearest first; none above the topmost."""
    path_at = url.find("/", url.find("//") + 2)
    query_at = url.find("?", path_at)
    end = len(url) if query_at < 0 else query_at
    while (slash := url.rfind("/", path_at, end)) >= path_at:
        directory = url[: slash + 1]
        if directory != url:
            yield directory
        end = slash
