"""Check whether a host is one of many domains, or below one.

A list may have 100,000 domains. A host is looked up by its name and the names above it, so the
length of the list does not matter. Domains may be written as `Bücher.example`, `*.example.org` and
`.example.org` (both mean `example.org` and all below it), or as an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from gossamer.errors import UsageError
from gossamer.urls.canonical import MAX_HOST_CHARS, NormalForm, host_of

# Characters that would end a host, or be dropped, when the text is parsed as part of a URL.
_NO_HOST: Final = re.compile(r"[\x00-\x20/\\?#@%*,\"'<>|^`{}]|:(?![^\[]*\])")
# Canonical as written: a list of 100,000 takes 0.1 s so, and 2 s with the parser.
_PLAIN: Final = re.compile(r"(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*")
_KEEP: Final = NormalForm()


def domain_of(text: str) -> str | None:
    """The host that a person wrote, in canonical form; None if it is not a host."""
    name = text.strip().removeprefix("*.").removeprefix(".").removesuffix(".")
    if _PLAIN.fullmatch(name) and len(name) <= MAX_HOST_CHARS:
        return name
    if not name or _NO_HOST.search(name):
        return None
    url = _KEEP.find(f"http://{name}/")
    return None if url is None or "" in host_of(url).split(".") else host_of(url)


def lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a list, each with its place (`file, line 3`), without comments and blank lines.

    A comment is a line that begins with `#`, or text after a space and `#`; a line that begins with
    `re:` has none. Raises UsageError if the file cannot be read.
    """
    try:
        content = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}, line {number}: not UTF-8 text") from None
    for number, line in enumerate(re.split(r"\r\n|\n|\r", content), 1):
        text = line.strip()
        if not text.startswith("re:"):
            text = re.split(r"(?:^|\s)#", text, maxsplit=1)[0].strip()
        if text:
            yield f"{path}, line {number}", text


class Domains:
    """A set of domains in canonical form, each including all hosts below it."""

    def __init__(self, domains: Iterable[str]) -> None:
        self._domains = frozenset(domains)

    def find(self, host: str) -> str | None:
        """The nearest of the domains that `host` is, or is below."""
        name = host.removesuffix(".")
        while name not in self._domains:
            _, dot, name = name.partition(".")
            if not dot:
                return None
        return name
